import { expect, test } from 'vitest';
import { chooseEngine } from './choose-engine.ts';
import type { EngineFacts } from './choose-engine.ts';

const facts: EngineFacts = {
  hostIsSet: false,
  silence: 'unix:///run/docker.sock: ENOENT',
  dockerdInstalled: true,
  root: true,
  canInstall: true,
  linux: true,
};

test('dockerd is started where it is installed and we are root, and else comes from apt', () => {
  expect(chooseEngine(facts).kind).toBe('dockerd');
  expect(chooseEngine({ ...facts, dockerdInstalled: false }).kind).toBe('apt');
});

test('an engine named by DOCKER_HOST is never replaced by another one', () => {
  expect(chooseEngine({ ...facts, hostIsSet: true })).toMatchObject({
    kind: 'missing',
    reason: expect.stringContaining('DOCKER_HOST is set'),
  });
});

test.each([
  [{ ...facts, root: false, canInstall: false }, 'only root can start it'],
  [{ ...facts, root: false, canInstall: false, dockerdInstalled: false }, 'only root with apt-get can install it'],
  [{ ...facts, root: false, canInstall: false, silence: 'connect EACCES' }, 'group of the socket'],
  [{ ...facts, root: false, canInstall: false, linux: false }, 'started by hand'],
])('without an engine the obstacle is named: %#', (each, words) => {
  expect(chooseEngine(each)).toMatchObject({ kind: 'missing', reason: expect.stringContaining(words) });
});
