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

const aWorker = (utilization: number, isAlive = true): FunctionWorker => ({
  ready: Promise.resolve(undefined),
  run: async () => ({ payload: null }),
  takeUtilization: () => utilization,
  isAlive: () => isAlive,
  terminate: async () => undefined,
});
const hasRoomBeside = (workers: FunctionWorker[], others: FunctionWorker[], own = 0): boolean => {
  const load = createLoad({ processors: PROCESSORS, takeOwnUtilization: () => own });
  for (const worker of [...workers, ...others]) load.watch(worker);
  jest.advanceTimersByTime(100);
  return load.hasRoomBeside(new Set(workers));
};
const computing = (count: number) => Array.from({ length: count }, () => aWorker(1));

describe('Beside the workers of a function there is room for another', () => {
  test('while a processor is free', () => {
    expect(hasRoomBeside(computing(1), [])).toBe(true);
  });

  test('not while they compute and all processors are busy, whatever function keeps them so', () => {
    expect(hasRoomBeside(computing(1), computing(3))).toBe(false);
    expect(hasRoomBeside(computing(4), [])).toBe(false);
  });

  test('while most of them wait for others, however busy the processors are', () => {
    expect(hasRoomBeside([aWorker(0.1), aWorker(0.2), aWorker(1)], computing(4))).toBe(true);
  });

  test('not while the thread that answers their calls is busy', () => {
    expect(hasRoomBeside([aWorker(0.1)], [], 0.95)).toBe(false);
  });

  test('once the threads that kept the processors busy have ended', () => {
    const ended = Array.from({ length: 4 }, () => aWorker(1, false));

    expect(hasRoomBeside(computing(1), ended)).toBe(true);
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
