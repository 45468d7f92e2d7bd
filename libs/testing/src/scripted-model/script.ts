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
 * `rate-limit`: 429. `overloaded`: 529. `server-error`: 500. `cut`: the line drops after some text. `silent`: some text, then
 * nothing. `garbage`: no protocol. `endless`: text for ever. `refusal`: ended by the content filter. `empty`: nothing said.
 * `too-long`: the conversation does not fit.
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
    | 'too-long';
  /** Of a rate limit; default 0. */
  readonly retryAfterSeconds?: number;
}

export const text = (words: string): TextReply => ({ kind: 'text', text: words });
export const call = (tool: string, args: ScriptedCall['arguments'] = {}): CallsReply => ({
  kind: 'calls',
  calls: [{ tool, arguments: args }],
});
export const fault = (kind: FaultReply['fault']): FaultReply => ({ kind: 'fault', fault: kind });
