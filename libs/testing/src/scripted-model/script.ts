import type { Conversation } from './conversation.ts';

/**
 * Decides an answer from the conversation alone, so that it is the same in every process and after every restart.
 * `asked` counts how often this server was asked exactly this, from 1: for faults that pass.
 */
export type Script = (conversation: Conversation, asked: number) => Reply;

export type Reply = TextReply | CallsReply | FaultReply;

export interface TextReply {
  readonly kind: 'text';
  readonly text: string;
}

export interface CallsReply {
  readonly kind: 'calls';
  readonly text?: string;
  readonly calls: readonly ScriptedCall[];
}

export interface ScriptedCall {
  /** Id with dots; sent as the name that was offered. */
  readonly tool: string;
  /** An object is sent as its JSON, a string as it is, JSON or not. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/**
 * `rate-limit`: 429. `overloaded`: 529. `server-error`: 500. `wrong-key`: 401. `unknown-model`: 404. `too-long`: the
 * conversation does not fit. `mute`: not one byte. `silent`: some text, then nothing. `cut`: the line drops after some text;
 * `half-call`: in the middle of a call's arguments. `length`: the output limit is reached in the middle of them. `garbage`: no
 * protocol. `endless`: text for ever; `endless-call`: arguments for ever. `refusal`: ended by the content filter. `empty`:
 * nothing said.
 */
export interface FaultReply {
  readonly kind: 'fault';
  readonly fault:
    | 'rate-limit'
    | 'overloaded'
    | 'server-error'
    | 'cut'
    | 'silent'
    | 'garbage'
    | 'endless'
    | 'refusal'
    | 'empty'
    | 'too-long'
    | 'wrong-key'
    | 'unknown-model'
    | 'mute'
    | 'half-call'
    | 'length'
    | 'endless-call';
  /** Of a rate limit; default: the provider does not say. */
  readonly retryAfterSeconds?: number;
}

export const text = (words: string): TextReply => ({ kind: 'text', text: words });
export const call = (tool: string, args: ScriptedCall['arguments'] = {}): CallsReply => ({
  kind: 'calls',
  calls: [{ tool, arguments: args }],
});
export const fault = (kind: FaultReply['fault'], retryAfterSeconds?: number): FaultReply => ({
  kind: 'fault',
  fault: kind,
  ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
});
