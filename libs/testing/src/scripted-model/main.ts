import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { engineerScript, type EngineerOptions } from './engineer-script.ts';
import { startScriptedModel } from './start-scripted-model.ts';

/**
 * The scripted engineer as a process: `node main.ts --port 0 --script FILE`, where FILE holds EngineerOptions as JSON.
 * Prints one line of JSON with its URL when it listens; ends on SIGTERM and SIGINT.
 */
const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    script: { type: 'string' },
    'chunk-delay-ms': { type: 'string', default: '0' },
  },
});
// The file is written by whoever starts this process.
const options = (
  values.script === undefined ? { edits: [] } : JSON.parse(readFileSync(values.script, 'utf8'))
) as EngineerOptions;
const model = await startScriptedModel({
  script: engineerScript(options),
  port: Number(values.port),
  chunkDelayMs: Number(values['chunk-delay-ms']),
});
process.stdout.write(`${JSON.stringify({ url: model.url })}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => void model.close().then(() => process.exit(0)));
