import type { EventContract } from '@flotilla/contracts/define-event';
import { RunId } from '@flotilla/contracts/ids';
import { LogEntry } from '@flotilla/contracts/log-entry';
import type { z } from 'zod';

export const exampleRunId = RunId.parse('run_01j9z3k8m2n4p6q8r0s2t4v6w8');

/** A log whose entries are a second apart. */
export function createLog() {
  const entries: LogEntry[] = [];
  return {
    entries,
    add: <Schema extends z.ZodObject>(
      { type }: EventContract<string, Schema>,
      payload: z.input<Schema>,
      place: { readonly stepId?: string; readonly attempt?: number } = {},
    ) => {
      const sequence = entries.length + 1;
      const at = new Date(Date.UTC(2030, 0, 1) + sequence * 1000).toISOString();
      entries.push(LogEntry.parse({ runId: exampleRunId, sequence, type, payload, at, ...place }));
    },
  };
}

export const second = (n: number) => new Date(Date.UTC(2030, 0, 1) + n * 1000).toISOString();
