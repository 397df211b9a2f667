import { expect, test } from '@jest/globals';
import { awaitCapacity } from '../../../core/admission/await-capacity.ts';
import { cancelTasks } from '../../../core/ending/close-request.ts';
import { endRequest } from '../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../core/ending/failed.ts';
import { settled } from '../../../core/ending/settled.ts';
import { checkDue } from '../../../core/reconciler/check.ts';
import {
  dueListing,
  permitAttribute,
  providerAttemptKey,
  providerWaitKey,
  RECONCILER_RUN_KEY,
  requestKey,
  routeLimitKey,
  routeStateKey,
} from '../../../core/table/keys.ts';
import { awaitProvider } from '../../../core/waiting/await-provider.ts';
import { catchUp } from '../../../core/waiting/catch-up.ts';
import { queryProvider } from '../../../core/waiting/query-provider.ts';
import { at, clockAt } from '../builders/clocks.ts';
import { ACCOUNT_ID, anAttempt, anImageRequest, aStoredOutput, REQUEST_ID } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
import { endsWithout } from '../builders/held-calls.ts';
import { aDone, leadingTo } from '../builders/providers.ts';
import { accepted, answering, ENTERED } from '../builders/waiting-request.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';
import { MemoryFunctions } from '../fakes/memory-functions.ts';
import { at as atRoute, waitInTurn } from './admission/a-route.ts';
import { FIRST, NO_ACCESS, SECOND, THROTTLED, TwoRoutes } from './dispatch/two-routes.ts';
import { given as givenEnding, webhookUrl } from './ending/an-ending.ts';

const functions = new MemoryFunctions();

const ROUTE = 'modelstudio/qwen-image';
const ONE_ROUTE = JSON.stringify({
  xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen-image', maxRunning: 1 },
});
const withOneRoute = (run: () => Promise<unknown>) => withEnvironment({ MODEL_ROUTES: ONE_ROUTE }, run);
const ATTEMPT = providerAttemptKey(REQUEST_ID, 0, 0);
const routes = leadingTo(answering(aDone('a')));

const twoRoutes = (): TwoRoutes => {
  const two = new TwoRoutes();
  two.configure(FIRST, { maxRunning: 1 });
  return two;
};
const PERMIT = { accountId: ACCOUNT_ID, weight: 1, takenMs: 1 };
const givenPermit = (): void =>
  memory.put(routeLimitKey(FIRST), { used: 1, [permitAttribute(REQUEST_ID)]: PERMIT });

const ASSIGNED = { assignment: { route: ROUTE, number: 1 } };
/** The last run of the reconciler is dead. */
const givenReconciler = (): void =>
  memory.put(RECONCILER_RUN_KEY, { functionName: 'reconcile', aliveUntilMs: 0 });

/** A request under way with one task. */
const givenTask = (request: object = {}, attempt: object = accepted()): void => {
  givenEnding();
  memory.patch(requestKey(REQUEST_ID), request);
  memory.put(ATTEMPT, anAttempt(attempt));
  memory.put(providerWaitKey(REQUEST_ID), { requestId: REQUEST_ID, taskToken: 'token' });
  executions.wait('token');
  givenReconciler();
};
const DUE = dueListing('CHECK', REQUEST_ID, at(0));
const waitForCapacity = (request: object): (() => Promise<unknown>) => {
  givenEnding(request);
  givenReconciler();
  executions.wait('token');
  const position = { route: ROUTE, weight: 1, starts: 1, timeoutSeconds: 60 };
  return () =>
    withOneRoute(() =>
      awaitCapacity({ requestId: REQUEST_ID, taskToken: 'token', ...ENTERED }, position, clockAt(0)),
    );
};
const image = () => anImageRequest({ ...memory.get(requestKey(REQUEST_ID)) });

type Run = () => Promise<unknown>;

