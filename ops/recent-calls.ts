import { listAccounts } from '../core/accounts/accounts.ts';
import { inParallel } from '../core/concurrency/in-parallel.ts';
import {
  type AttemptOutcome,
  listAttempts,
  type ProviderAttempt,
} from '../core/provider-calls/provider-attempts.ts';
import { routeNameOf } from '../core/provider-names.ts';
import { type RouteResult, resultOfCall } from '../core/route-pauses/pause-rules.ts';
import { addSeconds, type Instant, toInstant } from '../core/time.ts';
import { newestRequestIds } from './request-list.ts';

/** The time over which ended calls are counted. */
const COUNTED_SECONDS = 300;
/** The most that a video takes by default: an hour in the queue, an hour at its provider. */
const OLDEST_REQUEST_SECONDS = 7_200;
/** Newest requests whose calls are read. */
export const MOST_REQUESTS = 1_000;
/** Requests whose calls are read at once. */
const READ_AT_ONCE = 16;

/** What calls and tasks of a route ended with. */
export interface RouteCalls {
  /** Ended in the last five minutes. */
  ended: number;
  /** Of these, the failed ones. */
  failed: number;
  /** The last failed one of the requests that were read, with the provider's words. */
  lastError: { at: Instant; text: string } | null;
}

/** Recent calls by the names of their routes. */
export interface RecentCalls {
  routes: ReadonlyMap<string, RouteCalls>;
  /** Whether older requests of that time were left unread. */
  isCut: boolean;
}

const NO_CALLS: RouteCalls = { ended: 0, failed: 0, lastError: null };
/** The recent calls of a route. */
export const callsOfRoute = ({ routes }: RecentCalls, route: string): RouteCalls =>
  routes.get(route) ?? NO_CALLS;

/** A call failed when it is its provider's fault or ours: not for what a caller asked. */
const FAILED: readonly RouteResult[] = ['bad', 'refused', 'busy'];

/**
 * Counts the calls that ended in the last five minutes, by the attempts stored for the newest requests of the last two hours: every route has
 * them, also the only one of a model.
 */
export const readRecentCalls = async (now: Date): Promise<RecentCalls> => {
  const since = addSeconds(toInstant(now), -OLDEST_REQUEST_SECONDS);
  const ids: string[] = [];
  for await (const id of newestRequestIds(
    await listAccounts(),
    { since, limit: MOST_REQUESTS, page: 1 },
    now,
  )) {
    ids.push(id);
    if (ids.length > MOST_REQUESTS) break;
  }
  const attempts = await attemptsOf(ids.slice(0, MOST_REQUESTS));
  return { routes: countByRoute(attempts, now), isCut: ids.length > MOST_REQUESTS };
};

const attemptsOf = async (ids: readonly string[]): Promise<ProviderAttempt[]> => {
  const attempts: ProviderAttempt[] = [];
  await inParallel(ids, READ_AT_ONCE, async (id) => {
    attempts.push(...(await listAttempts(id)));
  });
  return attempts;
};

const countByRoute = (attempts: readonly ProviderAttempt[], now: Date): Map<string, RouteCalls> => {
  const countedFrom = addSeconds(toInstant(now), -COUNTED_SECONDS);
  const routes = new Map<string, RouteCalls>();
  for (const attempt of attempts) {
    const { finishedAt: at, outcome } = attempt;
    if (at === undefined) continue;
    const route = routeNameOf(attempt);
    const { ended, failed, lastError } = routes.get(route) ?? NO_CALLS;
    const counted = at >= countedFrom ? 1 : 0;
    const isFailed = FAILED.includes(resultOfCall(attempt));
    const isLast = isFailed && (lastError === null || at > lastError.at);
    routes.set(route, {
      ended: ended + counted,
      failed: failed + (isFailed ? counted : 0),
      lastError: isLast ? { at, text: errorText(outcome) } : lastError,
    });
  }
  return routes;
};

/** The provider's own error text of a failed call; without such a text, our message. */
const errorText = (outcome: AttemptOutcome | undefined): string => {
  switch (outcome?.kind) {
    case 'busy':
      return outcome.reason;
    case 'failed': {
      const { code, message } = outcome.upstream ?? outcome.failure;
      return message === undefined ? code : `${code}: ${message}`;
    }
    case 'lost':
      return outcome.failure.message;
    default:
      return '';
  }
};
