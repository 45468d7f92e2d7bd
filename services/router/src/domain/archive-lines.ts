import type { RunId } from '@flotilla/contracts/ids';

/** An entry of a log as its row keeps it; `payload` is JSON, undefined where its spill is lost. */
export interface KeptEntry {
  readonly sequence: number;
  readonly step: string | null;
  readonly attempt: number | null;
  readonly type: string;
  readonly payload: string | undefined;
  readonly spill: string | null;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly at: string;
}

/** Bytes of a bundle in one line: divisible by three, so that the base64 of all parts together is the one of the whole. */
const partBytes = 768 * 1024;

/*
 * The file of an archived run: JSON, one record a line, told apart by `kind`. The first says what the file is, the last how many there
 * are of each, so that a file without it is not whole. infra/guide/data.md describes it.
 */

export function firstLine(runId: RunId): string {
  return line({ kind: 'archive', version: 1, runId });
}

/** A row of a table, as Postgres writes it as JSON. */
export function rowLine(kind: 'run' | 'gate', row: string): string {
  return line({ kind, row: JSON.parse(row) as unknown });
}

/** The payload is what the log had, letter by letter, whatever became of it on the way there. */
export function entryLine(runId: RunId, entry: KeptEntry): string {
  const { sequence, step, attempt, type, payload, spill, traceparent, tracestate, at } = entry;
  const head = JSON.stringify({
    kind: 'entry',
    runId,
    sequence,
    type,
    at,
    ...(step === null ? {} : { stepId: step }),
    ...(attempt === null ? {} : { attempt }),
    ...(traceparent === null ? {} : { trace: { traceparent, ...(tracestate === null ? {} : { tracestate }) } }),
    ...(payload === undefined ? { lost: spill } : {}),
  });
  // Between the parts of a JSON text a line break means nothing, and within a string it cannot be.
  return `${head.slice(0, -1)},"payload":${(payload ?? 'null').replaceAll('\n', ' ')}}\n`;
}

export function* bundleLines(name: string, bytes: Uint8Array): Generator<string> {
  for (let start = 0; start === 0 || start < bytes.length; start += partBytes) {
    const base64 = Buffer.from(bytes.subarray(start, start + partBytes)).toString('base64');
    yield line({ kind: 'bundle', name, base64 });
  }
}

export function lastLine(counts: {
  readonly entries: number;
  readonly gates: number;
  readonly bundles: number;
}): string {
  return line({ kind: 'end', ...counts });
}

/** Names of bundles of this run in a payload. Those of base commits are of many runs. */
export function findBundles(runId: RunId, payload: string): readonly string[] {
  const names = payload.matchAll(/"(?:bundle|headBundle)"\s*:\s*"([^"\\]+)"/g);
  return [...names].flatMap(([, name = '']) => (name.startsWith(`${runId}/`) ? [name] : []));
}

function line(record: unknown): string {
  return `${JSON.stringify(record)}\n`;
}
