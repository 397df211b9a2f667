import type { Clock } from '../clock.ts';
import { logger } from '../observability.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { type Cause, type Sign, signOfCall, signOfTask } from './circuit-rules.ts';
import { closeCircuit, countEnds, openCircuit, reopenCircuit } from './circuits.ts';

/** The request of some attempts. */
type Told = Pick<StoredRequest, 'requestId'>;

/**
 * Tells the circuit of a route how the creation calls of a run ended there. `waitedInVain` is true when the request goes elsewhere because
 * the provider was too busy for too long. `cause` is what the route was left out for, when the calls were to try it.
 * Writes nothing while all works, nor for a model with one route. Never rejects.
 */
export const reportCalls = (
  request: Told,
  made: readonly ProviderAttempt[],
  { waitedInVain, cause }: { waitedInVain: boolean; cause: Cause | undefined },
  clock: Clock,
): Promise<void> =>
  quietly(request, async () => {
    const [first] = made;
    if (first?.circuit === undefined) return;
    const route = routeNameOf(first);
    const signs = made.map(signOfCall);
    const now = clock.now();
    const has = (sign: Sign): boolean => signs.includes(sign);
    if (first.circuit === 'probe') {
      const isOpen = has('bad') || has('refused') || !(has('good') || has('accepted'));
      if (isOpen) await reopenCircuit(route, request.requestId, now);
      else if (has('good') || cause !== 'tasks') await closeCircuit(route, request.requestId, now);
      return;
    }
    if (has('refused')) return openCircuit(route, 'access', now);
    await count(route, signs, { first, more: waitedInVain ? 1 : 0, cause: 'calls' }, now);
  });

/** As `reportCalls`, for the tasks of a request that ends. */
export const reportTasks = (
  request: Told,
  attempts: readonly ProviderAttempt[],
  clock: Clock,
): Promise<void> =>
  quietly(request, async () => {
    const [first] = attempts;
    if (first?.circuit === undefined) return;
    const route = routeNameOf(first);
    const signs = attempts.map(signOfTask);
    const now = clock.now();
    if (first.circuit !== 'probe') return count(route, signs, { first, more: 0, cause: 'tasks' }, now);
    if (signs.includes('bad')) await reopenCircuit(route, request.requestId, now);
    else if (signs.includes('good')) await closeCircuit(route, request.requestId, now);
  });

const count = async (
  route: string,
  signs: readonly Sign[],
  { first, more, cause }: { first: ProviderAttempt; more: number; cause: Cause },
  now: Date,
): Promise<void> => {
  const number = (sign: Sign): number => signs.filter((one) => one === sign).length;
  const bad = number('bad') + more;
  const good = first.circuit === 'all' ? number('good') : 0;
  if (bad + good > 0) await countEnds(route, { bad, good }, cause, now);
};

/** A circuit that cannot be written must not cost a request its result. */
const quietly = async ({ requestId }: Told, act: () => Promise<void>): Promise<void> => {
  try {
    await act();
  } catch (error) {
    logger.error('a circuit could not be told', { requestId, error: error as Error });
  }
};
