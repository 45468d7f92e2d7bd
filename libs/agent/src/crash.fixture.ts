import type {
  CommandResult,
  AgentPorts,
  JournalEntry,
  ModelMessage,
  ModelPart,
  ModelRequest,
  WorkspacePort,
} from './ports.ts';

/** What outlives a process: its journal, its workspace and what was kept of it. */
export interface World {
  readonly journal: JournalEntry[];
  files: Map<string, string>;
  readonly kept: Map<string, ReadonlyMap<string, string>>;
  readonly first: ReadonlyMap<string, string>;
}

export class ProcessDied extends Error {}

export function newWorld(files: Readonly<Record<string, string>>): World {
  const first = new Map(Object.entries(files));
  return { journal: [], files: new Map(first), kept: new Map(), first };
}

/** Lays the last checkpoint that the journal names, as a new slot does. */
export function restoreWorld(world: World): void {
  const last = world.journal.findLast((entry) => entry.type === 'agent.checkpoint');
  const tree = last?.type === 'agent.checkpoint' ? last.payload.tree : null;
  world.files = new Map(tree === null ? world.first : world.kept.get(tree));
}

/**
 * A process on that world. It dies at a tick: each use of a port has one before its effect and one after. Once dead, every
 * use of a port fails. Without a death it counts its ticks.
 */
export function startProcess(
  world: World,
  answer: (request: ModelRequest) => readonly ModelPart[],
  deathTick?: number,
): { readonly ports: AgentPorts; readonly ticks: () => number } {
  let ticks = 0;
  const tick = () => {
    if (deathTick !== undefined && ticks >= deathTick) throw new ProcessDied();
    ticks += 1;
  };
  const port = <Value>(work: () => Value): Promise<Value> =>
    new Promise((resolve) => {
      tick();
      const value = work();
      tick();
      resolve(value);
    });
  return {
    ticks: () => ticks,
    ports: {
      workspace: memoryWorkspace(world, port),
      journal: {
        read: () => port(() => structuredClone(world.journal)),
        append: (entries) => port(() => void world.journal.push(...structuredClone(entries))),
      },
      signals: {
        cancelled: new AbortController().signal,
        read: () => port(() => ({ cancelled: false, steering: [] })),
      },
      clock: { now: () => 0 },
      checkpoint: () =>
        port(() => {
          const text = JSON.stringify([...world.files].sort());
          const tree = digest(text);
          world.kept.set(tree, new Map(world.files));
          const same = text === JSON.stringify([...world.first].sort());
          return same ? { commit: null, tree: null, bundle: null } : { commit: tree, tree, bundle: tree };
        }),
      model: {
        name: 'in-process',
        spanAttributes: {},
        async *stream(request) {
          yield* await port(() => answer(request));
        },
      },
    },
  };
}

/** Forty hexadecimal digits that differ for different texts of these tests. */
function digest(text: string): string {
  const part = (salt: number) => {
    const hash = [...text].reduce(
      (held, character) => Math.imul(held ^ (character.codePointAt(0) ?? 0), 16777619),
      2166136261 ^ salt,
    );
    return (hash >>> 0).toString(16).padStart(8, '0');
  };
  return [1, 2, 3, 4, 5].map(part).join('');
}

type Port = <Value>(work: () => Value) => Promise<Value>;

