import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLoad } from '../../src/functions/load.ts';
import type { FunctionWorker } from '../../src/functions/worker.ts';

/** Far more than this thread uses. */
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
const hasRoomBeside = (workers: FunctionWorker[], others: FunctionWorker[]): boolean => {
  const load = createLoad(PROCESSORS);
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

  test('once the threads that kept the processors busy have ended', () => {
    const ended = Array.from({ length: 4 }, () => aWorker(1, false));

    expect(hasRoomBeside(computing(1), ended)).toBe(true);
  });
});
