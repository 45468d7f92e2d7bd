/**
 * A promise for a race that rejects with the signal's reason once it aborts. To be forgotten after the race: one that all deliveries
 * shared would keep something of each for as long as the process lives.
 */
export function rejectOn(signal: AbortSignal): { readonly promise: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return { promise, forget: () => signal.removeEventListener('abort', onAbort) };
}
