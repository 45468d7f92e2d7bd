import { mkdir } from 'node:fs/promises';
import { engineerScript, type EngineerTask } from '@flotilla/testing/scripted-model/engineer-script';
import { fault, type Script } from '@flotilla/testing/scripted-model/script';
import { makeSmallRemote } from '../fleet/harness/small-remote.ts';
import type { Random } from './random.ts';

/** What a person does with a run: at its gates, or before. */
export const intentions = ['approve', 'approve', 'approve', 'send_back', 'decline', 'cancel'] as const;

export interface PlannedTask {
  readonly externalKey: string;
  readonly project: string;
  readonly goal: string;
  readonly intention: (typeof intentions)[number];
  readonly through: 'queue' | 'http';
  /** Times it is published, with the same key. */
  readonly times: number;
  readonly task: EngineerTask;
}

export interface Workload {
  readonly tasks: readonly PlannedTask[];
  readonly script: Script;
}

export const projectNames = ['p1', 'p2', 'p3'] as const;

/**
 * Many small runs on a few repositories: edits of files of their own, pairs that edit the same line, tasks that change nothing, and
 * models that fail at the first try. The same for the same source of numbers.
 */
export function planWorkload(count: number, random: Random): Workload {
  const tasks = Array.from({ length: count }, (_, index) => planTask(index + 1, random));
  const engineer = engineerScript({
    edits: [],
    tasks: tasks.map(({ goal, task }) => ({ ...task, goalIncludes: goal })),
  });
  const troubled = tasks.filter(() => random.chance(30)).map(({ goal }) => goal);
  const script: Script = (conversation, asked) => {
    const isTroubled = troubled.some((goal) => conversation.messages[0]?.text.includes(goal));
    const made = conversation.calls.length;
    if (!isTroubled || asked > 1 || made % 3 !== 0) return engineer(conversation, asked);
    return fault((['rate-limit', 'cut', 'server-error', 'garbage'] as const)[made % 4] ?? 'cut');
  };
  return { tasks, script };
}

/** Makes the bare repository of each project. */
export async function makeRemotes(directory: string, { tasks }: Workload): Promise<void> {
  const parts = tasks.map((_, index) => `part-${index + 1}.js`);
  const files = {
    ...Object.fromEntries(parts.map((path) => [path, 'exports.value = 0;\n'])),
    'shared.js': "exports.owner = 'nobody';\n",
    'test.js': testOf(parts),
  };
  await mkdir(directory, { recursive: true });
  for (const name of projectNames) await makeSmallRemote(directory, name, files);
}

function planTask(number: number, random: Random): PlannedTask {
  const kind = random.pick(['own', 'own', 'own', 'contended', 'nothing']);
  return {
    externalKey: `task-${number}`,
    project: random.pick(projectNames),
    goal: `Number ${number} of the campaign, and no other.`,
    intention: random.pick(intentions),
    through: random.pick(['queue', 'http']),
    times: random.pick([1, 1, 2, 3]),
    task: taskOf(kind, number),
  };
}

function taskOf(kind: 'own' | 'contended' | 'nothing', number: number): EngineerTask {
  switch (kind) {
    case 'own':
      return {
        edits: [{ path: `part-${number}.js`, find: 'exports.value = 0;', replace: `exports.value = ${number};` }],
      };
    case 'contended':
      // Whoever owned it before: the line ends as it stands, so the edit always finds it.
      return { edits: [{ path: 'shared.js', find: "';", replace: `, ${number}';` }] };
    case 'nothing':
      return { edits: [] };
  }
}

function testOf(files: readonly string[]): string {
  return [
    "const assert = require('node:assert');",
    ...files.map((file) => `assert.equal(typeof require('./${file}').value, 'number');`),
    "assert.match(require('./shared').owner, /^nobody/);",
    '',
  ].join('\n');
}
