import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileTopology, readTopology } from '@flotilla/workflow/compile-topology';
import type { GateStep, Topology, WorkStep } from '@flotilla/workflow/topology';
import { repositoryDirectory } from '../repository.ts';
import { code, markdownPage, type Page, renderTable } from './page.ts';

const directory = 'libs/workflow/topologies';

/** Compiles every shipped topology first, so that one which does not compile is no page. */
export async function topologiesPage(): Promise<Page> {
  const files = (await readdir(join(repositoryDirectory, directory)))
    .filter((name) => name.endsWith('.yaml'))
    .toSorted();
  const topologies = await Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(repositoryDirectory, directory, file), 'utf8');
      compileTopology(text);
      return renderTopology(readTopology(text));
    }),
  );
  return markdownPage('topologies', 'Topologies', directory, [
    'The policies that a run may follow: its steps and where each outcome leads, the capabilities each step is granted, what it may spend, where a person is asked, and examples that are told whenever the document is loaded.',
    ...topologies,
  ]);
}

function renderTopology({ id, summary, limits, steps, examples }: Topology): string {
  return [
    `## ${id}`,
    summary,
    `Limits of a run: ${Object.entries(limits)
      .map(([name, most]) => `${name} ${most}`)
      .join(', ')}.`,
    renderTable(
      ['Step', 'Does', 'Then', 'Granted', 'Limits of a visit'],
      [...steps].map(([stepId, step]) => [
        code(stepId),
        describeWork(step),
        describeEdges(step),
        describeGrants(step),
        describeLimits(step),
      ]),
    ),
    renderTable(
      ['Example', 'Path', 'Ends'],
      examples.map(({ name, path, ends }) => [
        name,
        path.flatMap((visit) => Object.entries(visit).map(([stepId, outcome]) => `${stepId}: ${outcome}`)).join(', '),
        code(ends),
      ]),
    ),
  ].join('\n\n');
}

function describeWork(step: WorkStep | GateStep): string {
  return 'does' in step ? step.does : `asks a person: ${step.question}`;
}

function describeEdges({ on }: WorkStep | GateStep): string {
  return Object.entries(on)
    .map(([outcome, target]) => `${outcome}: ${code(target)}`)
    .join(', ');
}

function describeGrants(step: WorkStep | GateStep): string {
  if (!('grants' in step)) return '';
  return Object.entries(step.grants)
    .filter(([, grant]) => grant !== false)
    .map(([capability, grant]) => (grant === true ? code(capability) : `${code(capability)} ${JSON.stringify(grant)}`))
    .join(', ');
}

function describeLimits(step: WorkStep | GateStep): string {
  if (!('limits' in step)) return '';
  return Object.entries(step.limits)
    .map(([name, most]) => `${name} ${most}`)
    .join(', ');
}
