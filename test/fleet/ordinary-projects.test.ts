import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scratchGit } from '@flotilla/dev/demo/scratch-remote';
import { repositoryDirectory } from '@flotilla/dev/repository';
import { engineerScript } from '@flotilla/testing/scripted-model/engineer-script';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describe as describeEntries, payloadOf, startTestFleet, type TestFleet } from './harness/test-fleet.ts';
import {
  makeProject,
  pythonUnittest,
  queryStrings,
  typescriptWorkspace,
  type OrdinaryProject,
} from './projects/make-project.ts';

const projects = [queryStrings, typescriptWorkspace, pythonUnittest];
let fleet: TestFleet;
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'flotilla-projects-'));
  fleet = await startTestFleet({
    script: engineerScript({
      edits: [],
      tasks: projects.flatMap(({ goal, defect }) => [
        { goalIncludes: goal, edits: [{ path: defect.path, find: defect.broken, replace: defect.sound }] },
        {
          goalIncludes: secondGoal(defect.path),
          edits: [{ path: defect.path, find: defect.sound, replace: `${defect.sound} ` }],
        },
      ]),
    }),
  });
});

afterAll(async () => {
  await fleet.close();
  await rm(directory, { recursive: true, force: true });
});

test.each(projects)(
  '$name is set up through the door, corrected and landed with no network; the second task reuses the setup',
  async (project) => {
    const remote = await makeProject(project, directory, join(repositoryDirectory, '.data/cache'));
    await fleet.addProject(project.name, remote);

    const first = await fleet.finish(await fleet.submit(project.name, project.goal));
    expectLanded(first);
    expect(await contentOf(remote, project)).toContain(project.defect.sound);

    const second = await fleet.finish(await fleet.submit(project.name, secondGoal(project.defect.path)));
    expectLanded(second);

    expect([first, second].map((entries) => payloadOf<{ how: string }>(entries, 'setup.finished').how)).toEqual([
      'ran',
      'reused',
    ]);
    expect(second.filter(({ type }) => type === 'door.request')).toEqual([]);
    const commits = await scratchGit(remote, ['rev-list', '--count', 'main']);
    expect(Number(commits)).toBe(3);
  },
);

function secondGoal(path: string): string {
  return `Give the corrected line of ${path} a trailing space.`;
}

function expectLanded(entries: Awaited<ReturnType<TestFleet['finish']>>): void {
  expect(payloadOf<{ result: string }>(entries, 'run.ended').result, describeEntries(entries)).toBe('landed');
}

async function contentOf(remote: string, project: OrdinaryProject): Promise<string> {
  return scratchGit(remote, ['show', `main:${project.defect.path}`]);
}
