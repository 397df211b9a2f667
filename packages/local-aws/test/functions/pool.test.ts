import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createPool, type WorkerPool } from '../../src/functions/pool.ts';
import type { FunctionWorker } from '../../src/functions/worker.ts';

const PATIENCE = 200;
const IDLE = 300_000;

let pool: WorkerPool;
let started: number;
let ended: number;
/** How long the next workers take to start, and how long each event takes, in milliseconds. */
let startTime: number;
let eventTime: number;
/** Whether the processors have time for another thread. */
let hasRoom: boolean;
/** Whether there may be another thread beside those of all functions. */
let mayGrow: boolean;

const startSlowWorker = (): FunctionWorker => {
  started += 1;
  return {
    ready: new Promise((resolve) => setTimeout(() => resolve(undefined), startTime)),
    run: () => new Promise((resolve) => setTimeout(() => resolve({ payload: null }), eventTime)),
    takeUtilization: () => 0,
    isAlive: () => true,
    terminate: async () => {
      ended += 1;
    },
  };
};

beforeEach(() => {
  jest.useFakeTimers();
  started = 0;
  ended = 0;
  eventTime = 60_000;
  hasRoom = true;
  mayGrow = true;
  pool = createPool(
    startSlowWorker,
    { maxWorkers: 4, idleMilliseconds: IDLE, patienceMilliseconds: PATIENCE },
    {
      watch: () => undefined,
      hasRoomBeside: () => hasRoom,
      join: () => undefined,
      makeRoom: () => mayGrow,
    },
  );
});
afterEach(() => {
  jest.useRealTimers();
});

const invoke = () => {
  pool.invoke('{}').catch(() => undefined);
};

/** One event is running on the only worker, and another one is queued. */
const queueBehindOne = async () => {
  invoke();
  await jest.advanceTimersByTimeAsync(startTime);
  invoke();
};

/** How many workers were started, so many milliseconds later. */
const startedAfter = async (milliseconds: number): Promise<number> => {
  await jest.advanceTimersByTimeAsync(milliseconds);
  return started;
};

describe('A pool of worker threads', () => {
  test('starts the first worker at once', () => {
    startTime = 10;
    invoke();

    expect(started).toBe(1);
  });

  test('starts another one for an event that has waited for its patience', async () => {
    startTime = 10;
    await queueBehindOne();

    expect(await startedAfter(PATIENCE - 1)).toBe(1);
    expect(await startedAfter(1)).toBe(2);
  });

  test('waits for a busy worker at least as long as the newest start took', async () => {
    startTime = 3000;
    await queueBehindOne();

    expect(await startedAfter(startTime - 1)).toBe(1);
    expect(await startedAfter(1)).toBe(2);
  });

  test('starts no other while the processors have no time for it, unless an event has waited ten times as long', async () => {
    startTime = 10;
    hasRoom = false;
    await queueBehindOne();

    expect(await startedAfter(10 * PATIENCE - 1)).toBe(1);
    expect(await startedAfter(1)).toBe(2);
  });

  test('starts its first worker however many threads there are, and another once there may be', async () => {
    startTime = 10;
    mayGrow = false;
    invoke();
    expect(await startedAfter(startTime)).toBe(1);
    invoke();
    expect(await startedAfter(20 * PATIENCE)).toBe(1);
    mayGrow = true;

    expect(await startedAfter(PATIENCE)).toBe(2);
  });

  test('ends an idle worker for another pool, and none that runs an event', async () => {
    startTime = 10;
    eventTime = 1_000;
    invoke();
    await jest.advanceTimersByTimeAsync(startTime);
    expect(pool.endIdle()).toBe(false);
    await jest.advanceTimersByTimeAsync(eventTime);

    expect(pool.endIdle()).toBe(true);
    expect(pool.endIdle()).toBe(false);
    invoke();
    expect(started).toBe(2);
  });

  test('starts another one soon after the processors have time again', async () => {
    startTime = 10;
    hasRoom = false;
    await queueBehindOne();
    await jest.advanceTimersByTimeAsync(2 * PATIENCE);
    hasRoom = true;

    expect(await startedAfter(PATIENCE)).toBe(2);
  });

  test('starts no other while events come to their end, unless one has waited ten times as long', async () => {
    startTime = 10;
    eventTime = PATIENCE / 2;
    hasRoom = false;
    for (let events = 0; events < 100; events++) invoke();

    expect(await startedAfter(10 * PATIENCE - 1)).toBe(1);
    expect(await startedAfter(startTime + PATIENCE)).toBe(2);
  });

  test('starts another one while the load has room, each time there was always an event in the queue for five times as long', async () => {
    startTime = 10;
    eventTime = PATIENCE / 4;
    for (let events = 0; events < 1_000; events++) invoke();

    expect(await startedAfter(5 * PATIENCE - 1)).toBe(1);
    expect(await startedAfter(1)).toBe(2);
    expect(await startedAfter(5 * PATIENCE - 1)).toBe(2);
    expect(await startedAfter(1)).toBe(3);
  });

  test('starts no other where the queue was empty now and then', async () => {
    startTime = 10;
    eventTime = PATIENCE / 4;
    for (let round = 0; round < 20; round++) {
      invoke();
      invoke();
      await jest.advanceTimersByTimeAsync(PATIENCE);
    }

    expect(started).toBe(1);
  });

  test('ends its idle workers, the last of them later than others', async () => {
    startTime = 10;
    await queueBehindOne();
    await jest.advanceTimersByTimeAsync(2 * PATIENCE + eventTime);
    expect([started, ended]).toEqual([2, 0]);

    await jest.advanceTimersByTimeAsync(IDLE / 6);
    expect(ended).toBe(1);
    await jest.advanceTimersByTimeAsync(IDLE / 2);
    expect(ended).toBe(1);
    await jest.advanceTimersByTimeAsync(IDLE / 2);
    expect(ended).toBe(2);
  });

  test('starts each further one after a longer time while the processors are busy', async () => {
    startTime = 10;
    hasRoom = false;
    for (let events = 0; events < 100; events++) invoke();

    expect(await startedAfter(9 * PATIENCE)).toBe(1);
    expect(await startedAfter(2 * PATIENCE)).toBe(2);
    expect(await startedAfter(18 * PATIENCE)).toBe(2);
    expect(await startedAfter(3 * PATIENCE)).toBe(3);
    expect(await startedAfter(27 * PATIENCE)).toBe(3);
    expect(await startedAfter(3 * PATIENCE)).toBe(4);
  });

  test('starts another one for an event that has waited for 10 s, however long a start takes', async () => {
    startTime = 3_000;
    hasRoom = false;
    await queueBehindOne();

    expect(await startedAfter(9_999)).toBe(1);
    expect(await startedAfter(1)).toBe(2);
  });
});