test.each<[string, () => Run]>([
  [
    'a dispatch whose call is accepted',
    () => {
      const two = twoRoutes();
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch that its only route is too busy for',
    () => {
      const two = twoRoutes();
      two.routes = two.routes.slice(0, 1);
      two.answers[FIRST] = THROTTLED;
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch that its route refuses',
    () => {
      const two = twoRoutes();
      two.answers[FIRST] = NO_ACCESS;
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch that leaves its route with a permit',
    () => {
      const two = twoRoutes();
      givenPermit();
      two.pause(FIRST);
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch whose trial another request takes',
    () => {
      const two = twoRoutes();
      two.pause(FIRST, { forSeconds: -1 });
      two.pause(SECOND, { forSeconds: 300 });
      memory.beforeCall = () => {
        if (memory.get(routeLimitKey(FIRST))?.used === 1)
          memory.patch(routeStateKey(FIRST), { pausedUntil: two.in(60) });
      };
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch after its deadline',
    () => {
      const two = twoRoutes();
      memory.put(ATTEMPT, anAttempt({ ...accepted(), startedAt: two.in(-100_000) }));
      return () => two.dispatch();
    },
  ],
  [
    'a dispatch of a request that has ended',
    () => {
      const two = twoRoutes();
      givenPermit();
      two.given({ status: 'failed', assignment: { route: FIRST, number: 1 } });
      return () => two.dispatch();
    },
  ],
  ['the beginning of a wait for capacity', () => waitForCapacity({ status: 'queued', ...ASSIGNED })],
  ['a wait for capacity that is over at once', () => waitForCapacity({ status: 'failed', ...ASSIGNED })],
  [
    'the beginning of a wait for a provider',
    () => {
      givenTask(DUE);
      return () =>
        awaitProvider({ requestId: REQUEST_ID, taskToken: 'token', ...ENTERED }, routes, clockAt(5));
    },
  ],
  [
    'a wait for a provider that has finished',
    () => {
      givenTask({}, { outcome: aDone('a') });
      return () =>
        awaitProvider({ requestId: REQUEST_ID, taskToken: 'token', ...ENTERED }, routes, clockAt(5));
    },
  ],
  [
    'a query',
    () => {
      givenTask({ status: 'queued' });
      return () => queryProvider(REQUEST_ID, leadingTo(answering({ kind: 'waiting' })), clockAt(5));
    },
  ],
  [
    'a query of a busy provider',
    () => {
      givenTask();
      const busy = leadingTo(answering({ kind: 'busy', reason: 'full', retryAfterSeconds: 20 }));
      return () => queryProvider(REQUEST_ID, busy, clockAt(5));
    },
  ],
  [
    'a query that suspects a call',
    () => {
      givenTask({}, { aliveAt: at(-60) });
      return () => queryProvider(REQUEST_ID, routes, clockAt(0));
    },
  ],
  [
    'a query that wakes an execution',
    () => {
      givenTask();
      return () => catchUp(image(), routes, clockAt(5), 1_000);
    },
  ],
  [
    'a tick that admits a request',
    () => () =>
      atRoute({ maxRunning: 1 }, async (route) => {
        await waitInTurn(route, 'b1');
        for (let tick = 0; tick < 3; tick++) await route.leaveThenTick('a1');
      }),
  ],
  [
    'a tick that wakes a request which has ended',
    () => () =>
      atRoute({ maxRunning: 1 }, async (route) => {
        await waitInTurn(route, 'b1');
        route.gone.add('b1/0');
        memory.patch(requestKey('b1'), { status: 'failed' });
        await route.leaveThenTick('a1');
      }),
  ],
  [
    'a tick at a former route',
    () => () =>
      atRoute({ maxRunning: 1 }, async (route) => {
        await waitInTurn(route, 'b1');
        await route.drain();
      }),
  ],
  [
    'the end of a request that succeeds',
    () => {
      givenEnding({ webhookUrl, outputs: [aStoredOutput(0)] });
      return () => endRequest(REQUEST_ID, settled, { clock: clockAt(30) });
    },
  ],
  [
    'the end of a request that fails',
    () => {
      givenEnding({ webhookUrl, ...ASSIGNED });
      const failure = { code: 'provider_error', message: 'no' } as const;
      return () =>
        withOneRoute(() => endRequest(REQUEST_ID, failedBeforeStoring(failure), { clock: clockAt(30) }));
    },
  ],
  [
    'a cancellation',
    () => {
      givenTask({ status: 'failed', finishedAt: at(0) });
      return () => cancelTasks(image(), routes, clockAt(90));
    },
  ],
  [
    'a check of a request under way',
    () => {
      givenTask({ status: 'queued', ...DUE });
      memory.remove(ATTEMPT);
      executions.put('generation', REQUEST_ID, 'RUNNING');
      const work = { kind: 'request', requestId: REQUEST_ID } as const;
      const due = { list: 'CHECK', work, key: requestKey(REQUEST_ID), dueKey: DUE } as const;
      return () => checkDue(due, { providerRouteOf: routes, keepGoing: () => true, clock: clockAt(0) });
    },
  ],
])('%s ends once all its calls have ended: a process may be frozen then', async (_, begin) => {
  let number = 0;
  let endedEarly: boolean | undefined;
  do {
    memory.reset();
    executions.reset();
    functions.reset();
    functions.set('reconcile', async () => undefined);
    endedEarly = await endsWithout(++number, begin());
    expect([number, endedEarly]).not.toEqual([number, true]);
  } while (endedEarly !== undefined);
  expect(number).toBeGreaterThan(2);
});
