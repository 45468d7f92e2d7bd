import type { ModelMessage, ModelToolCall } from './ports.ts';

type Turns = readonly (readonly ModelMessage[])[];

/**
 * A conversation within `limitCharacters`, as far as that can be had: old results give way first, then what old calls were
 * given; the calls themselves are kept, and the last turns stay whole.
 */
export function shortenTranscript(turns: Turns, limitCharacters: number): Turns {
  const excess = turns.flat().reduce((sum, message) => sum + sizeOf(message), 0) - limitCharacters;
  return [shortenResult, shortenArguments].reduce((held, shorten) => shortenOld(held.turns, held.excess, shorten), {
    turns,
    excess,
  }).turns;
}

/** Characters of a message as a provider is sent it, near enough. */
export function sizeOf(message: ModelMessage): number {
  const calls = message.role === 'assistant' ? message.calls : [];
  return calls.reduce((sum, call) => sum + sizeOfArguments(call), message.text.length);
}

const recentTurns = 2;
const worthDropping = 1000;
const keptOfArgument = 200;

/** The oldest give way until nothing is too much. */
function shortenOld(turns: Turns, excess: number, shorten: (message: ModelMessage) => ModelMessage) {
  let left = excess;
  const shortened = turns.map((messages, index) =>
    messages.map((message) => {
      if (left <= 0 || index >= turns.length - recentTurns || sizeOf(message) < worthDropping) return message;
      const shorter = shorten(message);
      left -= sizeOf(message) - sizeOf(shorter);
      return shorter;
    }),
  );
  return { turns: shortened, excess: left };
}

function shortenResult(message: ModelMessage): ModelMessage {
  if (message.role !== 'tool') return message;
  const status = message.text.slice(0, message.text.indexOf('\n'));
  return { ...message, text: `${status}\n[result left out to save space; make the call again if you need it]` };
}

function shortenArguments(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant') return message;
  return { ...message, calls: message.calls.map((call) => ({ ...call, arguments: shortenGiven(call.arguments) })) };
}

function shortenGiven(given: ModelToolCall['arguments']): ModelToolCall['arguments'] {
  if (given.kind === 'unreadable') return { ...given, text: shortenText(given.text) };
  const value = Object.entries(given.value).map(([name, item]) => [
    name,
    typeof item === 'string' ? shortenText(item) : item,
  ]);
  return { kind: 'parsed', value: Object.fromEntries(value) };
}

function shortenText(text: string): string {
  if (text.length < worthDropping) return text;
  const kept = text.slice(0, keptOfArgument).replace(/[\ud800-\udbff]$/, '');
  return `${kept}[… ${text.length - kept.length} characters that you gave are left out here to save space …]`;
}

function sizeOfArguments({ arguments: given }: ModelToolCall): number {
  return given.kind === 'parsed' ? JSON.stringify(given.value).length : given.text.length;
}
