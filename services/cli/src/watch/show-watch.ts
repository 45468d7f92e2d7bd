import { ShowGate } from '@flotilla/contracts/calls/show-gate';
import type { WatchEvent } from '@flotilla/contracts/calls/watch-run';
import { GateOpened, type RunResult } from '@flotilla/contracts/events/run-events';
import type { GateId, RunId } from '@flotilla/contracts/ids';
import { readEvent } from '@flotilla/contracts/log-entry';
import { followRun } from '../client/follow-run.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { describeSpan } from '../text/describe-amounts.ts';
import { nameCommands } from '../text/name-command.ts';
import { renderError } from '../text/render-error.ts';
import type { Session } from '../session.ts';
import { askAtGate } from './ask-at-gate.ts';
import { describeEvent } from './describe-event.ts';
import { createLiveRegion } from './live-region.ts';
import { renderWatch } from './render-watch.ts';
import { foldWatch, nameStep, startOfWatch, stepBeganAt, type WatchState } from './watch-state.ts';

export interface WatchOptions {
  readonly runId: RunId;
  readonly after?: number;
  /** Whether to ask at a gate, where a person sits at a terminal. */
  readonly ask: boolean;
  /** Whether to end at a gate that is open. */
  readonly untilGate: boolean;
}

/** Shows a run until it has ended: live on a terminal, one line an event otherwise, or the events as JSON. */
export async function showWatch(options: WatchOptions, session: Session): Promise<ExitCode> {
  const { runId, after } = options;
  const { signal, note } = session;
  const live = session.isTerminal && !session.json;
  const events = followRun(await session.api(), {
    runId,
    live,
    signal,
    ...(after === undefined ? {} : { after }),
    onLost: (error) => note(session.json ? renderError(error, session) : `${error.message}; trying again`),
  });
  if (session.json) return printEach(events, options, session, (event) => session.out(JSON.stringify(event)));
  const exitCode = await (live ? showLive(events, options, session) : printLines(events, options, session));
  if (exitCode === exitCodes.atGate.code) tellGate(runId, session);
  return exitCode;
}

async function printLines(
  events: AsyncIterable<WatchEvent>,
  options: WatchOptions,
  session: Session,
): Promise<ExitCode> {
  let state = startOfWatch;
  return printEach(events, options, session, async (event) => {
    state = foldWatch(state, event);
    const line = lineOf(state, event, session);
    if (line !== undefined) session.out(line);
    if (!options.untilGate && (await waitsAtGate(event, session))) tellGate(options.runId, session);
  });
}

async function printEach(
  events: AsyncIterable<WatchEvent>,
  { untilGate }: WatchOptions,
  session: Session,
  print: (event: WatchEvent) => void | Promise<void>,
): Promise<ExitCode> {
  let result: RunResult | undefined;
  for await (const event of events) {
    await print(event);
    if (event.event === 'done') result = event.result;
    if (untilGate && (await waitsAtGate(event, session))) return exitCodes.atGate.code;
  }
  return exitCodeOfResult(result);
}

/** Whether this event opened a gate that nobody has answered yet; the log also tells of those that were. */
async function waitsAtGate(event: WatchEvent, session: Session): Promise<boolean> {
  const opened = event.event === 'entry' ? readEvent(event.entry, GateOpened) : undefined;
  if (opened === undefined) return false;
  const { gate } = await (await session.api()).call(ShowGate, { gateId: opened.gateId });
  return gate.state === 'open';
}

function tellGate(runId: RunId, { note, command }: Session): void {
  note('waits at the gate for a decision; from any terminal:');
  for (const verb of ['diff', 'approve', 'decline']) note(`  ${command} ${verb} ${runId}`);
  note(`  ${command} request-changes ${runId} "what to change"`);
}

const redrawMs = 100;

async function showLive(events: AsyncIterable<WatchEvent>, options: WatchOptions, session: Session): Promise<ExitCode> {
  const { runId, untilGate } = options;
  const ask = options.ask && !untilGate;
  const region = createLiveRegion(session.write);
  let state = startOfWatch;
  let tick = 0;
  let question: { readonly gateId: GateId; readonly stop: AbortController; readonly asked: Promise<void> } | undefined;
  const draw = () => {
    if (question !== undefined) return;
    const now = session.now().toISOString();
    region.draw(
      renderWatch(
        state,
        { runId, command: session.command, now, tick: tick++, columns: session.columns(), prompted: false },
        session.palette,
      ),
    );
  };
  const redraw = setInterval(draw, redrawMs);
  const openQuestion = (gateId: GateId) => {
    region.clear();
    const stop = new AbortController();
    const asked = askAtGate(gateId, session, AbortSignal.any([session.signal, stop.signal]))
      .catch((error: unknown) => {
        if (!stop.signal.aborted && !session.signal.aborted)
          session.note(String(error instanceof Error ? error.message : error));
      })
      .finally(() => (question = undefined));
    question = { gateId, stop, asked };
  };
  try {
    return await printEach(events, options, session, (event) => {
      state = foldWatch(state, event);
      const line =
        event.event === 'entry' && describeEvent(event.entry)?.weight === 'loud'
          ? lineOf(state, event, session)
          : undefined;
      if (question !== undefined && state.gate?.gateId !== question.gateId) question.stop.abort();
      if (line !== undefined) region.print(line);
      if (ask && question === undefined && state.gate !== undefined && isOpening(event))
        openQuestion(state.gate.gateId);
    });
  } finally {
    clearInterval(redraw);
    question?.stop.abort();
    await question?.asked;
    region.clear();
  }
}

function isOpening(event: WatchEvent): boolean {
  return event.event === 'entry' && event.entry.type === 'gate.opened';
}

/** `+12 s      build      check npm test passed in 0.9 s`. */
function lineOf(state: WatchState, event: WatchEvent, { command }: Pick<Session, 'command'>): string | undefined {
  if (event.event !== 'entry') return undefined;
  const described = describeEvent(event.entry, stepBeganAt(state, event.entry));
  if (described === undefined) return undefined;
  const since = describeSpan(state.beganAt ?? event.entry.at, event.entry.at);
  return `${since.padStart(10)}  ${nameStep(event.entry).padEnd(10)}  ${nameCommands(described.text, command)}`.trimEnd();
}

function exitCodeOfResult(result: RunResult | undefined): ExitCode {
  return result === 'landed' || result === 'no_changes' ? exitCodes.done.code : exitCodes.failed.code;
}
