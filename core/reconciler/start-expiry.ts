import { FIRST_PAGE, isAnyExpired } from '../deletion/list-expired-requests.ts';
import { startExpiry } from '../executions/executions.ts';
import { countMetric, METRIC, runOrLog } from '../observability.ts';
import { type Clock, systemClock } from '../time.ts';

/**
 * Starts an execution that removes the files of expired requests, if there are any. Time is divided into spans of
 * half the interval between two runs, and at most one execution is started in each span. Returns whether files have expired and
 * the span has its execution. Never rejects: an error is logged, and a later check starts the execution.
 */
export const startExpiryIfDue = async (
  everySeconds: number,
  clock: Clock = systemClock,
): Promise<boolean> => {
  const start = async (): Promise<boolean> => {
    if (!(await isAnyExpired(clock))) return false;
    const spanMs = everySeconds * 500;
    await startExpiry(new Date(Math.floor(clock.now().getTime() / spanMs) * spanMs), FIRST_PAGE);
    return true;
  };
  return runOrLog({ message: 'the expiry could not be started' }, start, () => {
    countMetric(METRIC.reconcileFailed, {});
    return false;
  });
};
