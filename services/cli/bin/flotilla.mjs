#!/usr/bin/env node
// Plain JavaScript for any Node: finds a Node that is new enough, then the command line: as it was built, else its source.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const recent = major > 24 || (major === 24 && minor >= 11);
const built = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
const source = fileURLToPath(new URL('../src/cli.ts', import.meta.url));
const ownNode = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));

function fail(message) {
  process.stderr.write(`flotilla: ${message}\n`);
  process.exitCode = 1;
}

function run(node, argv) {
  // A terminal sends Ctrl-C to both; the command line alone decides how to end.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {});
  const child = spawn(node, [...argv, ...process.argv.slice(2)], { stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code, signal) => {
    process.exitCode = code ?? 128 + (constants.signals[signal] ?? 0);
  });
}

if (recent && existsSync(built)) await import('../dist/cli.js');
else if (recent)
  run(process.execPath, ['--disable-warning=ExperimentalWarning', '--conditions=@flotilla/source', source]);
else if (existsSync(ownNode)) run(ownNode, [fileURLToPath(import.meta.url)]);
else fail(`this is Node ${process.versions.node}: run "npm ci" in the clone, or install Node 24.11 or newer`);
