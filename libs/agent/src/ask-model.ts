import { errors } from '@flotilla/errors/catalogue';
import { FlotillaError } from '@flotilla/errors/flotilla-error';
import type { JournalEntry, ModelMessage, ModelRequest } from './ports.ts';
import type { BrokenAnswer, TurnAnswer } from './take-turn.ts';

export interface Asking {
  /** The conversation, with old results left out as far as that many characters want it. */
  readonly render: (limitCharacters: number) => readonly ModelMessage[];
  readonly request: Omit<ModelRequest, 'messages'>;
  readonly take: (request: ModelRequest) => Promise<TurnAnswer>;
}

/** What a model accepts of a conversation, as far as is known; shrinks as it refuses. */
export interface TranscriptRoom {
  limitCharacters: number;
}

const leastCharacters = 16_000;

/**
 * One turn, asked again with less of the past where the model says it is too long. Gives back the failure that no later
 * attempt would change; throws any other.
 */
export async function askModel(
  { render, request, take }: Asking,
  room: TranscriptRoom,
): Promise<TurnAnswer | FlotillaError> {
  for (;;) {
    try {
      return await take({ ...request, messages: render(room.limitCharacters) });
    } catch (error) {
      if (!(error instanceof FlotillaError) || (error.remedy !== 'caller' && error.remedy !== 'operator')) throw error;
      const smaller = Math.floor(room.limitCharacters / 2);
      if (!error.is(errors.modelContextTooLong) || smaller < leastCharacters) return error;
      room.limitCharacters = smaller;
    }
  }
}

export function describeBroken(turn: number, model: string, broken: BrokenAnswer): JournalEntry {
  const { code, tokens, microdollars, durationMs } = broken;
  const spent = { turns: 0, calls: 0, tokens, microdollars, seconds: durationMs / 1000 };
  return { type: 'agent.turn_broken', payload: { turn, model, code, spent } };
}

export function describeTurn(turn: number, model: string, answer: TurnAnswer): JournalEntry {
  const { calls, inputTokens, outputTokens, microdollars, durationMs } = answer;
  const spent = { turns: 1, calls: 0, tokens: inputTokens + outputTokens, microdollars, seconds: durationMs / 1000 };
  return {
    type: 'agent.turn',
    payload: {
      turn,
      model,
      text: answer.text,
      calls: [...calls],
      finish: answer.finish,
      spent,
      inputTokens,
      outputTokens,
      durationMs,
    },
  };
}
