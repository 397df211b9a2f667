import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLoad } from '../../src/functions/load.ts';
import type { FunctionWorker } from '../../src/functions/worker.ts';

const PROCESSORS = 4;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const aWorker = (
  utilization: number,
  isAlive = true,
  ready = Promise.resolve(undefined),
): FunctionWorker => ({
  ready,
  run: async () => ({ payload: null }),
  takeUtilization: () => utilization,
  isAlive: () => isAlive,
  terminate: async () => undefined,
});
const SAMPLE = 100;
const hasRoomBeside = async (
  workers: FunctionWorker[],
  others: FunctionWorker[],
  own = 0,
  takenByProcess = 0,
): Promise<boolean> => {
  const processorTime = () => takenByProcess * performance.now();
  const load = createLoad({ processors: PROCESSORS, takeOwnUtilization: () => own, processorTime });
  for (const worker of [...workers, ...others]) load.watch(worker);
  await jest.advanceTimersByTimeAsync(SAMPLE);
  return load.hasRoomBeside(new Set(workers));
};
const computing = (count: number) => Array.from({ length: count }, () => aWorker(1));

describe('Beside the workers of a function there is room for another', () => {
  test('while a processor is free', async () => {
    expect(await hasRoomBeside(computing(1), [])).toBe(true);
    expect(await hasRoomBeside(computing(2), [])).toBe(true);
  });

  test('when there is one for each processor, only while most of them wait half of their time', async () => {
    expect(
      await hasRoomBeside(
        [0.4, 0.4, 0.4, 0.6].map((share) => aWorker(share)),
        [],
      ),
    ).toBe(true);
    expect(
      await hasRoomBeside(
        [0.4, 0.4, 0.6, 0.6].map((share) => aWorker(share)),
        [],
      ),
    ).toBe(false);
  });

  test('not while three quarters of the processors are busy, whatever function keeps them so', async () => {
    expect(await hasRoomBeside(computing(1), computing(1))).toBe(true);
    expect(await hasRoomBeside(computing(1), computing(2))).toBe(false);
    expect(await hasRoomBeside(computing(3), [])).toBe(false);
    expect(await hasRoomBeside([aWorker(0.3)], computing(4))).toBe(false);
  });

  test('not while this process takes two thirds of the processors, however much its threads wait', async () => {
    expect(await hasRoomBeside([aWorker(0.2)], [], 0, 0.6 * PROCESSORS)).toBe(true);
    expect(await hasRoomBeside([aWorker(0.2)], [], 0, 0.7 * PROCESSORS)).toBe(false);
  });

  test('while most of them do nothing but wait, however busy the processors are', async () => {
    expect(await hasRoomBeside([aWorker(0.05), aWorker(0), aWorker(1)], computing(4))).toBe(true);
  });

  test('not while others are being loaded, which keeps a processor busy each', async () => {
    const loading = () => aWorker(0, true, new Promise(() => undefined));

    expect(await hasRoomBeside(computing(1), [loading(), loading()])).toBe(false);
  });

  test('not while the thread that answers their calls is busy', async () => {
    expect(await hasRoomBeside([aWorker(0)], [], 0.95)).toBe(false);
  });

  test('once the threads that kept the processors busy have ended', async () => {
    const ended = Array.from({ length: 4 }, () => aWorker(1, false));

    expect(await hasRoomBeside(computing(1), ended)).toBe(true);
  });
});

describe('Another thread', () => {
  const withThreads = (workers: FunctionWorker[], endIdle: () => boolean) => {
    const load = createLoad({ processors: PROCESSORS, maxThreads: 2 });
    for (const worker of workers) load.watch(worker);
    load.join(endIdle);
    return load.makeRoom();
  };

  test('may start while there are fewer than the most, those that ended not counted', () => {
    expect(withThreads([aWorker(0), aWorker(0, false)], () => false)).toBe(true);
  });

  test('may start in place of an idle one of any pool, and not beside the most', () => {
    expect(withThreads([aWorker(0), aWorker(0)], () => true)).toBe(true);
    expect(withThreads([aWorker(0), aWorker(0)], () => false)).toBe(false);
  });
});
