import { Mode, type Grants } from '@flotilla/contracts/grants';
import { z } from 'zod';
import { showText } from './check-path.ts';
import { decideToolCall } from './decide-tool-call.ts';
import { effectiveMode } from './effective-mode.ts';
import { findDuplicateKey } from './find-duplicate-key.ts';
import { intersectGrants } from './intersect-grants.ts';
import { readGrants } from './read-grants.ts';
import { resolveDeclaredPath } from './resolve-declared-path.ts';
import type { GrantLayers, PolicyCode, PolicyDecision, Verdict } from './tool-call.ts';

/** `absent`: the tool is not offered, and a call of it is refused; `reject`: the line or a document in it is not read at all. */
export type LineVerdict = 'allow' | 'ask' | 'deny' | 'absent' | 'reject';

export interface LineAnswer {
  /** As the line gives it; null where it gives none that can be read. */
  readonly id: string | number | null;
  readonly verdict: LineVerdict;
  readonly reason: string;
}

const LINE_LIMIT = 1_000_000;
const absolute = z.string().regex(/^\/.*[^/]$/s, 'an absolute path without a slash at its end');

const Line = z.strictObject({
  id: z.union([z.string().max(200), z.number()]),
  mode: Mode.default('normal'),
  grants: z.unknown().optional(),
  request: z
    .union([Mode, z.strictObject({ mode: Mode.optional(), grants: z.unknown().optional(), document: Mode.optional() })])
    .optional(),
  call: z.strictObject({
    tool: z.string().max(200),
    path: z.string().optional(),
    paths: z.array(z.string()).max(1000).optional(),
    command: z.string().optional(),
  }),
  workspace: z
    .strictObject({
      root: absolute.default('/workspace'),
      links: z.record(z.string(), z.string()).default({}),
      network: z.boolean().optional(),
      depth: z.int().nonnegative().default(0),
    })
    .prefault({}),
});
type Line = z.infer<typeof Line>;

/**
 * Decides one call that is only described, as a step's gate would decide it; needs no fleet and never throws. A line is one JSON
 * object without repeated or unknown keys:
 *
 * - `id`: a string or number, given back.
 * - `mode`: the mode of the session, `normal` (default), `auto` or `plan`.
 * - `grants`: a document of grants (see `readGrants`), or a list of documents that must all permit: operator, project, topology,
 *   parent step. Absent or an empty list: nothing is granted.
 * - `request`: what is asked for on top, which only restricts: a mode, or `{mode, grants, document}` where `document` is the
 *   mode of the topology.
 * - `call`: `{tool, path, paths, command}`; the tool is named by its capability; paths are as a model writes them.
 * - `workspace`: `{root, links, network, depth}`: where it lies (default `/workspace`); its symbolic links, workspace-relative path
 *   to target; whether the step has a network (default: only where every document says `network: true` for the tool); the agents above
 *   the caller (default 0).
 */
export function decideLine(text: string): LineAnswer {
  const read = readLine(text);
  if (read.kind === 'rejected') return { id: read.id, verdict: read.verdict, reason: read.reason };
  const { id, mode, request, call, workspace } = read.line;
  const wanted = typeof request === 'object' ? request : { mode: request, document: undefined };
  const layers = readLayers(read.line);
  if (layers.kind === 'rejected') return { id, verdict: 'reject', reason: layers.reason };
  const place = { root: workspace.root, links: new Map(Object.entries(workspace.links)) };
  const paths: string[] = [];
  for (const path of [...(call.path === undefined ? [] : [call.path]), ...(call.paths ?? [])]) {
    const resolved = resolveDeclaredPath(path, place);
    if (resolved.kind === 'refused') return { id, verdict: 'deny', reason: `PATH_REFUSED: ${resolved.reason}` };
    paths.push(resolved.path);
  }
  const decision = decideToolCall(
    {
      tool: call.tool,
      capability: call.tool,
      mutates: false,
      paths,
      ...(call.command === undefined ? {} : { command: call.command }),
    },
    {
      grants: layers.layers,
      mode: effectiveMode(mode, wanted.mode, wanted.document),
      network: workspace.network ?? grantsNetwork(layers.layers, call.tool),
      depth: workspace.depth,
    },
  );
  return { id, verdict: nameVerdict(decision), reason: explain(decision, layers.withheld) };
}

