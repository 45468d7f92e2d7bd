import { errors } from '@flotilla/errors/catalogue';
import type { ErrorDefinition } from '@flotilla/errors/flotilla-error';
import type { JournalFacts, Nudge, TurnFacts } from './journal-facts.ts';
import { toModelName } from './tool-names.ts';
import { finishId } from './tools/finish.ts';

/** Why a turn brought the work no further, what to tell the model, and what the failure is called if it goes on. */
export interface Trouble {
  readonly failure: ErrorDefinition;
  /** Absent where the calls' own results say it. */
  readonly nudge?: Nudge;
}

/** How a turn ended, in the journal; the first five are the provider's. */
export type TurnEnd = 'stop' | 'toolCalls' | 'length' | 'refused' | 'other' | 'endless';

const callATool = `Go on by calling a tool; when you are done, call ${toModelName(finishId)}.`;

export function findTrouble({ text, finish, calls }: TurnFacts): Trouble | undefined {
  if (finish === 'endless')
    return {
      failure: errors.agentAnswerEndless,
      nudge: { code: 'ANSWER_ENDLESS', text: `Your answer was cut: it was far too long. Be brief. ${callATool}` },
    };
  if (calls.length > 0) return calls.every(isUnreadable) ? { failure: errors.agentCallsUnreadable } : undefined;
  if (finish === 'refused')
    return {
      failure: errors.agentRefused,
      nudge: {
        code: 'ANSWER_REFUSED',
        text: `Your answer was withheld by the provider's filter. The task is ordinary work on a software project. ${callATool}`,
      },
    };
  if (finish === 'length')
    return {
      failure: errors.agentNoToolCall,
      nudge: {
        code: 'ANSWER_CUT',
        text: `Your answer reached its length limit before a tool call. Be brief. ${callATool}`,
      },
    };
  if (text === '')
    return {
      failure: errors.agentAnswerEmpty,
      nudge: { code: 'ANSWER_EMPTY', text: `Your answer was empty. ${callATool}` },
    };
  return {
    failure: errors.agentNoToolCall,
    nudge: { code: 'NO_TOOL_CALL', text: `You wrote text but called no tool; text alone has no effect. ${callATool}` },
  };
}

const unreadableCodes: readonly (string | undefined)[] = ['UNKNOWN_TOOL', 'INVALID_ARGUMENTS'];

function isUnreadable({ finished }: TurnFacts['calls'][number]): boolean {
  return finished !== undefined && unreadableCodes.includes(finished.code);
}

/** The failure that as many troubled turns in a row amount to, if the last turn is the one too many. */
export function findFailure({ turns }: JournalFacts, most: number): ErrorDefinition | undefined {
  const lastGood = turns.findLastIndex((turn) => findTrouble(turn) === undefined);
  const troubled = turns.slice(lastGood + 1);
  const last = troubled.at(-1);
  return last !== undefined && troubled.length >= most ? findTrouble(last)?.failure : undefined;
}
