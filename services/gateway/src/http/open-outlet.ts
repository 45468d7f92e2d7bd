import type { ServerResponse } from 'node:http';
import type { Outlet } from '../watch/watch-run.ts';

/** How long a client may leave what it was sent unread before its connection is dropped. */
const DRAIN_LIMIT_MS = 20_000;

/** The client went away or read too slowly. */
export class OutletClosed extends Error {}

/**
 * Writes to a response at the pace of its reader, so that a slow one costs one page of memory and at most DRAIN_LIMIT_MS.
 * Safe to use after the client has gone: `write` throws OutletClosed, `offer` does nothing.
 */
export function openOutlet(response: ServerResponse, drainLimitMs = DRAIN_LIMIT_MS): Outlet {
  return {
    write: async (frames) => {
      if (response.destroyed) throw new OutletClosed('the client has gone');
      if (!response.write(frames)) await drained(response, drainLimitMs);
    },
    offer: (frames) => {
      if (!response.destroyed && !response.writableNeedDrain) response.write(frames);
    },
  };
}

function drained(response: ServerResponse, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: OutletClosed) => {
      clearTimeout(timer);
      response.off('drain', onDrain).off('close', onClose);
      if (error === undefined) resolve();
      else reject(error);
    };
    const onDrain = () => settle();
    const onClose = () => settle(new OutletClosed('the client has gone'));
    const timer = setTimeout(() => {
      response.destroy();
      settle(new OutletClosed('the client reads too slowly'));
    }, limitMs);
    response.on('drain', onDrain).on('close', onClose);
  });
}
