import { logger } from '../observability.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { routeNameOf } from '../provider-names.ts';
import type { Clock } from '../time.ts';
import { type Cause, type Sign, signOfCall, signOfTask, WORKS } from './circuit-rules.ts';
import { closeCircuit, countEnds, openCircuit, reopenCircuit } from './circuits.ts';

/** A run of calls at a route. */
export interface CallsMade {
  /** The name of the route. */
  route: string;
  /** How their ends count; undefined for a model with one route. */
  role: ProviderAttempt['circuit'];
  /** Why the route was left out, when the calls try it. */
  cause: Cause | undefined;
  /** None when the request had ended before. */
  made: readonly ProviderAttempt[];
  /** Whether the request goes elsewhere because the provider was too busy for too long. */
  waitedInVain: boolean;
}

/**
 * Tells the circuit of a route how the creation calls of a run ended there. Writes nothing while all works, nor for a model with one
 * route. Never rejects.
 */
export const reportCalls = (
  requestId: string,
  { route, role, cause, made, waitedInVain }: CallsMade,
  clock: Clock,
): Promise<void> =>
  quietly(requestId, async () => {
    if (role === undefined) return;
    const now = clock.now();
    const signs = made.map(signOfCall);
    const has = (sign: Sign): boolean => signs.includes(sign);
    if (role === 'probe') {
      const hasFailed = has('bad') || has('refused');
      // Only what it makes shows that a route works whose tasks failed.
      const works = !hasFailed && (cause === 'tasks' ? has('done') : WORKS.some(has));
      // Its task is still to end.
      if (!works && !hasFailed && has('accepted')) return;
      return endProbe(route, requestId, works, now);
    }
    if (has('refused')) return openCircuit(route, 'access', now);
    const ends = endsIn(signs, role);
    await countEnds(route, 'calls', { ...ends, bad: ends.bad + (waitedInVain ? 1 : 0) }, now);
  });

/** As `reportCalls`, for the tasks of a request that ends. */
export const reportTasks = (
  requestId: string,
  attempts: readonly ProviderAttempt[],
  clock: Clock,
): Promise<void> =>
  quietly(requestId, async () => {
    const told = attempts.find(({ circuit }) => circuit === 'probe') ?? attempts[0];
    if (told?.circuit === undefined) return;
    const route = routeNameOf(told);
    const signs = attempts.map(signOfTask);
    if (told.circuit !== 'probe') return countEnds(route, 'tasks', endsIn(signs, told.circuit), clock.now());
    const works = !signs.includes('bad') && WORKS.some((sign) => signs.includes(sign));
    await endProbe(route, requestId, works, clock.now());
  });

const endProbe = (route: string, requestId: string, works: boolean, now: Date): Promise<void> =>
  works ? closeCircuit(route, requestId, now) : reopenCircuit(route, requestId, now);

/** What worked is counted only while something fails. */
const endsIn = (signs: readonly Sign[], role: 'failures' | 'all') => ({
  bad: signs.filter((sign) => sign === 'bad').length,
  good: role === 'all' ? signs.filter((sign) => WORKS.includes(sign)).length : 0,
});

/** A circuit that cannot be written must not cost a request its result. */
const quietly = async (requestId: string, act: () => Promise<void>): Promise<void> => {
  try {
    await act();
  } catch (error) {
    logger.error('a circuit could not be told', { requestId, error: error as Error });
  }
};
