import {
  openCrashWorld,
  type CrashProcess,
  type CrashWorld,
  type MessageLife,
} from '@flotilla/host/crash-world.fixture';
import { headers } from '@flotilla/contracts/headers';
import type { RunId } from '@flotilla/contracts/ids';
import { DeadLetterRecord, exampleDeadLetterRecord } from '@flotilla/contracts/dead-letter';
import { StepCompleted } from '@flotilla/contracts/messages/step-completed';
import { Task, TaskSubmitted } from '@flotilla/contracts/messages/task-submitted';
import type { Outcome } from '@flotilla/contracts/outcome';
import { deadSubject, intakeSubject } from '@flotilla/contracts/streams';
import type { Verb } from '@flotilla/contracts/verbs';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import { acquireLease, stepLeaseKey } from '@flotilla/store/lease';
import { publishRaw } from '@flotilla/stream/publish-message';
import { MortalProcess } from '@flotilla/testing/crash-points/mortal-process';
import { nameAlike } from '@flotilla/testing/crash-points/name-alike';
import { tryEveryPoint } from '@flotilla/testing/crash-points/try-every-point';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { AcceptTaskHandler } from './accept-task.handler.ts';
import { CompleteStepHandler } from './complete-step.handler.ts';
import { createDeadStream } from './dead-stream.ts';
import { DeadLetters } from './dead-letters.ts';
import { done, failed, featureBuilder, quickFix, spentTokens } from './domain/run.fixture.ts';
import { RunState } from './domain/run-state.ts';
import { routerStages } from './router.stages.ts';
import { RunSweeper } from './run-sweeper.ts';
import { routerEntities } from './store/entities.ts';
import { IntakeStore } from './store/intake.store.ts';
import { ProjectStore } from './store/project.store.ts';
import { routerMigrations } from './store/router-migrations.ts';
import { ann, bob, project } from './store/router.fixture.ts';
import { RunStore } from './store/run.store.ts';
import { SweepStore } from './store/sweep.store.ts';

let world: CrashWorld;
let own: Router;
/** Milliseconds by which the clocks of all are ahead. */
let ahead = 0;
const clock = () => new Date(Date.now() + ahead);

beforeAll(async () => {
  world = await openCrashWorld({ migrations: routerMigrations, entities: routerEntities });
  world.setClock(clock);
  own = routerOf(world);
});
beforeEach(() => {
  ahead = 0;
});
afterAll(() => world?.close());

type Router = ReturnType<typeof routerOf>;

/** What the router's module wires. */
function routerOf({ store, ids }: Pick<CrashProcess, 'store' | 'ids'>) {
  const ports = { store, clock, newGateId: ids.newGateId, tell: () => undefined };
  const slips = new Map([featureBuilder, quickFix].map((slip) => [slip.topology as string, slip]));
  const runs = new RunStore(ports);
  const intake = new IntakeStore({ ...ports, slips, sessionMode: 'auto', newRunId: ids.newRunId });
  const sweeper = new RunSweeper({
    runs,
    sweeps: new SweepStore(store, clock),
    everyMs: 1,
    onTrouble: (task, error) => {
      throw new Error(`the sweep had trouble with ${task}`, { cause: error });
    },
  });
  return { runs, intake, sweeper, projects: new ProjectStore({ store, clock }) };
}

const [acceptStage, completeStage] = routerStages as [MessageLife['stage'], MessageLife['stage']];
const accepting: MessageLife = {
  service: 'router',
  stage: acceptStage,
  handler: (process) =>
    new AcceptTaskHandler(routerOf(process).intake, (subject, text) => process.broker.nc.publish(subject, text)),
};
const completing: MessageLife = {
  service: 'router',
  stage: completeStage,
  handler: (process) => new CompleteStepHandler(routerOf(process).runs),
};

/** Makes what every life begins with. */
async function prepareOnce<Prepared>(prepare: () => Promise<Prepared>): Promise<Prepared> {
  await world.empty();
  await own.projects.add(project, false);
  const prepared = await prepare();
  await world.remember();
  return prepared;
}

/** What the routers that live do by themselves is done, and this is what there is then. */
async function end() {
  await own.sweeper.sweep();
  return world.endState();
}

const submit = async (): Promise<RunId> => {
  const task = Task.parse({ goal: 'Keep digits.', project: project.name });
  return (await own.intake.accept({ task, principal: ann, through: 'command' })).runId;
};

