import { jest } from '@jest/globals';

/** Functions of the process that are never faked. */
const REAL = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
] as const;

/** Fakes `Date` and `setTimeout`, from an instant on. */
export const fakeTimeFrom = (now: Date): void => {
  jest.useFakeTimers({ now, doNotFake: [...REAL] });
};

/** Runs all timers until the promise settles. */
export const settle = async <T>(run: Promise<T>): Promise<T> => {
  const result = run.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error;
    },
  );
  await jest.runAllTimersAsync();
  return (await result)();
};

/** Stops `Date` at an instant; timers stay real. */
export const stopTime = (now: Date): void => {
  jest.useFakeTimers({ now, doNotFake: [...REAL, 'setTimeout', 'clearTimeout'] });
};
