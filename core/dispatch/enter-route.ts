import { releasePermit, startWith } from '../admission/admission.ts';
import { isLimited, routeLimitOf, weightOf } from '../admission/route-limit-rules.ts';
import { findRouteLimit, type HeldPermit, takePermit } from '../admission/route-limits.ts';
import { Pace } from '../concurrency/pace.ts';
import type { NextStep, QueuePosition } from '../executions/step-rules.ts';
import { isBusyAttempt, latestAttempts, repeatableAt } from '../provider-calls/attempt-rules.ts';
import type { PlannedAttempt } from '../provider-calls/claim-attempts.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { callbackUrl } from '../provider-calls/provider-urls.ts';
import type {
  ProviderCall,
  ProviderPlan,
  ProviderRoute,
  ProviderRouteOf,
} from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-names.ts';
import type { Assignment, StoredRequest } from '../requests/request-rules.ts';
import { takeTrial } from '../route-pauses/route-states.ts';
import { type Clock, type Instant, toInstant } from '../time.ts';
import {
  assignDestination,
  currentAttempts,
  type Destination,
  findDestination,
  findProvider,
} from './assign-route.ts';
import { leavesAt, NO_ROUTE, notTaken, retryAt } from './dispatch-rules.ts';
import { withSignedInputs } from './sign-inputs.ts';
import { withSound } from './sound.ts';

/** The start of a dispatch. */
export interface Beginning {
  request: StoredRequest;
  /** All attempts of the request, those of dead processes with their outcomes. */
  all: readonly ProviderAttempt[];
  deadline: Instant;
  providerRouteOf: ProviderRouteOf;
  clock: Clock;
}

/** A request that has entered its route, with the plan of its calls and the calls to make now. */
export interface AtRoute {
  kind: 'at-route';
  assignment: Assignment;
  provider: ProviderRoute;
  plan: ProviderPlan;
  /** The latest attempts under the assignment, and the next attempt of each call that is to be made now. */
  current: readonly ProviderAttempt[];
  due: PlannedAttempt[];
  /** Undefined for an unlimited route, and when no call is to be made. */
  held: HeldPermit | undefined;
  pace: Pace;
  passedOver: ProviderAttempt['passedOver'];
}

/**
 * The result of entering a route: the request may call the provider, waits in the route's queue, or continues with another
 * workflow step.
 */
export type RouteEntry =
  | AtRoute
  | { kind: 'queue'; position: QueuePosition }
  | { kind: 'step'; step: NextStep };

const again = (now: Date): RouteEntry => ({ kind: 'step', step: retryAt(now, now, now) });

/**
 * Assigns a request its route, and takes a permit there. An unusable route is passed over: a provider without a key, an upstream
 * model that does not take a field of the request, or a paused route that is full or on trial.
 */
export const enterRoute = async (beginning: Beginning): Promise<RouteEntry> => {
  const { request, all, clock, providerRouteOf } = beginning;
  const except = new Map<string, string>();
  const untaken = new Map<string, string>();
  let error = NO_ROUTE;
  for (;;) {
    const destination = await findDestination(request, all, { except, untaken }, clock.now());
    if (!destination) return { kind: 'step', step: { next: 'fail', error } };
    const { choice } = destination;
    if (choice.kind === 'pause') return { kind: 'step', step: throughPause(beginning, choice.until) };
    const provider = await findProvider(request, destination, providerRouteOf, clock.now());
    // Its provider has no key: the next choice is made without it.
    if (!provider) continue;
    const plan = await planAt(beginning, provider);
    // Calls that were made stay: another release may have sent less.
    if (plan.untaken !== undefined && !destination.isFixed) {
      untaken.set(choice.route, `its model takes no ${plan.untaken}`);
      error = notTaken(plan.untaken);
      continue;
    }
    const assignment = await assignDestination(request, all, destination, clock);
    if (!assignment) return again(clock.now());
    request.assignment = assignment;
    const entry = await enterAt({ ...beginning, assignment, destination, provider, plan });
    if (entry !== 'full' && entry !== 'tried') return entry;
    except.set(choice.route, entry === 'full' ? 'it is full, and paused' : 'another request tries it');
  }
};

