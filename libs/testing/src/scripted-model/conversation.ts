/** What a chat completions request tells of the conversation so far. */
export interface Conversation {
  readonly model: string;
  readonly system: string;
  /** From a line `role: <name>` of the system text; undefined where it has none. */
  readonly role: string | undefined;
  readonly messages: readonly ConversationMessage[];
  /** Ids of the tools on offer, dots restored. */
  readonly tools: readonly string[];
  /** Every call made so far, with its result where it has one. */
  readonly calls: readonly PastCall[];
}

export interface ConversationMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly text: string;
}

export interface PastCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** `ok`, or the code of the failure; undefined before there is a result. */
  readonly status: string | undefined;
  readonly exitCode: number | undefined;
  readonly result: string;
  /** Index into `messages` of the assistant's turn. */
  readonly at: number;
}

/** Reads the body of a chat completions request. Throws a TypeError for what is none. */
export function readConversation(body: unknown): Conversation {
  if (!isRecord(body) || !Array.isArray(body['messages'])) throw new TypeError('the request has no messages');
  const all = body['messages'].filter(isRecord);
  const system = all
    .filter((message) => message['role'] === 'system')
    .map((message) => readText(message['content']))
    .join('\n');
  const spoken = all.filter((message) => message['role'] !== 'system');
  const offered = Array.isArray(body['tools']) ? body['tools'].filter(isRecord) : [];
  return {
    model: String(body['model']),
    system,
    role: /^role:\s*([a-z_]+)\s*$/m.exec(system)?.[1],
    messages: spoken.map((message) => ({ role: readRole(message['role']), text: readText(message['content']) })),
    tools: offered.map((tool) => readToolId(isRecord(tool['function']) ? tool['function']['name'] : '')),
    calls: readCalls(spoken),
  };
}

function readCalls(messages: readonly Readonly<Record<string, unknown>>[]): readonly PastCall[] {
  const results = new Map(
    messages
      .filter((message) => message['role'] === 'tool')
      .map((message) => [message['tool_call_id'], readText(message['content'])]),
  );
  return messages.flatMap((message, at) => {
    const calls = Array.isArray(message['tool_calls']) ? message['tool_calls'].filter(isRecord) : [];
    return calls.map((call): PastCall => {
      const made = isRecord(call['function']) ? call['function'] : {};
      const result = results.get(call['id']);
      const status = /^status: (?:error )?(\S+)/.exec(result ?? '')?.[1];
      const exit = /^exit_code: (-?\d+)$/m.exec(result ?? '')?.[1];
      return {
        tool: readToolId(made['name']),
        arguments: readArguments(made['arguments']),
        status,
        exitCode: exit === undefined ? undefined : Number(exit),
        result: result ?? '',
        at,
      };
    });
  });
}

function readToolId(name: unknown): string {
  return String(name).replaceAll('__', '.');
}

function readArguments(text: unknown): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(String(text));
    return isRecord(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .filter(isRecord)
    .map((part) => String(part['text'] ?? ''))
    .join('');
}

function readRole(role: unknown): ConversationMessage['role'] {
  return role === 'assistant' || role === 'tool' ? role : 'user';
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
