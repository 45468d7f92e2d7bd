import type { RequestOf } from '@flotilla/contracts/define-call';
import type { CallContract } from '@flotilla/contracts/define-call';
import type { WatchRun } from '@flotilla/contracts/calls/watch-run';
import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { Caller } from '../domain/caller.ts';
import { readLastEventId } from '../domain/read-last-event-id.ts';
import type { Answers, Request, Sending } from '../http/bind-calls.ts';
import type { RunTails } from '../watch/run-tails.ts';
import { watchRun } from '../watch/watch-run.ts';
import { answerQueries, findKeptRun, type QueryPorts } from './answer-queries.ts';

export interface AnswerPorts extends QueryPorts {
  /** Asks the service that serves the call, as this caller. */
  readonly forward: (call: CallContract, request: Request, caller: Caller) => Promise<unknown>;
  readonly tails: RunTails;
  /** Streams at once at most; default 5000. */
  readonly watcherLimit?: number;
}

/** Where each call is answered. Throws at once when the catalogue has a call of the gateway that nothing here answers. */
export function createAnswers(calls: readonly CallContract[], ports: AnswerPorts): Answers {
  const here = new Map<string, (request: never) => Promise<unknown>>(Object.entries(answerQueries(ports)));
  for (const { name, kind, servedBy } of calls) {
    if (servedBy === 'gateway' && !(kind === 'stream' ? name === 'watchRun' : here.has(name))) {
      throw new Error(`nothing answers ${name}: add it to services/gateway/src/answers/answer-queries.ts`);
    }
  }
  const { watcherLimit = 5_000 } = ports;
  let watchers = 0;
  return {
    answer: (call, request, caller) => {
      const answer = here.get(call.name);
      // The request was parsed with the schema that this call's answer was typed from.
      return answer === undefined ? ports.forward(call, request, caller) : answer(request as never);
    },
    open: async (_, request, lastEventId) => {
      // The only stream of the catalogue; its request was parsed with its schema.
      const watch = request as RequestOf<typeof WatchRun>;
      const row = await findKeptRun(ports.views, watch.runId);
      const last = await ports.views.lastSequence(watch.runId);
      const after = readLastEventId(lastEventId, watch.after, last);
      if (watchers >= watcherLimit) throw new FlotillaError(errors.tooManyWatchers, { limit: watcherLimit });
      const ended = row.result === null ? undefined : { result: row.result, commit: row.commit ?? undefined };
      const send: Sending = async (outlet, signal) => {
        watchers += 1;
        const tail = ports.tails.take(watch.runId);
        try {
          await watchRun({ runId: watch.runId, after, last, live: watch.live, ended }, tail, outlet, signal);
        } finally {
          watchers -= 1;
          ports.tails.give(watch.runId);
        }
      };
      return send;
    },
  };
}