type ReadLine = { readonly kind: 'line'; readonly line: Line } | ({ readonly kind: 'rejected' } & LineAnswer);

function readLine(text: string): ReadLine {
  const reject = (reason: string, value?: unknown): ReadLine => ({
    kind: 'rejected',
    id: readId(value),
    verdict: 'reject',
    reason,
  });
  if (text.length > LINE_LIMIT) return reject(`the line has more than ${LINE_LIMIT} characters`);
  const parsed = parseJson(text);
  if (parsed === undefined) return reject('the line is not JSON');
  const duplicate = findDuplicateKey(text);
  if (duplicate !== undefined) return reject(`the key "${showText(duplicate)}" is there twice`, parsed.value);
  const line = Line.safeParse(parsed.value);
  if (line.success) return { kind: 'line', line: line.data };
  // A line that is wrong as a whole is not a call; a call with wrong arguments is one, and refused.
  const issue = line.error.issues.find(({ path }) => path[0] !== 'call') ?? line.error.issues[0];
  const where = issue?.path.map((part) => showText(String(part))).join('.') ?? '';
  const reason = `${where === '' ? 'the line' : where}: ${showText(issue?.message ?? 'it cannot be read')}`;
  if (issue?.path[0] !== 'call') return reject(reason, parsed.value);
  return { kind: 'rejected', id: readId(parsed.value), verdict: 'deny', reason: `INVALID_ARGUMENTS: ${reason}` };
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readId(value: unknown): LineAnswer['id'] {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  return typeof value.id === 'string' || typeof value.id === 'number' ? value.id : null;
}

type Layers =
  | { readonly kind: 'layers'; readonly layers: GrantLayers; readonly withheld: readonly string[] }
  | { readonly kind: 'rejected'; readonly reason: string };

function readLayers({ grants, request }: Line): Layers {
  const base: readonly unknown[] = Array.isArray(grants) ? grants : grants === undefined ? [] : [grants];
  const more = typeof request === 'object' && request.grants !== undefined ? [request.grants] : [];
  const layers: Grants[] = [];
  const withheld: string[] = [];
  // What is asked for restricts grants and makes none.
  for (const document of base.length === 0 ? [] : [...base, ...more]) {
    const reading = readGrants(document);
    if (reading.kind === 'rejected') {
      const [{ path, reason }] = reading.problems;
      return { kind: 'rejected', reason: `grants${path === '' ? '' : ` at ${path}`}: ${reason}` };
    }
    layers.push(reading.grants);
    withheld.push(...reading.withheld.map(({ path }) => path));
  }
  return { kind: 'layers', layers: intersectGrants(...layers), withheld };
}

function grantsNetwork(layers: GrantLayers, tool: string): boolean {
  return layers.every((grants) => {
    const grant = Object.hasOwn(grants, tool) ? grants[tool] : undefined;
    return typeof grant === 'object' && grant.network === true;
  });
}

const absentCodes: readonly PolicyCode[] = ['UNKNOWN_CAPABILITY', 'NOT_GRANTED', 'TOO_DEEP'];
const nameOfVerdict: Readonly<Record<Verdict, LineVerdict>> = { allow: 'allow', ask: 'ask', refuse: 'deny' };

function nameVerdict({ verdict, code }: PolicyDecision): LineVerdict {
  return absentCodes.includes(code) ? 'absent' : nameOfVerdict[verdict];
}

function explain({ code, reason }: PolicyDecision, withheld: readonly string[]): string {
  const unknown =
    withheld.length === 0 ? '' : `; the grants name what is no capability: ${withheld.slice(0, 5).join(', ')}`;
  return `${code}: ${reason}${unknown}`;
}
