import { fence } from './fence.ts';
import type { CallFacts, JournalFacts, Nudge, TurnFacts } from './journal-facts.ts';
import type { ModelMessage } from './ports.ts';
import { shortenTranscript } from './shorten-transcript.ts';
import { toModelName } from './tool-names.ts';

/** The conversation that the journal tells of, after the opening task. The same facts give the same messages. */
export function renderTranscript(
  task: string,
  facts: JournalFacts,
  nonce: string,
  limitCharacters: number,
): readonly ModelMessage[] {
  const opening = [task, ...facts.opening.map((nudge) => renderNudge(nudge, nonce))].join('\n\n');
  const turns = facts.turns.map((turn) => renderTurn(turn, nonce));
  return [{ role: 'user', text: opening }, ...shortenTranscript(turns, limitCharacters).flat()];
}

function renderTurn({ text, calls, nudges }: TurnFacts, nonce: string): readonly ModelMessage[] {
  const said = nudges.map((nudge) => renderNudge(nudge, nonce)).join('\n\n');
  return [
    // Providers refuse an empty answer in a conversation.
    {
      role: 'assistant',
      text: text === '' && calls.length === 0 ? '(no answer)' : text,
      calls: calls.map(toModelCall),
    },
    ...calls.map((call): ModelMessage => ({
      role: 'tool',
      callId: toModelCallId(call.callId),
      name: toModelName(call.tool),
      text: renderResult(call, nonce),
    })),
    ...(said === '' ? [] : [{ role: 'user' as const, text: said }]),
  ];
}

function toModelCall(call: CallFacts) {
  return {
    id: toModelCallId(call.callId),
    name: toModelName(call.tool),
    arguments: isRecord(call.arguments)
      ? { kind: 'parsed' as const, value: call.arguments }
      : { kind: 'unreadable' as const, text: String(call.arguments), reason: call.malformed ?? 'not an object' },
  };
}

/** Providers take letters, digits, underscore and hyphen in an id. */
function toModelCallId(callId: string): string {
  return `call_${callId.replace(/[^a-zA-Z0-9_-]/g, '_')}`;
}

function renderResult({ finished }: CallFacts, nonce: string): string {
  if (finished === undefined) return 'status: not run';
  const status = finished.ok ? 'ok' : `error ${finished.code ?? 'FAILED'}`;
  const exit = finished.exitCode === undefined ? '' : `\nexit_code: ${finished.exitCode}`;
  return `status: ${status}${exit}\n${fence('result', finished.result, nonce)}`;
}

/** What a person said is fenced; the rest is the loop's own words. */
function renderNudge({ code, text }: Nudge, nonce: string): string {
  return code === 'STEERED'
    ? `A person who watches this work says:\n${fence('message', text, nonce)}`
    : `Notice (${code}): ${text}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