/** Commands: `append WORD` adds a line to the file `log`, once each time it runs; `test` passes when the log is complete. */
function memoryWorkspace(world: World, port: Port): WorkspacePort {
  const read = (path: string) => {
    const text = world.files.get(path);
    if (text === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return text;
  };
  const run = (command: string): CommandResult => {
    const [verb, word = ''] = command.split(' ');
    if (verb === 'append') world.files.set('log', `${world.files.get('log') ?? ''}${word}\n`);
    return { exitCode: 0, output: 'ok', truncated: false, timedOut: false, durationMs: 0 };
  };
  return {
    resolve: (path) => Promise.resolve(path),
    read: async (path) => {
      const bytes = new TextEncoder().encode(await port(() => read(path)));
      return { bytes, sizeBytes: bytes.length };
    },
    list: () => port(() => [...world.files.keys()].map((name) => ({ name, kind: 'file' as const }))),
    glob: () => port(() => ({ items: [...world.files.keys()], truncated: false })),
    grep: () => port(() => ({ items: [], truncated: false })),
    write: (path, text) =>
      port(() => {
        const created = !world.files.has(path);
        world.files.set(path, text);
        return created;
      }),
    delete: (path) => port(() => void world.files.delete(path)),
    run: (command) => port(() => run('shell' in command ? command.shell : command.argv.join(' '))),
  };
}

/**
 * A model that appends words to the log, two calls a turn, then tests and finishes. It does nothing that it was told is
 * done; where it was told that it cannot know, it reads the log first and believes that.
 */
export function carefulWorker(words: readonly string[]): (request: ModelRequest) => readonly ModelPart[] {
  return ({ messages }) => {
    const restored = messages.findLastIndex(
      (message) => message.role === 'user' && message.text.includes('WORKSPACE_RESTORED'),
    );
    const seen = readSeen(messages, restored);
    const log = seen.log;
    const done = (word: string) => seen.certain.has(word) || (log?.includes(word) ?? false);
    const unsure =
      restored >= 0
        ? log === undefined
        : words.some((word) => seen.uncertain.has(word) && !seen.certain.has(word) && log === undefined);
    if (unsure) return turn([{ name: 'fs__read', args: { path: 'log' } }]);
    const open = words.filter((word) => !done(word)).slice(0, 2);
    if (open.length > 0)
      return turn(open.map((word) => ({ name: 'terminal__run', args: { command: `append ${word}` } })));
    if (!seen.tested) return turn([{ name: 'test__run', args: {} }]);
    return turn([{ name: 'agent__finish', args: { summary: 'All words are there.' } }]);
  };
}

interface Seen {
  /** Appended for certain since the workspace was last laid. */
  readonly certain: ReadonlySet<string>;
  readonly uncertain: ReadonlySet<string>;
  /** The log as it was read last, after the last uncertain thing; undefined where it was not. */
  readonly log: readonly string[] | undefined;
  readonly tested: boolean;
}

function readSeen(messages: readonly ModelMessage[], restored: number): Seen {
  const certain = new Set<string>();
  const uncertain = new Set<string>();
  let log: readonly string[] | undefined;
  let tested = false;
  const calls = new Map(
    messages.flatMap((message) =>
      message.role === 'assistant' ? message.calls.map((call) => [call.id, call] as const) : [],
    ),
  );
  messages.forEach((message, index) => {
    if (message.role !== 'tool' || index < restored) return;
    const call = calls.get(message.callId);
    const args = call?.arguments.kind === 'parsed' ? call.arguments.value : {};
    const ok = message.text.startsWith('status: ok');
    if (call?.name === 'terminal__run') {
      const word = String(args['command']).split(' ')[1] ?? '';
      tested = false;
      if (ok) certain.add(word);
      else if (message.text.includes('INTERRUPTED')) {
        uncertain.add(word);
        log = undefined;
      }
    }
    if (call?.name === 'test__run' && ok) tested = true;
    if (call?.name === 'fs__read' && !message.text.includes('INTERRUPTED')) log = ok ? message.text.split('\n') : [];
  });
  return { certain, uncertain, log, tested };
}

function turn(
  calls: readonly { readonly name: string; readonly args: Readonly<Record<string, unknown>> }[],
): readonly ModelPart[] {
  return [
    ...calls.map(({ name, args }, index) => ({
      kind: 'toolCall' as const,
      id: `p${index}`,
      name,
      arguments: { kind: 'parsed' as const, value: args },
    })),
    {
      kind: 'finish',
      reason: 'toolCalls',
      usage: { inputTokens: 10, outputTokens: 5 },
      microdollars: 7,
      spanAttributes: {},
    },
  ];
}
