import { FIRST_PAGE, isAnyExpired } from '../deletion/list-expired-requests.ts';
import { startExpiry } from '../executions/executions.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { type Clock, systemClock } from '../time.ts';

/**
 * Starts an execution that removes the files of expired requests, if there are any. Time is divided into spans of
 * half the interval between two runs, and at most one is started in each. Never rejects: an error is logged, and a later check starts it.
 */
export const startExpiryIfDue = async (everySeconds: number, clock: Clock = systemClock): Promise<void> => {
  try {
    if (!(await isAnyExpired(clock))) return;
    const spanMs = everySeconds * 500;
    await startExpiry(new Date(Math.floor(clock.now().getTime() / spanMs) * spanMs), FIRST_PAGE);
  } catch (error) {
    logger.error('the expiry could not be started', { error: error as Error });
    countMetric(METRIC.reconcileFailed, {});
  }
};
