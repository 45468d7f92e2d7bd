import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const oldestMajor = 24;

/**
 * Makes sure that a new enough Node runs this process. True: go on. Otherwise it runs the same command with the Node that the
 * clone brings, hands signals on, ends with its exit code, and never returns; without one it says so and ends with 1. To be called
 * before anything else is imported, since newer packages do not even load on an old Node.
 */
export async function ensureNode(): Promise<true> {
  if (Number(process.versions.node.split('.')[0]) >= oldestMajor) return true;
  const node = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));
  if (!existsSync(node)) {
    process.stderr.write(
      `This is Node ${process.versions.node}, and the fleet needs ${oldestMajor} or newer. Run npm ci in the clone, which brings one on Linux, or install a newer Node.\n`,
    );
    process.exit(1);
  }
  const child = spawn(node, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal));
  return new Promise(() => {
    child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
    child.on('error', (error) => {
      process.stderr.write(`${node} does not run: ${error.message}\n`);
      process.exit(1);
    });
  });
}