async function positionOf(runId: RunId) {
  const [row] = await world.store.query<{ facts: unknown }>('select facts from router.run where id = $1', [runId]);
  return RunState.parse(row?.facts).position;
}

async function completionOf(runId: RunId, outcome: Outcome): Promise<StepCompleted> {
  const position = await positionOf(runId);
  if (position?.kind !== 'step') throw new Error(`${runId} is at ${position?.kind}`);
  return { runId, stepId: position.stepId, attempt: position.attempt, outcome, spent: spentTokens(10) };
}

/** Lets steps go well until the run is asked for a step of `verb`, or is at a gate, or waits for its turn. */
async function drive(runId: RunId, to: Verb | 'gate' | 'turn'): Promise<void> {
  for (let left = 12; left > 0; left -= 1) {
    const position = await positionOf(runId);
    if (position?.kind === 'turn' && to === 'turn') return;
    if (position?.kind === 'gate' && to === 'gate') return;
    if (position?.kind === 'gate') {
      await own.runs.decideGate({ gateId: position.gateId, decision: 'approve', commit: position.change.commit }, ann);
      continue;
    }
    if (position?.kind !== 'step') throw new Error(`${runId} is at ${position?.kind}`);
    const step = featureBuilder.steps[position.stepId];
    if (step?.kind !== 'work' || step.does === to) return;
    await own.runs.completeStep(await completionOf(runId, done(step.does)));
  }
  throw new Error(`${runId} never comes to ${to}`);
}

/** Two runs on one lane: the first lands, the second is approved and waits for its turn. */
async function twoOnOneLane(): Promise<readonly [RunId, RunId]> {
  const first = await submit();
  await drive(first, 'land');
  const second = await submit();
  await drive(second, 'turn');
  return [first, second];
}

test('a task on the queue becomes one run with one answer, whichever call the router dies at', async () => {
  await prepareOnce(() => Promise.resolve());
  const live = async (mortal: MortalProcess) => {
    await world.recall();
    const inbox = world.broker.createInbox();
    const answers = new Set<string>();
    const subscription = world.broker.nc.subscribe(inbox, {
      callback: (_, message) => void answers.add(message.json<{ runId: string }>().runId),
    });
    const task = { goal: 'Keep digits.', project: project.name };
    await world.publish(TaskSubmitted, task, { [headers.answerTo]: inbox });
    await world.settle(mortal, accepting);
    await world.broker.nc.flush();
    subscription.unsubscribe();
    return { ...(await end()), answers: nameAlike([...answers]) };
  };
  expect(await tryEveryPoint({ name: 'AcceptTask', live })).toBeGreaterThan(20);
});

const completions: readonly (readonly [string, () => Promise<readonly StepCompleted[]>])[] = [
  ['a step that leads to the next', async () => [await completionOf(await submit(), done('open'))]],
  [
    'steps of two runs at once',
    async () => [await completionOf(await submit(), done('open')), await completionOf(await submit(), done('open'))],
  ],
  [
    'a review that opens a gate',
    async () => {
      const runId = await submit();
      await drive(runId, 'review');
      return [await completionOf(runId, done('review'))];
    },
  ],
  [
    'a landing that gives its turn to the next',
    async () => {
      const [first] = await twoOnOneLane();
      return [await completionOf(first, done('land'))];
    },
  ],
  ['a step that fails its run', async () => [await completionOf(await submit(), failed)]],
];

test.each(completions)('%s is taken once, whichever call the router dies at', async (name, prepare) => {
  const prepared = await prepareOnce(prepare);
  const live = async (mortal: MortalProcess) => {
    await world.recall();
    for (const completion of prepared) await world.publish(StepCompleted, completion);
    await world.settle(mortal, completing);
    return end();
  };
  expect(await tryEveryPoint({ name: `CompleteStep: ${name}`, live })).toBeGreaterThan(10);
});

type Asking = (router: Router, process: CrashProcess) => Promise<unknown>;

/** A client that gets no answer asks again; that what it asked for has been done by then may be refused, which it knows. */
async function ask(mortal: MortalProcess, asking: Asking): Promise<void> {
  const asked = (process: CrashProcess) => asking(routerOf(process), process);
  if (await world.during(mortal, asked)) return;
  await world.during(new MortalProcess(), async (process) => {
    try {
      await asked(process);
    } catch (error) {
      const known = error instanceof FlotillaError && (error.is(errors.gateDecided) || error.is(errors.runEnded));
      if (!known) throw error;
    }
  });
}

