import { giveBack, giveOwnPermitBack, startWith } from '../admission/admission.ts';
import { gateNameOf, gateOf, isLimited, weightOf } from '../admission/gate-rules.ts';
import { findGate, type Pass, takePermit } from '../admission/gates.ts';
import { probeEnd } from '../circuits/circuit-rules.ts';
import { claimProbe } from '../circuits/circuits.ts';
import { Pace } from '../concurrency/pace.ts';
import { requiredNumberEnv } from '../environment.ts';
import type { QueuePosition } from '../executions/step-rules.ts';
import { isBusyAttempt, repeatableAt } from '../provider-calls/attempt-rules.ts';
import type { PlannedAttempt } from '../provider-calls/claim-attempts.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { callbackUrl } from '../provider-calls/provider-urls.ts';
import type { ProviderCall, ProviderRouteOf } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { dueListOf } from '../table/keys.ts';
import { addSeconds, type Clock, type Instant, toInstant } from '../time.ts';
import { type Choice, chooseRoute, findRoute } from './choose-route.ts';
import type { CallRun } from './make-calls.ts';
import { withSignedInputs } from './sign-inputs.ts';

/** What a run begins with: all attempts of the request, and the latest ones at its route. */
interface Beginning {
  all: readonly ProviderAttempt[];
  stored: readonly ProviderAttempt[];
  deadline: Instant;
  providerRouteOf: ProviderRouteOf;
  clock: Clock;
  endMs: number;
}

/** The beginning of a run: its route, plan and pass. */
interface Begun {
  run: CallRun;
  pass: Pass | undefined;
  choice: Choice;
  /** Routes that could not be used, by name, with the reason. */
  except: ReadonlyMap<string, string>;
  /** The latest attempts at the chosen route, and the next one of each call that is to be made now. */
  here: readonly ProviderAttempt[];
  due: PlannedAttempt[];
}

/** Chooses the route of a run and takes its pass, or returns where it waits. A route that cannot be used or tried after all is passed over. */
export const beginRun = async (
  request: StoredRequest,
  { all, stored, deadline, providerRouteOf, clock, endMs }: Beginning,
): Promise<Begun | QueuePosition> => {
  const { requestId, accountId } = request;
  const except = new Map<string, string>();
  const planned = await withSignedInputs(request, deadline);
  for (;;) {
    const choice = await chooseRoute(request, all, except, clock.now());
    const { isToWait, others, role, passedOver, cause } = choice;
    const found = await findRoute(request, choice, providerRouteOf, clock.now());
    // Its provider has no key: the next choice is made without it.
    if (!found) continue;
    const { provider, upstreamModel } = found;
    const { mode, calls } = provider.plan(planned, upstreamModel, await callbackUrl(provider.id, requestId));
    const route = { provider: provider.id, upstreamModel };
    const name = routeNameOf(route);
    const gate = findGate(gateNameOf(name)) ?? gateOf(name, {});
    // A request that waits has no call that counts: it makes all of them at its next route.
    const here = choice.isMoved || isToWait ? [] : stored;
    const starts = callsToMake(calls, here, all).length;
    const wanted = { weight: weightOf(starts, gate), starts };
    const needsPass = starts > 0 && isLimited(gate);
    const pass =
      needsPass && !isToWait
        ? await takePermit(gate, { requestId, accountId, ...wanted }, clock.now())
        : undefined;
    const isProbe = role === 'probe';
    if (isToWait || (needsPass && !pass)) {
      if (!isProbe) {
        await giveOwnPermitBack(request, clock, gate.name);
        return { gate: gate.name, ...wanted, ...(others && { routes: others }) };
      }
      except.set(name, 'it is full, and left out');
      continue;
    }
    const isAnsweredAtOnce = mode === 'asynchronous' && cause !== 'tasks';
    const now = clock.now();
    if (isProbe && !(await claimProbe(name, requestId, probeEnd(isAnsweredAtOnce, deadline, now), now))) {
      if (pass) await giveBack(request, pass, clock);
      except.set(name, 'another request tries it');
      continue;
    }
    await giveOwnPermitBack(request, clock, gate.name);
    if (pass) await startWith(request, pass, clock);
    const run: CallRun = {
      ...{ requestId, calls, mode, provider, deadline, clock, endMs },
      isRepeated: all.some((attempt) => routeNameOf(attempt) === name),
      origin: { ...route, baseUrl: provider.baseUrl },
      notes: {
        // It holds the permit while it has a call or task under way.
        permit:
          pass && gate.permits !== undefined ? { gate: gate.name, takenMs: pass.permit.takenMs } : undefined,
        checkAt: checkAfterQueue(request, clock),
        beginsProcessing: mode === 'synchronous',
        onAttempts: { ...(role && { circuit: role }), ...(passedOver?.length && { passedOver }) },
      },
      pace: new Pace(pass?.permit.weight ?? calls.length, gate.intervalMs ?? 0, () => clock.now().getTime()),
    };
    return { run, pass, choice, except, here, due: callsToMake(calls, here, all, clock.now()) };
  }
};

/** When to query a provider that has not called back. */
export const silentUntil = (clock: Clock): Instant =>
  addSeconds(toInstant(clock.now()), requiredNumberEnv('CALLBACK_WAIT_SECONDS'));

/**
 * The next due time of a request that waited for capacity and was due at the end of that wait; undefined for
 * any other.
 */
const checkAfterQueue = ({ GSI1PK, GSI1SK = '' }: StoredRequest, clock: Clock): Instant | undefined => {
  const soon = silentUntil(clock);
  return dueListOf(GSI1PK) === 'CHECK' && GSI1SK > soon ? soon : undefined;
};

/**
 * The planned calls that were never made at this route, or that a busy provider takes again, each with its next attempt. With `now`, only
 * those that it takes by then. `here` are the latest attempts at the route, `all` those at any.
 */
const callsToMake = (
  calls: readonly ProviderCall[],
  here: readonly ProviderAttempt[],
  all: readonly ProviderAttempt[],
  now?: Date,
): PlannedAttempt[] => {
  const next = 1 + Math.max(-1, ...all.map(({ attempt }) => attempt));
  return calls.flatMap((_, call) => {
    const last = here.find((attempt) => attempt.call === call);
    if (!last) return [{ call, attempt: next }];
    return isBusyAttempt(last) && (now === undefined || repeatableAt(last) <= toInstant(now))
      ? [{ call, attempt: last.attempt + 1 }]
      : [];
  });
};
