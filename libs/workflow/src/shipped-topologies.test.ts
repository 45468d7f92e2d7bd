import { readFileSync } from 'node:fs';
import { Verb, verbs } from '@flotilla/contracts/verbs';
import { expect, test } from 'vitest';
import { compileTopology, readTopology } from './compile-topology.ts';
import { Slip } from './slip.ts';

const names = ['feature_builder', 'quick_fix'] as const;
const read = (name: string) => readFileSync(new URL(`../topologies/${name}.yaml`, import.meta.url), 'utf8');

test.each(names)('%s compiles, keeps its examples and is called like its file', (name) => {
  expect(compileTopology(read(name)).topology).toBe(name);
});

test.each(names)('%s means everything it says', (name) => {
  expect(readTopology(read(name)).warnings).toEqual([]);
});

test.each(names)('%s has an example for every edge', (name) => {
  const topology = readTopology(read(name));
  const told = new Set(
    topology.examples.flatMap(({ path }) =>
      path.flatMap((visit) => Object.entries(visit).map(([step, outcome]) => `${step}: ${outcome}`)),
    ),
  );
  const edges = [...topology.steps].flatMap(([id, step]) => Object.keys(step.on).map((outcome) => `${id}: ${outcome}`));
  expect(edges.filter((edge) => !told.has(edge))).toEqual([]);
});

test.each(names)('the slip of %s survives being stored as JSON', (name) => {
  const slip = compileTopology(read(name));
  expect(Slip.parse(JSON.parse(JSON.stringify(slip)))).toEqual(slip);
});

test('the feature builder does everything that a step can do', () => {
  const done = Object.values(compileTopology(read('feature_builder')).steps).flatMap((step): Verb[] =>
    step.kind === 'work' ? [step.does] : [],
  );
  expect(new Set(done)).toEqual(new Set(verbs));
});

test('a quick fix has no plan and may spend less', () => {
  const [feature, fix] = [compileTopology(read('feature_builder')), compileTopology(read('quick_fix'))];
  expect(Object.values(fix.steps).some((step) => step.kind === 'work' && step.does === 'plan')).toBe(false);
  expect(fix.budget.tokens).toBeLessThan(feature.budget.tokens);
});