/** The step of a request that its route was too busy for, while the route is paused. */
const throughPause = ({ request, all, deadline, clock }: Beginning, until: Instant): NextStep => {
  const leaves = leavesAt(currentAttempts(request, all));
  const last = new Date(Math.min(leaves.getTime(), Date.parse(deadline)));
  return retryAt(new Date(until), last, clock.now());
};

/** The calls of a request at a provider. */
const planAt = async ({ request, deadline }: Beginning, { provider, upstreamModel }: ProviderRoute) => {
  const planned = await withSignedInputs(request, deadline);
  const said = withSound(planned, { provider: provider.id, upstreamModel });
  return provider.plan(said, upstreamModel, await callbackUrl(provider.id, request.requestId));
};

interface Assigned extends Beginning {
  assignment: Assignment;
  destination: Destination;
  provider: ProviderRoute;
  plan: ProviderPlan;
}

/** Takes a permit of the assigned route if calls are to be made there; of a paused route, the trial as well. */
const enterAt = async (assigned: Assigned): Promise<RouteEntry | 'full' | 'tried'> => {
  const { request, all, clock, assignment, destination, provider, plan } = assigned;
  const { choice, options } = destination;
  const current = latestAttempts(currentAttempts(request, all));
  const name = routeNameOf({ provider: provider.provider.id, upstreamModel: provider.upstreamModel });
  const limit = findRouteLimit(name) ?? routeLimitOf(name, {});
  const starts = callsToMake(plan.calls, current, all).length;
  const wanted = { weight: weightOf(starts, limit), starts };
  const position = { route: limit.name, ...wanted, ...(options && { routes: options }) };
  if (choice.kind === 'wait') return { kind: 'queue', position };
  const isTrial = choice.kind === 'go' && choice.isTrial;
  const { requestId, accountId } = request;
  const needsPermit = starts > 0 && isLimited(limit);
  const held = needsPermit
    ? await takePermit(limit, { requestId, accountId, ...wanted }, clock.now())
    : undefined;
  if (needsPermit && !held) return isTrial ? 'full' : { kind: 'queue', position };
  if (isTrial && !(await takeTrial(name, clock.now()))) {
    if (held) await releasePermit(request, name, clock, held.permit.takenMs);
    return 'tried';
  }
  if (held) await startWith(request, held, clock);
  return {
    kind: 'at-route',
    ...{ assignment, provider, plan, current, held },
    due: callsToMake(plan.calls, current, all, clock.now()),
    pace: new Pace(held?.permit.weight ?? plan.calls.length, limit.intervalMs ?? 0, () =>
      clock.now().getTime(),
    ),
    passedOver: choice.kind === 'go' ? choice.passedOver : undefined,
  };
};

/**
 * The planned calls that were never made at this route, or that a busy provider lets us repeat, each with its next attempt. With
 * `now`, only calls whose wait is over. `current` are the latest attempts under the assignment, `all` the attempts under every
 * assignment.
 */
const callsToMake = (
  calls: readonly ProviderCall[],
  current: readonly ProviderAttempt[],
  all: readonly ProviderAttempt[],
  now?: Date,
): PlannedAttempt[] => {
  const next = 1 + Math.max(-1, ...all.map(({ attempt }) => attempt));
  return calls.flatMap((_, call) => {
    const last = current.find((attempt) => attempt.call === call);
    if (!last) return [{ call, attempt: next }];
    return isBusyAttempt(last) && (now === undefined || repeatableAt(last) <= toInstant(now))
      ? [{ call, attempt: last.attempt + 1 }]
      : [];
  });
};
