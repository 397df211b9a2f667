import './environment.ts';
import { jest } from '@jest/globals';
import type { ProviderRouteOf } from '../../../core/provider-calls/providers.ts';
import { type CheckResult, checkDue } from '../../../core/reconciler/check.ts';
import { type RunOptions, runReconciler } from '../../../core/reconciler/loop.ts';
import { listDue } from '../../../core/requests/due-items.ts';
import { systemClock, toInstant } from '../../../core/time.ts';
import { atSeconds, NOW, StoppedClock } from './clocks.ts';
import { fakeTimeFrom } from './stop-time.ts';

/** Fakes the date and the timers that a run of the reconciler waits with, from `NOW` on. */
export const fakeTime = (): void => {
  fakeTimeFrom(NOW);
};

/** Waits in faked time. */
export const wait = (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** The faked time, in seconds from `NOW`. */
export const elapsed = (): number => (Date.now() - NOW.getTime()) / 1000;

/** Lets the faked time pass until some work is done. */
export const passing = async <T>(work: Promise<T>): Promise<T> => {
  let isDone = false;
  void work.catch(() => undefined).finally(() => (isDone = true));
  // The work may be between two timers.
  for (let flush = 0; !isDone && flush < 2; flush++) await new Promise(setImmediate);
  while (!isDone) await jest.advanceTimersToNextTimerAsync();
  return work;
};

/** Begins a run of the reconciler in faked time; resolves to the second at which it ended. */
export const beginRun = async (
  providerRouteOf: ProviderRouteOf,
  options: Partial<RunOptions> = {},
): Promise<number> => {
  await runReconciler({
    ...{ providerRouteOf, everySeconds: 60, functionName: 'reconcile', clock: systemClock },
    pause: (milliseconds) => wait(milliseconds / 1000),
    ...options,
  });
  return elapsed();
};

/** A run of the reconciler, from its start to its end. */
export const run = (...args: Parameters<typeof beginRun>): Promise<number> => passing(beginRun(...args));

const always = () => true;
/** Looks once at all that is due at this second, longest due first. Tasks are queried and cancelled at once. */
export const checkDueItems = async (
  seconds: number,
  providerRouteOf: ProviderRouteOf,
  keepGoing = always,
): Promise<CheckResult[]> => {
  const clock = new StoppedClock(atSeconds(seconds));
  const options = { clock, providerRouteOf, keepGoing };
  const checks: CheckResult[] = [];
  for (const list of ['START', 'CHECK'] as const) {
    for (const due of (await listDue(list, toInstant(clock.now()), 1000)).items) {
      const checked = await checkDue(due, options);
      checks.push(checked.kind === 'provider' ? await checked.rest.act((query) => query()) : checked);
    }
  }
  return checks;
};
