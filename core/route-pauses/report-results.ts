import { runOrLog } from '../observability.ts';
import { routesOf } from '../provider-calls/model-routes.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { routeNameOf } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import type { Clock } from '../time.ts';
import {
  type Counted,
  countName,
  type End,
  isFailing,
  isPaused,
  type RouteResult,
  type RouteState,
  resultOfCall,
  resultOfTask,
} from './pause-rules.ts';
import { addCounts, currentRouteStates, endPause, pauseRoute } from './route-states.ts';

type Owner = Pick<StoredRequest, 'requestId' | 'accountId' | 'model'>;

/** An attempt with what its end says about its route. */
interface Reported {
  attempt: ProviderAttempt;
  result: RouteResult;
}

/** Reports how creation calls of a request ended at their route. Never rejects. */
export const reportCalls = (request: Owner, made: readonly ProviderAttempt[], clock: Clock): Promise<void> =>
  report(
    request,
    'calls',
    made.map((attempt) => ({ attempt, result: resultOfCall(attempt) })),
    clock,
  );

/** Reports how the tasks of a request ended that ends. Never rejects. */
export const reportTasks = (
  request: Owner,
  attempts: readonly ProviderAttempt[],
  clock: Clock,
): Promise<void> =>
  report(
    request,
    'tasks',
    attempts.map((attempt) => ({ attempt, result: resultOfTask(attempt) })),
    clock,
  );

/** A state that cannot be written must not cost a request its result. A model with one route has none. */
const report = async (
  request: Owner,
  counted: Counted,
  reported: readonly Reported[],
  clock: Clock,
): Promise<void> => {
  const [first] = reported;
  if (!first) return;
  const { requestId, accountId, model } = request;
  const route = routeNameOf(first.attempt);
  const failure = { message: 'a route could not be reported on', requestId, accountId, model, route };
  await runOrLog(failure, async () => {
    if (routesOf(model).length < 2) return;
    await record({ route, accountId, counted }, reported, clock.now());
  });
};

/** The route of reported ends, and what they are counted by. */
interface Subject {
  route: string;
  accountId: string;
  counted: Counted;
}

const record = async (subject: Subject, reported: readonly Reported[], now: Date): Promise<void> => {
  const { route, counted } = subject;
  const state = await count(subject, reported, now);
  const latest = (result: RouteResult): ProviderAttempt | undefined =>
    reported.findLast((one) => one.result === result)?.attempt;
  const beganAfter = (attempt: ProviderAttempt): boolean =>
    isPaused(state) && attempt.startedAt > (state.pausedAt ?? '');
  const [refused, bad, busy, good] = [latest('refused'), latest('bad'), latest('busy'), latest('good')];
  const pause = (reason: Parameters<typeof pauseRoute>[1]['reason'], attempt: ProviderAttempt) =>
    pauseRoute(route, { reason, callAt: attempt.startedAt, retryAfterSeconds: retryAfterOf(attempt) }, now);
  if (refused) return pause('access', refused);
  if (bad && (beganAfter(bad) || isFailing(state, counted, now))) return pause(counted, bad);
  if (busy) return pause('busy', busy);
  if (good && beganAfter(good) && !bad)
    await endPause(route, counted === 'tasks' ? 'task' : 'call', good.startedAt, now);
};

const retryAfterOf = ({ outcome }: ProviderAttempt): number | undefined =>
  outcome?.kind === 'busy' ? outcome.retryAfterSeconds : undefined;

/** Interval at which a process writes the summed good ends of a route. */
const GOOD_EVERY_MS = 1_000;
/** The good ends that this process has not written yet, and when it wrote last, by route. */
const unwritten = new Map<string, { counts: Map<string, number>; writtenAtMs: number }>();

/** Counts ends. Bad ones are written at once, with the good ones before them. Returns the state of the route. */
const count = async (
  { route, accountId, counted }: Subject,
  reported: readonly Reported[],
  now: Date,
): Promise<RouteState> => {
  const kept = unwritten.get(route) ?? { counts: new Map(), writtenAtMs: Number.NEGATIVE_INFINITY };
  const counts = new Map(kept.counts);
  const add = (end: End): number => {
    const ends = reported.filter(({ result }) => result === end).length;
    const name = countName(counted, end, accountId, now);
    if (ends > 0) counts.set(name, (counts.get(name) ?? 0) + ends);
    return ends;
  };
  const isUrgent = add('bad') > 0;
  add('good');
  const isDue = Math.abs(now.getTime() - kept.writtenAtMs) >= GOOD_EVERY_MS;
  const isWritten = counts.size > 0 && (isUrgent || isDue);
  unwritten.set(route, {
    counts: isWritten ? new Map() : counts,
    writtenAtMs: isWritten ? now.getTime() : kept.writtenAtMs,
  });
  if (isWritten) return addCounts(route, counts, now);
  const [state] = (await currentRouteStates([route], now)).values();
  return state ?? { counts: new Map() };
};
