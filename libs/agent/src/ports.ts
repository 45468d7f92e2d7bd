import type { EventType, NewLogEntry } from '@flotilla/contracts/log-entry';
import type { Grants } from '@flotilla/contracts/grants';
import type { Attributes } from './span-attributes.ts';

/** Everything the loop reaches outside itself. A port either does its work or throws; what it throws ends the attempt. */
export interface AgentPorts {
  readonly model: ModelPort;
  readonly workspace: WorkspacePort;
  readonly journal: JournalPort;
  readonly signals: SignalsPort;
  readonly clock: ClockPort;
  /** Absent where a step cannot change files. */
  readonly checkpoint?: CheckpointPort;
  /** Absent where nothing of the workspace is handed in. */
  readonly handIn?: HandInPort;
  readonly live?: LivePort;
  readonly trace?: TracePort;
}

/** A streaming language model. Fits libs/model's Model. */
export interface ModelPort {
  readonly name: string;
  readonly spanAttributes: Attributes;
  stream(request: ModelRequest): AsyncIterable<ModelPart>;
  /** Millionths of a US dollar that so many tokens cost; null for an unknown price, as where it is absent. */
  readonly priceOf?: (usage: { readonly inputTokens: number; readonly outputTokens: number }) => number | null;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly signal?: AbortSignal;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly ModelToolCall[] }
  | { readonly role: 'tool'; readonly callId: string; readonly name: string; readonly text: string };

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments:
    | { readonly kind: 'parsed'; readonly value: Readonly<Record<string, unknown>> }
    | { readonly kind: 'unreadable'; readonly text: string; readonly reason: string };
}

export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | ({ readonly kind: 'toolCall' } & ModelToolCall)
  | {
      readonly kind: 'finish';
      readonly reason: 'stop' | 'toolCalls' | 'length' | 'refused' | 'other';
      readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
      /** Null for an unknown price. */
      readonly microdollars: number | null;
      readonly spanAttributes: Attributes;
    };

/**
 * The files of one slot and commands in it. Paths are workspace-relative, `.` is the root; every method contains its
 * access itself. A path that is missing, of the wrong kind or outside is thrown as an errno error or a FlotillaError
 * of remedy `caller`: the model is told. Anything else thrown ends the attempt.
 */
export interface WorkspacePort {
  /** The canonical form of a path, links followed, whether or not it exists. */
  resolve(path: string): Promise<string>;
  read(path: string, limitBytes: number): Promise<FileContent>;
  list(path: string): Promise<readonly DirectoryEntry[]>;
  /** Files below `path` whose workspace-relative path matches; ignored and hidden ones as the adapter sees fit. */
  glob(pattern: string, options: { readonly path: string; readonly limit: number }): Promise<Limited<string>>;
  grep(search: TextSearch): Promise<Limited<TextMatch>>;
  /** Creates parent directories. True when the file is new. */
  write(path: string, text: string): Promise<boolean>;
  delete(path: string): Promise<void>;
  /** A command's exit code is data, never thrown. Aborting ends the whole process tree and throws the signal's reason. */
  run(command: CommandLine, options: CommandOptions): Promise<CommandResult>;
}

export interface FileContent {
  readonly bytes: Uint8Array;
  /** Of the whole file, even where `bytes` holds less. */
  readonly sizeBytes: number;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly sizeBytes?: number;
}

export interface Limited<Item> {
  readonly items: readonly Item[];
  readonly truncated: boolean;
}

export interface TextSearch {
  readonly pattern: string;
  /** A regular expression when true, else a literal text. */
  readonly regex: boolean;
  readonly ignoreCase: boolean;
  readonly path: string;
  /** Glob on workspace-relative paths. */
  readonly glob?: string;
  readonly limit: number;
}

export interface TextMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export type CommandLine = { readonly shell: string } | { readonly argv: readonly string[] };

export interface CommandOptions {
  readonly timeoutMs: number;
  /** Output beyond this is dropped and `truncated` set. */
  readonly limitBytes: number;
  readonly signal: AbortSignal;
  readonly onOutput?: (chunk: string) => void;
}

export interface CommandResult {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** Standard output and error, as they came. */
  readonly output: string;
  readonly truncated: boolean;
  readonly timedOut: boolean;
  /** Why it was stopped, where the workspace did that: a sentence. */
  readonly reason?: string;
  readonly durationMs: number;
}

type JournalType = Extract<EventType, `agent.${string}` | `tool.${string}`>;
/** One fact of the journal; the port adds run, step, attempt and trace. */
export type JournalEntry = {
  [Type in JournalType]: Pick<Extract<NewLogEntry, { readonly type: Type }>, 'type' | 'payload'>;
}[JournalType];

export interface JournalPort {
  /** All entries of this step and attempt so far, from every process that worked on it, in order. Other types are ignored. */
  read(): Promise<readonly { readonly type: string; readonly payload: unknown }[]>;
  /** Resolves when all entries are durable, in order and all or none; a lost lease throws. */
  append(entries: readonly JournalEntry[]): Promise<void>;
}

export interface SignalsPort {
  /** Aborts as soon as a person cancelled the run; ends what is running. */
  readonly cancelled: AbortSignal;
  /** Read before each call and turn. */
  read(): Promise<StepSignals>;
}

export interface StepSignals {
  readonly cancelled: boolean;
  /** Everything a person said to this step so far, in order. */
  readonly steering: readonly string[];
  /** A tighter ceiling than the step began with. */
  readonly grants?: Grants;
}

export interface ClockPort {
  /** Milliseconds since 1970. */
  now(): number;
}

/** Keeps the workspace as it is, so that another process can go on from it. */
export type CheckpointPort = (turn: number) => Promise<Checkpoint | UnkeptWorkspace>;

/** Null commit and tree: as the step began. */
export interface Checkpoint {
  readonly commit: string | null;
  readonly tree: string | null;
  readonly bundle: string | null;
}

/** The workspace holds what no checkpoint can: the last one stands, and the model hears why. */
export interface UnkeptWorkspace {
  /** For the model: one or two sentences. */
  readonly refused: string;
}

/** Looks whether the workspace could be handed in as it is: what keeps it from that, in words for the model. */
export type HandInPort = () => Promise<string | undefined>;

/** For watchers only: never durable, never awaited, must not throw. */
export interface LivePort {
  text(turn: number, delta: string): void;
  /** What was said of this turn is void: it is asked again. */
  restart(turn: number): void;
  output(callId: string, chunk: string): void;
}

export interface TracePort {
  /** Runs `work` inside a span; what it throws marks the span and is thrown on. */
  span<Value>(
    name: string,
    attributes: Attributes,
    work: (set: (attributes: Attributes) => void) => Promise<Value>,
  ): Promise<Value>;
}
