import { nothingSpent } from '@flotilla/contracts/allowance';
import { expect, test } from 'vitest';
import type { CampaignFacts, LogFact } from './campaign-facts.ts';
import { checkCampaign } from './check-campaign.ts';

const spent = { turns: 2, calls: 1, tokens: 10, microdollars: 5, seconds: 0.5 };
const tree = 't1';

type Entry = readonly [type: string, stepId: string | null, payload?: Readonly<Record<string, unknown>>];

const story: readonly Entry[] = [
  ['task.accepted', null],
  ['step.requested', 'build'],
  ['step.started', 'build'],
  ['agent.turn', 'build', { turn: 1 }],
  ['tool.started', 'build', { callId: '1.0' }],
  ['tool.finished', 'build', { callId: '1.0' }],
  ['step.completed', 'build', { spent }],
  ['step.requested', 'review'],
  ['checks.passed', 'review', { tree }],
  ['step.completed', 'review', { spent: nothingSpent }],
  ['gate.opened', 'approve', { gateId: 'g' }],
  ['gate.decided', 'approve', { gateId: 'g' }],
  ['step.requested', 'land'],
  ['change.landed', 'land', { tree }],
  ['step.completed', 'land', { spent: nothingSpent }],
  ['run.ended', null, { result: 'landed' }],
];

function makeLog(entries: readonly Entry[]): readonly LogFact[] {
  return entries.map(([type, stepId, payload = {}], index) => ({
    sequence: index + 1,
    type,
    stepId,
    attempt: stepId === null ? null : 1,
    payload,
  }));
}

function makeFacts(change: Partial<CampaignFacts> = {}, log = makeLog(story)): CampaignFacts {
  return {
    tasks: [{ externalKey: 'task-1', project: 'p' }],
    runs: [
      { runId: 'run-1', externalKey: 'task-1', state: 'ended', result: 'landed', commit: 'c1', message: null, spent },
    ],
    logs: new Map([['run-1', log]]),
    landings: [{ project: 'p', commit: 'c1', tree, run: 'run-1' }],
    leftovers: [],
    ...change,
  };
}

const run = makeFacts().runs[0]!;
const landing = makeFacts().landings[0]!;
const without = (...types: readonly string[]) => makeLog(story.filter(([type]) => !types.includes(type)));
const again = (type: string) => {
  const at = story.findIndex((entry) => entry[0] === type);
  return makeLog([...story.slice(0, at + 1), story[at]!, ...story.slice(at + 1)]);
};
const late = (entry: Entry) => makeLog([...story, entry]);

test('a campaign in which every promise was kept has no violation', () => {
  expect(checkCampaign(makeFacts())).toEqual([]);
});

test.each<readonly [planted: string, facts: CampaignFacts, rule: string]>([
  ['a task that nobody took up', makeFacts({ runs: [], landings: [], logs: new Map() }), 'a task is one run'],
  ['a task that became two runs', makeFacts({ runs: [run, { ...run, runId: 'run-2' }] }), 'a task is one run'],
  ['a run of nobody', makeFacts({ runs: [run, { ...run, runId: 'run-2', externalKey: 'x' }] }), 'a run has a task'],
  ['a run that waits for ever', makeFacts({ runs: [{ ...run, state: 'running', result: null }] }), 'nothing is stuck'],
  [
    'a run that failed of something that passed',
    makeFacts({ runs: [{ ...run, result: 'failed', message: 'm' }] }),
    'what passes fails no run',
  ],
  ['a run that ended twice', makeFacts({}, again('run.ended')), 'a run ends once'],
  [
    'a run whose log tells another end',
    makeFacts({ runs: [{ ...run, result: 'failed' }], landings: [] }),
    'the end in the log is the end of the run',
  ],
  [
    'a run that landed twice',
    makeFacts({ landings: [landing, { ...landing, commit: 'c2' }] }),
    'what ended as landed landed once, and nothing else',
  ],
  ['a landing that is not there', makeFacts({ landings: [] }), 'what ended as landed landed once, and nothing else'],
  [
    'a landing under another commit',
    makeFacts({ landings: [{ ...landing, commit: 'c9' }] }),
    'the commit that a run names is on the branch',
  ],
  ['a commit of nobody', makeFacts({ landings: [landing, { ...landing, run: undefined }] }), 'only runs land'],
  ['a tree that no check saw', makeFacts({}, without('checks.passed')), 'a landed tree has evidence'],
  [
    'a tree other than the one that was checked',
    makeFacts({ landings: [{ ...landing, tree: 't2' }] }),
    'a landed tree has evidence',
  ],
  [
    'a gap',
    makeFacts(
      {},
      makeLog(story).filter(({ sequence }) => sequence !== 5),
    ),
    'a log has no gap',
  ],
  ['two entries in each other’s place', makeFacts({}, makeLog(story).toReversed()), 'a log has no gap'],
  ['a log without a beginning', makeFacts({}, without('task.accepted')), 'a log begins with its task'],
  ['two beginnings', makeFacts({}, again('task.accepted')), 'a run begins and ends once'],
  ['work after the end', makeFacts({}, late(['agent.nudge', 'build'])), 'nothing follows the end'],
  [
    'an attempt asked for twice',
    makeFacts({}, again('step.requested')),
    'an attempt is asked for once and answered once',
  ],
  [
    'an attempt answered twice',
    makeFacts({}, again('step.completed')),
    'an attempt is asked for once and answered once',
  ],
  [
    'work that nobody asked for',
    makeFacts({}, without('step.requested')),
    'an attempt is asked for before it works and answered after',
  ],
  [
    'work after the answer',
    makeFacts({}, late(['tool.started', 'build', { callId: '9.0' }])),
    'an attempt is asked for before it works and answered after',
  ],
  ['a tool call carried out twice', makeFacts({}, again('tool.started')), 'no tool call is carried out twice'],
  ['a turn taken twice', makeFacts({}, again('agent.turn')), 'no turn of a model is taken twice'],
  ['a gate decided twice', makeFacts({}, again('gate.decided')), 'a gate opens once and is decided once'],
  ['a landing told twice', makeFacts({}, again('change.landed')), 'a landing is told once'],
  [
    'money that no step spent',
    makeFacts({ runs: [{ ...run, spent: { ...spent, microdollars: 6 } }] }),
    'a run is charged what its log shows',
  ],
  ['a container', makeFacts({ leftovers: [{ kind: 'container', name: 'x' }] }), 'no container is left'],
])('%s is found', (_, facts, rule) => {
  expect(checkCampaign(facts).map((violation) => violation.rule)).toContain(rule);
});
