import { expect, test } from 'vitest';
import { clockOfLife, realClock } from './clock.fixture.ts';
import { answerJson, chunk, startEndpoint, startStream } from './endpoint.fixture.ts';
import { collect, failureOf, modelAt, question } from './model.fixture.ts';

test('an answer that does not begin in time is given up', async () => {
  await using endpoint = await startEndpoint(() => undefined);
  const model = modelAt(endpoint, { clock: realClock, timeLimits: { firstByteMs: 30 }, retries: { attempts: 1 } });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'first byte' } });
});

test('an answer that falls silent is given up', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  const model = modelAt(endpoint, { clock: realClock, timeLimits: { firstByteMs: 20_000, idleMs: 40 } });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'idle' } });
});

test('keep-alive comments are life, but only until the total limit', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    const timer = setInterval(() => response.write(': still here\n\n'), 10);
    response.on('close', () => clearInterval(timer));
  });
  const model = modelAt(endpoint, {
    clock: clockOfLife(500),
    timeLimits: { firstByteMs: 20_000, idleMs: 500, totalMs: 1500 },
    retries: { attempts: 1 },
  });
  expect(await failureOf(model)).toMatchObject({ code: 'MODEL_TIMED_OUT', details: { phase: 'total' } });
});

test("an abort propagates at once, as the caller's own reason, and the provider sees the line drop", async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  const controller = new AbortController();
  const reason = new Error('cancelled by a person');
  const reading = (async () => {
    for await (const part of modelAt(endpoint).stream({ ...question, signal: controller.signal }))
      if (part.kind === 'text') controller.abort(reason);
  })();
  await expect(reading).rejects.toBe(reason);
  await expect.poll(() => endpoint.disconnects()).toBe(1);
});

test('an abort before and while waiting for a retry asks nothing more of the provider', async () => {
  await using endpoint = await startEndpoint((response) => answerJson(response, 500, {}));
  await expect(
    collect(modelAt(endpoint), { ...question, signal: AbortSignal.abort(new Error('before')) }),
  ).rejects.toThrow('before');
  expect(endpoint.requests).toHaveLength(0);
  const controller = new AbortController();
  const clock = {
    now: () => 0,
    after: (delayMs: number) => {
      if (delayMs < 1_000_000) controller.abort(new Error('while waiting'));
      return () => undefined;
    },
  };
  await expect(collect(modelAt(endpoint, { clock }), { ...question, signal: controller.signal })).rejects.toThrow(
    'while waiting',
  );
  expect(endpoint.requests).toHaveLength(1);
});

test('a reader that leaves early closes the connection', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    response.write(chunk({ content: 'one' }));
  });
  for await (const part of modelAt(endpoint).stream(question)) if (part.kind === 'text') break;
  await expect.poll(() => endpoint.disconnects()).toBe(1);
});

test('an endless answer ends at the byte limit, and is not asked for again', async () => {
  await using endpoint = await startEndpoint((response) => {
    startStream(response);
    const write = () => {
      while (
        !response.destroyed &&
        response.write(
          chunk({
            tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'x', arguments: 'a'.repeat(1000) } }],
          }),
        )
      );
    };
    response.on('drain', write);
    write();
  });
  expect(await failureOf(modelAt(endpoint, { answerLimitBytes: 100_000 }))).toMatchObject({
    code: 'MODEL_ANSWER_TOO_LONG',
    message: 'An answer of compatible is longer than 100000 bytes',
    details: { limitBytes: 100_000 },
  });
  expect(endpoint.requests).toHaveLength(1);
  await expect.poll(() => endpoint.disconnects()).toBe(1);
});
