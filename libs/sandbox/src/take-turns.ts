/** Runs what it is given one at a time, in the order of the calls. A failure is the caller's and stops nobody else. */
export function createTurns(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const turn = last.then(action, action);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** Lets at most `limit` of the actions it is given run at once; the others wait in order. */
export function createGate(limit: number): <T>(action: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (action) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await action();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
