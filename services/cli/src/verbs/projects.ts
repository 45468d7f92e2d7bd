import { ListProjects } from '@flotilla/contracts/calls/list-projects';
import type { ProjectView } from '@flotilla/contracts/calls/project-view';
import { ShowProject } from '@flotilla/contracts/calls/show-project';
import { z } from 'zod';
import { exitCodes } from '../exit-codes.ts';
import { report } from '../session.ts';
import { renderTable } from '../text/render-table.ts';
import { visibleLine } from '../text/visible-text.ts';
import { readGiven, type Verb } from '../verb.ts';
import { Limit, limitOption } from './limit.ts';

export const listProjects: Verb = {
  name: 'project list',
  summary: 'list projects',
  arguments: [],
  options: [limitOption('projects', 100), { flags: '--after <name>', summary: 'only names after this one' }],
  examples: [{ command: 'flotilla project list', summary: 'by name' }],
  json: 'the answer of the call listProjects',
  calls: ['listProjects'],
  run: async (given, session) => {
    const Given = z.object({ limit: Limit.default(100), after: z.string().optional() });
    const answer = await (await session.api()).call(ListProjects, readGiven('project list', Given, given));
    report(session, answer, () =>
      answer.projects.length === 0
        ? 'no projects'
        : renderTable(
            ['PROJECT', 'TOPOLOGY', 'REMOTE'],
            answer.projects.map(({ name, topology, remote }) => [name, topology, visibleLine(remote)]),
            session.columns(),
          ),
    );
    if (answer.next !== undefined && !session.json) session.note(`more with --after ${answer.next}`);
    return exitCodes.done.code;
  },
};

export const showProject: Verb = {
  name: 'project show',
  summary: 'show one project',
  arguments: [{ name: 'name', summary: 'name of the project' }],
  options: [],
  examples: [{ command: 'flotilla project show slugify', summary: 'its remote, checks and setup' }],
  json: 'the answer of the call showProject',
  calls: ['showProject'],
  run: async (given, session) => {
    const { name } = readGiven('project show', z.object({ name: z.string() }), given);
    const answer = await (await session.api()).call(ShowProject, { name });
    report(session, answer, () => renderProject(answer.project));
    return exitCodes.done.code;
  },
};

export function renderProject(project: ProjectView): string {
  const { name, remote, branch, topology, credential, checks, unchecked, setup } = project;
  const facts: readonly (readonly [string, string])[] = [
    ['remote', remote],
    ['branch', branch ?? "the remote's default"],
    ['topology', topology],
    ['credential', credential ?? 'none'],
    [
      'checks',
      unchecked ? 'none: lands unchecked' : checks.length === 0 ? 'the detected test command' : checks.join(' && '),
    ],
    ['setup', setup === undefined ? 'detected from lock files' : setup.length === 0 ? 'none' : setup.join(' && ')],
  ];
  return [name, ...facts.map(([fact, value]) => `  ${fact.padEnd(10)} ${visibleLine(value, 500)}`)].join('\n');
}
