import { readFileSync } from 'node:fs';
import { type Terminal, runCommandLine } from './main.ts';

const stop = new AbortController();
const interrupt = () => stop.abort(new Error('interrupted'));
process.once('SIGINT', interrupt);
process.once('SIGTERM', interrupt);
// A reader that ends early, such as head, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  stop.abort(error);
});

const terminal: Terminal = {
  argv: process.argv.slice(2),
  environment: process.env,
  workingDirectory: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stop.signal,
  interrupt,
  now: () => new Date(),
  version: readVersion(),
};
process.exitCode = await runCommandLine(terminal);

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  return String(version);
}
