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

/** Stops `Date` at an instant; timers stay real. */
export const stopTime = (now: Date): void => {
  jest.useFakeTimers({ now, doNotFake: [...REAL, 'setTimeout', 'clearTimeout'] });
};
