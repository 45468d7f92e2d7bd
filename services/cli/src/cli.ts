import { readFileSync } from 'node:fs';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { exitCodes } from './exit-codes.ts';
import { type Terminal, runCommandLine } from './main.ts';
import { wantsJson } from './program.ts';
import { choosePalette } from './text/paint.ts';
import { readCommandName } from './text/name-command.ts';
import { renderError } from './text/render-error.ts';

const argv = process.argv.slice(2);
const stop = new AbortController();
const interrupt = () => stop.abort(new Error('interrupted'));
process.once('SIGINT', interrupt);
process.once('SIGTERM', interrupt);
// A reader that ends early, such as head, is no failure.
let outputFailed = false;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  stop.abort(error);
  if (error.code === 'EPIPE' || outputFailed) return;
  outputFailed = true;
  process.exitCode = exitCodes.failed.code;
  process.stderr.write(
    `${renderError(new FlotillaError(errors.outputFailed, { reason: error.message }), { json: wantsJson(argv), command: readCommandName(process.env), palette: choosePalette(false) })}\n`,
  );
});

const terminal: Terminal = {
  argv,
  environment: process.env,
  workingDirectory: process.cwd(),
  programDirectory: import.meta.dirname,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
  interrupt,
  now: () => new Date(),
  version: readVersion(),
};
const exitCode = await runCommandLine(terminal);
process.exitCode = outputFailed ? exitCodes.failed.code : exitCode;

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  return String(version);
}
