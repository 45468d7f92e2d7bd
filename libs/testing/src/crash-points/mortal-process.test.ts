import { expect, test } from 'vitest';
import { MortalProcess, type DeathPoint } from './mortal-process.ts';
import { tryEveryPoint } from './try-every-point.ts';

/** A world of what was written, and a port on it. */
function makeWorld() {
  const written: string[] = [];
  const port = {
    write: async (text: string) => void written.push(text),
    refuse: async () => Promise.reject(new Error('refused')),
    send: (text: string) => void written.push(text),
    within: async (work: () => Promise<void>) => {
      written.push('begin');
      await work();
      written.push('end');
    },
    pieces: async function* () {
      yield 'one';
      written.push('asked');
      yield 'two';
    },
  };
  return { written, port };
}

async function liveTo(
  point: DeathPoint | undefined,
  work: (port: ReturnType<typeof makeWorld>['port']) => Promise<void>,
) {
  const { written, port } = makeWorld();
  const process = new MortalProcess(point);
  const shape = { sends: ['send'], streams: ['pieces'] };
  await Promise.race([work(process.wrap('world', port, shape)), process.died]);
  await new Promise((resolve) => setImmediate(resolve));
  return { written, dead: process.dead, calls: process.calls };
}

test('a process that dies at a call has carried it out or not, and neither catches nor tidies up', async () => {
  const work = async (port: ReturnType<typeof makeWorld>['port']) => {
    try {
      await port.write('one');
      await port.write('two');
    } catch {
      await port.write('caught');
    } finally {
      port.send('tidied');
    }
  };
  expect((await liveTo({ call: 2, when: 'before' }, work)).written).toEqual(['one']);
  expect((await liveTo({ call: 2, when: 'after' }, work)).written).toEqual(['one', 'two']);
  expect((await liveTo(undefined, work)).written).toEqual(['one', 'two', 'tidied']);
});

test('what runs beside the call at which it dies reaches nothing any more', async () => {
  const { written, dead } = await liveTo({ call: 1, when: 'after' }, async (port) => {
    const beside = new Promise((resolve) => setImmediate(resolve)).then(() => port.write('late'));
    await Promise.all([port.write('first'), beside]);
  });
  expect({ written, dead }).toEqual({ written: ['first'], dead: true });
});

test('a refusal of the port is thrown, and dying of it is not', async () => {
  let thrown = false;
  const work = async (port: ReturnType<typeof makeWorld>['port']) => {
    await port.refuse().catch(() => {
      thrown = true;
    });
  };
  await liveTo({ call: 1, when: 'after' }, work);
  expect(thrown).toBe(false);
  await liveTo(undefined, work);
  expect(thrown).toBe(true);
});

test('a call that takes a function has its points at the begin, inside and at the end', async () => {
  const work = (port: ReturnType<typeof makeWorld>['port']) => port.within(() => port.write('inside'));
  const at = async (point?: DeathPoint) => (await liveTo(point, work)).written;
  expect(await at({ call: 1, when: 'before' })).toEqual([]);
  expect(await at({ call: 1, when: 'after' })).toEqual(['begin']);
  expect(await at({ call: 2, when: 'after' })).toEqual(['begin', 'inside']);
  expect(await at({ call: 3, when: 'before' })).toEqual(['begin', 'inside']);
  expect(await at({ call: 3, when: 'after' })).toEqual(['begin', 'inside', 'end']);
  expect((await liveTo(undefined, work)).calls).toEqual(['world.within', 'world.write', 'world.within ends']);
});

test('an answer in pieces has come whole or not at all', async () => {
  const work = async (port: ReturnType<typeof makeWorld>['port']) => {
    for await (const piece of port.pieces()) port.send(piece);
  };
  expect((await liveTo({ call: 1, when: 'before' }, work)).written).toEqual([]);
  expect((await liveTo({ call: 1, when: 'after' }, work)).written).toEqual(['asked']);
  expect((await liveTo(undefined, work)).written).toEqual(['one', 'asked', 'two']);
});

/** Work that is done once more where the process died of it. */
const twice =
  (work: (port: ReturnType<typeof makeWorld>['port'], written: readonly string[]) => Promise<void>) =>
  async (process: MortalProcess) => {
    const { written, port } = makeWorld();
    const ended = await Promise.race([
      work(process.wrap('world', port), written).then(() => true),
      process.died.then(() => false),
    ]);
    if (!ended) await work(port, written);
    return written;
  };

test('every point is tried, and one that ends otherwise is told with the call', async () => {
  const once = twice(async (port, written) => {
    if (!written.includes('effect')) await port.write('effect');
    if (!written.includes('told')) await port.write('told');
  });
  expect(await tryEveryPoint({ name: 'once', live: once })).toBe(4);
  const careless = twice(async (port, written) => {
    await port.write('effect');
    if (!written.includes('told')) await port.write('told');
  });
  await expect(tryEveryPoint({ name: 'careless', live: careless })).rejects.toThrow(
    /otherwise at 3 of 4 points\ndead before 2\. world\.write:/,
  );
});
