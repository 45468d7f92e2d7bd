import { expect, test } from 'vitest';
import { chooseSource, isAtLeast } from './source.ts';
import type { ServerFacts } from './source.ts';

const nothing: ServerFacts = {
  server: 'nats',
  url: undefined,
  programs: [],
  embedded: undefined,
  dataVersion: undefined,
  compose: { kind: 'unusable', reason: 'no Docker engine answers' },
  canInstall: false,
};
const program = { directory: '/usr/bin', version: '2.9.10' };
const embedded = { directory: '/npm/bin', version: '18.4' };
const compose = { kind: 'usable', command: ['docker', 'compose'] } as const;
const everything: ServerFacts = {
  ...nothing,
  server: 'postgres',
  url: 'postgres://there',
  programs: [{ ...program, version: '15.18' }],
  embedded,
  compose,
  canInstall: true,
};

test('each source is taken only when none before it is there: environment, program, npm, compose, apt', () => {
  const kinds = [
    everything,
    { ...everything, url: undefined },
    { ...everything, url: undefined, programs: [] },
    { ...everything, url: undefined, programs: [], embedded: undefined },
    { ...everything, url: undefined, programs: [], embedded: undefined, compose: nothing.compose },
    nothing,
  ].map((facts) => chooseSource(facts).kind);
  expect(kinds).toEqual(['url', 'program', 'embedded', 'compose', 'apt', 'missing']);
});

test('a registry is asked only when nothing nearer has the server', () => {
  expect(chooseSource({ ...everything, compose: undefined, url: undefined }).kind).toBe('program');
  expect(chooseSource({ ...nothing, compose: undefined }).kind).toBe('look_at_compose');
});

test('an empty variable counts as not set', () => {
  expect(chooseSource({ ...nothing, url: '', programs: [program] })).toEqual({ kind: 'program', program });
});

test('a program that is too old is passed over, and not installed a second time', () => {
  const old = { directory: '/usr/bin', version: '2.8.4' };
  const choice = chooseSource({ ...nothing, programs: [old], canInstall: true });
  expect(choice).toMatchObject({
    kind: 'missing',
    reasons: expect.arrayContaining([expect.stringContaining('/usr/bin has 2.8.4')]),
  });
  expect(chooseSource({ ...nothing, programs: [old, program] })).toEqual({ kind: 'program', program });
});

test('Postgres is taken in the version that wrote the data, wherever that is', () => {
  const programs = [
    { directory: '/usr/lib/postgresql/17/bin', version: '17.2' },
    { directory: '/usr/lib/postgresql/15/bin', version: '15.18' },
  ];
  const facts: ServerFacts = { ...nothing, server: 'postgres', programs, embedded };
  expect(chooseSource(facts)).toMatchObject({ program: { version: '17.2' } });
  expect(chooseSource({ ...facts, dataVersion: '15' })).toMatchObject({ program: { version: '15.18' } });
  expect(chooseSource({ ...facts, dataVersion: '18' })).toEqual({ kind: 'embedded', program: embedded });
  expect(chooseSource({ ...facts, dataVersion: '16' })).toEqual({
    kind: 'unreadable_data',
    dataVersion: '16',
    found: ['17.2', '15.18', '18.4'],
  });
});

test('what is missing is told with every way that was tried', () => {
  expect(chooseSource(nothing)).toEqual({
    kind: 'missing',
    reasons: [
      'NATS_URL is not set',
      'no program on PATH',
      'docker compose: no Docker engine answers',
      'apt: this needs root and apt-get',
    ],
  });
});

test.each([
  ['2.9.10', '2.9.10', true],
  ['2.10.0', '2.9.10', true],
  ['2.9.9', '2.9.10', false],
  ['3', '2.9.10', true],
  ['18.4', '13.0', true],
  ['7.0.15', '7.0', true],
])('%s at least %s: %s', (version, oldest, expected) => {
  expect(isAtLeast(version, oldest)).toBe(expected);
});