const calls: readonly (readonly [string, () => Promise<Asking>])[] = [
  [
    'submit',
    async () => {
      const task = Task.parse({ goal: 'Keep digits.', project: project.name, externalKey: 'ticket-1' });
      return ({ intake }) => intake.accept({ task, principal: bob, through: 'command' });
    },
  ],
  ...(['approve', 'request_changes', 'decline'] as const).map(
    (decision) =>
      [
        `decide: ${decision}`,
        async (): Promise<Asking> => {
          const runId = await submit();
          await drive(runId, 'gate');
          const position = await positionOf(runId);
          if (position?.kind !== 'gate') throw new Error(`${runId} is at ${position?.kind}`);
          const { gateId, change } = position;
          return ({ runs }) => runs.decideGate({ gateId, decision, commit: change.commit, comment: 'So.' }, bob);
        },
      ] as const,
  ),
  [
    'cancel of a run that nobody works on',
    async () => {
      const runId = await submit();
      return ({ runs }) => runs.cancel(runId, bob, 'Enough.');
    },
  ],
  [
    'cancel of a run that somebody works on',
    async () => {
      const runId = await submit();
      await acquireLease(world.store, stepLeaseKey({ runId, stepId: 'open', attempt: 1 }), 'worker', 60_000);
      return ({ runs }) => runs.cancel(runId, bob, 'Enough.');
    },
  ],
  [
    'cancel of a run whose turn it is',
    async () => {
      const [first] = await twoOnOneLane();
      return ({ runs }) => runs.cancel(first, bob, 'Enough.');
    },
  ],
  [
    'retry',
    async () => {
      const runId = await submit();
      await own.runs.completeStep(await completionOf(runId, failed));
      for (let left = 3; (await positionOf(runId))?.kind === 'step' && left > 0; left -= 1)
        await own.runs.completeStep(await completionOf(runId, done('remember')));
      return ({ intake }) => intake.retry(runId, bob);
    },
  ],
  [
    'replay of a dead letter',
    async () => {
      const { payloadBytes: _, ...letter } = DeadLetterRecord.parse({
        ...exampleDeadLetterRecord,
        subject: intakeSubject('ann'),
        payload: JSON.stringify({ goal: 'Keep digits.', project: project.name }),
      });
      return async (_router, { broker, ids }) => {
        // Every life begins with empty streams.
        const { state } = await world.broker.jsm.streams.info('DEAD');
        const subject = deadSubject('TaskSubmitted');
        const dead = { subject, messageId: ids.newRunId(), payload: JSON.stringify(letter) };
        const seq = state.messages > 0 ? state.first_seq : (await publishRaw(world.broker, dead)).seq;
        await new DeadLetters(createDeadStream(broker, ids.newToken)).replay(seq, 'occasion');
      };
    },
  ],
];

test.each(calls)('%s happens once, whichever call the router dies at', async (name, prepare) => {
  const asking = await prepareOnce(prepare);
  const live = async (mortal: MortalProcess) => {
    await world.recall();
    await ask(mortal, asking);
    return end();
  };
  expect(await tryEveryPoint({ name, live })).toBeGreaterThan(3);
});

const rounds: readonly (readonly [string, number, () => Promise<unknown>])[] = [
  [
    'cancelled runs, lost steps and a free turn',
    61,
    async () => {
      const cancelled = await submit();
      const step = stepLeaseKey({ runId: cancelled, stepId: 'open', attempt: 1 });
      await acquireLease(world.store, step, 'worker', 60_000);
      await own.runs.cancel(cancelled, ann);
      await world.store.query("update flow.lease set expires_at = '-infinity'");
      const [first] = await twoOnOneLane();
      const forgetful = Object.assign(routerOf(world).runs, {
        grantTurn: () => Promise.reject(new FlotillaError(errors.storeUnavailable, { reason: 'it died here' })),
      });
      await forgetful.completeStep(await completionOf(first, done('land')));
      await submit();
    },
  ],
  ['runs whose time is over', 400 * 24 * 3600, () => submit()],
];

test.each(rounds)('a sweep finds %s, whichever call the router dies at', async (name, seconds, prepare) => {
  await prepareOnce(prepare);
  ahead = seconds * 1_000;
  const live = async (mortal: MortalProcess) => {
    await world.recall();
    await world.during(mortal, (process) => routerOf(process).sweeper.sweep());
    return end();
  };
  expect(await tryEveryPoint({ name: `sweep: ${name}`, live })).toBeGreaterThan(10);
});
