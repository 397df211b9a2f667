import { listRouteLoads } from '../admission/route-loads.ts';
import { creationTimeOf } from '../ids.ts';
import { toXTokens } from '../money.ts';
import { countMetric, METRIC, measure, runOrLog } from '../observability.ts';
import { END_OF_TIME, listDue, requestIdOf } from '../requests/due-items.ts';
import { isTerminal } from '../requests/request-rules.ts';
import { findRequests } from '../requests/requests.ts';
import { type Clock, secondsSince, systemClock, toInstant } from '../time.ts';

/** Metrics have a point in each span of 5 min. */
const SPAN_SECONDS = 300;
/** Items of each of the 4 partitions of a list that are counted: about 20 read units a partition. */
const PER_PARTITION = 1000;
/** Requests whose debits are read: one call. */
const SAMPLE_SIZE = 100;

/**
 * Reports metrics once in 5 min. Of open requests: their number, the age of the oldest, their debits, and the
 * longest delay of due work. Of each route with a limit: the number of waiting requests, the longest wait,
 * and the number of running calls. Requests with webhooks or files left to settle count as open. Never
 * rejects: an error is logged.
 */
export const surveyWork = async (everySeconds: number, clock: Clock = systemClock): Promise<void> => {
  const now = clock.now();
  if ((now.getTime() / 1000) % SPAN_SECONDS >= Math.max(60, everySeconds)) return;
  await runOrLog({ message: 'the open work could not be counted' }, async () => {
    const [start, check, expiring] = await Promise.all([
      listDue('START', END_OF_TIME, PER_PARTITION),
      listDue('CHECK', END_OF_TIME, PER_PARTITION),
      listDue('EXPIRE', toInstant(now), 1),
    ]);
    const ids = [...start.items, ...check.items].flatMap(requestIdOf);
    const firstDue = [start, check, expiring].flatMap(({ items }) => items[0]?.dueKey.GSI1SK ?? []).sort()[0];
    const oldest = ids.map(creationTimeOf).sort()[0];
    countMetric(METRIC.openRequests, {}, ids.length);
    measure(METRIC.oldestOpenRequest, {}, secondsSince(oldest, now));
    measure(METRIC.workOverdue, {}, secondsSince(firstDue, now));
    measure(METRIC.held, {}, await heldBy(ids));
    await surveyRoutes(now);
  });
};

const surveyRoutes = async (now: Date): Promise<void> => {
  const loads = await listRouteLoads();
  for (const [route, { running, waiting, oldestAt }] of loads) {
    countMetric(METRIC.requestsWaiting, { route }, waiting);
    if (running !== undefined) countMetric(METRIC.callsRunning, { route }, running);
    measure(METRIC.oldestWaitingOfRoute, { route }, secondsSince(oldestAt, now));
  }
  const oldest = [...loads.values()].flatMap(({ oldestAt }) => oldestAt ?? []).sort()[0];
  measure(METRIC.oldestWaiting, {}, secondsSince(oldest, now));
};

/** xTokens debited for requests that are unfinished: those of up to 100, spread over all, times their share. */
const heldBy = async (ids: readonly string[]): Promise<number> => {
  const step = Math.max(1, ids.length / SAMPLE_SIZE);
  const sample = Array.from(
    { length: Math.min(ids.length, SAMPLE_SIZE) },
    (_, index) => ids[Math.floor(index * step)] as string,
  );
  const { requests } = await findRequests([...new Set(sample)]);
  const debits = requests.map((request) => (isTerminal(request) ? 0 : request.debitThousandths));
  return toXTokens(Math.round(debits.reduce((sum, debit) => sum + debit, 0) * step));
};
