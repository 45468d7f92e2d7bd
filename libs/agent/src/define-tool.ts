import type { z } from 'zod';
import type { WorkspacePort } from './ports.ts';

/** What a tool may use while it runs. */
export interface ToolContext {
  readonly workspace: WorkspacePort;
  /** The paths that `paths(args)` named, in that order, canonical. */
  readonly paths: readonly string[];
  /** Whether this call may also reach a path that it finds. */
  readonly allowsPath: (path: string) => boolean;
  /** Commands that check the project, as it declares them; may be empty. */
  readonly checks: readonly string[];
  /** No command may take longer. */
  readonly timeLeftMs: number;
  readonly signal: AbortSignal;
  readonly onOutput: (chunk: string) => void;
}

export interface ToolResult {
  readonly ok: boolean;
  /** Upper snake case, where it is not ok. */
  readonly code?: string;
  /** For the model; whatever length, whatever characters. */
  readonly text: string;
  readonly exitCode?: number;
  /** True where the call may have changed a file. Default: false. */
  readonly changedFiles?: boolean;
  /** The checklist, where the call wrote it. */
  readonly todo?: readonly TodoItem[];
}

export interface TodoItem {
  readonly text: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'blocked';
}

interface ToolDeclaration<Schema extends z.ZodObject> {
  /** At least two lower snake case segments joined by dots; also its capability. */
  readonly id: string;
  /** For the model: one or two sentences. */
  readonly summary: string;
  readonly parameters: Schema;
  /** True where a call may change the workspace. */
  readonly mutates: boolean;
  readonly paths: (args: z.output<Schema>) => readonly string[];
  readonly command?: (args: z.output<Schema>) => string;
  /** A few words for a person who watches. */
  readonly describe: (args: z.output<Schema>) => string;
  readonly run: (args: z.output<Schema>, context: ToolContext) => Promise<ToolResult>;
}

/** A tool whose arguments have been read: what the gate decides on, and how to run it. */
export interface PreparedCall {
  readonly paths: readonly string[];
  readonly command?: string;
  readonly description: string;
  run(context: ToolContext): Promise<ToolResult>;
}

export interface Tool {
  readonly id: string;
  readonly capability: string;
  readonly summary: string;
  readonly mutates: boolean;
  readonly parameters: z.ZodObject;
  /** Reads the arguments as a model gave them: strict, nothing coerced. */
  prepare(
    args: unknown,
  ): { readonly kind: 'ready'; readonly call: PreparedCall } | { readonly kind: 'invalid'; readonly problem: string };
}

const idGrammar = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)+$/;

/** Throws a TypeError for an id that is not canonical. */
export function defineTool<Schema extends z.ZodObject>(declaration: ToolDeclaration<Schema>): Tool {
  const { id, summary, mutates, parameters } = declaration;
  if (!idGrammar.test(id) || id.includes('__')) throw new TypeError(`${id} is not the id of a tool`);
  return {
    id,
    capability: id,
    summary,
    mutates,
    parameters,
    prepare(args) {
      const parsed = parameters.safeParse(args);
      if (!parsed.success) return { kind: 'invalid', problem: describeIssues(parsed.error) };
      const command = declaration.command?.(parsed.data);
      return {
        kind: 'ready',
        call: {
          paths: declaration.paths(parsed.data),
          ...(command === undefined ? {} : { command }),
          description: declaration.describe(parsed.data).slice(0, 200),
          run: (context) => declaration.run(parsed.data, context),
        },
      };
    },
  };
}

function describeIssues(error: z.ZodError): string {
  return error.issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length === 0 ? 'arguments' : issue.path.join('.')}: ${issue.message}`)
    .join('; ');
}
