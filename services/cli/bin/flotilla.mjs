#!/usr/bin/env node
// Plain JavaScript for any Node: finds a Node that is new enough, then the built command line.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const built = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const ownNode = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));

function fail(message) {
  process.stderr.write(`flotilla: ${message}\n`);
  process.exitCode = 1;
}

function runAgain() {
  // A terminal sends Ctrl-C to both; the command line alone decides how to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  const child = spawn(ownNode, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

if (!existsSync(built)) fail('the command line is not built: run "npm run build" in the clone first');
else if (major > 22 || (major === 22 && minor >= 19)) await import('../dist/cli.js');
else if (existsSync(ownNode)) runAgain();
else fail(`this is Node ${process.versions.node}: run "npm ci" in the clone, or install Node 22.19 or newer`);
