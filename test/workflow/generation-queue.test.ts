import { beforeEach, describe, expect, test } from '@jest/globals';
import { returnPermit } from '../../core/admission/admission.ts';
import { eachQueueEntry } from '../../core/admission/queue-entries.ts';
import type { RouteLimitState } from '../../core/admission/route-limit-rules.ts';
import { findRouteLimit, readRouteLimits, takePermit } from '../../core/admission/route-limits.ts';
import type { ProviderAnswer } from '../../core/provider-calls/providers.ts';
import { systemClock } from '../../core/time.ts';
import { atSeconds } from '../unit/builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../unit/builders/entities.ts';
import { withEnvironment } from '../unit/builders/environment.ts';
import { BEGUN, DELIVERED, done, FAILED, givenTo, runGeneration, STORED, store } from './generation.ts';
import { answers, type Behaviour, type Execution, fails, hangs, type Surroundings } from './harness.ts';
import { scheduledRuns } from './scheduled-runs.ts';
import {
  balanceThousandths,
  executions,
  failRequest,
  pausedUntil,
  putOther,
  putRequest,
  realFunctions,
  storedRequest,
} from './stored-request.ts';
import { stubProvider } from './stub-provider.ts';

const POSITION = { route: 'up/model', weight: 1, starts: 1 };
/** The route is full: wait this long. */
const queue = (timeoutSeconds: number): Behaviour => answers({ next: 'queue', timeoutSeconds, ...POSITION });

beforeEach(() => putRequest());

describe('an execution whose provider has no capacity', () => {
  const SCRIPT = {
    'dispatch-request': [queue(3_600), store],
    'await-capacity': [done],
    ...DELIVERED,
  };

  test('waits until it is admitted, then dispatches again: three transitions more', async () => {
    const execution = await runGeneration(SCRIPT, ({ tokens, at }) =>
      at(3_599, () => tokens.succeed('token-1', {})),
    );

    expect(execution.path).toEqual([...BEGUN, 'Wait for capacity', ...BEGUN, ...STORED]);
    expect(execution.transitions).toBe(4 + 3);
    expect(execution.seconds).toBe(3_599);
    // The function gets its token, its entry and the queue position that the dispatch named.
    expect(givenTo(execution, 'await-capacity')).toEqual([
      {
        requestId: REQUEST_ID,
        taskToken: 'token-1',
        enteredAt: expect.any(String),
        retries: 0,
        position: { next: 'queue', timeoutSeconds: 3_600, ...POSITION },
      },
    ]);
    expect(execution.visits[2]?.output).toEqual(execution.visits[1]?.output);
  });

  test('dispatches again at the end of its time, which decides', async () => {
    const error = { code: 'provider_timeout', message: 'no capacity' } as const;
    const execution = await runGeneration({
      ...SCRIPT,
      'dispatch-request': [queue(100), answers({ next: 'fail', error })],
      'fail-request': failRequest,
    });

    expect(execution.path.slice(2)).toEqual(['Wait for capacity', ...BEGUN, ...FAILED]);
    expect(execution.seconds).toBe(100);
    expect(storedRequest()).toMatchObject({ status: 'failed', error });
  });

  test('tries again after half a minute when its wait fails', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'await-capacity': [fails('Error')] });

    expect(execution.path.slice(2, 5)).toEqual([
      'Wait for capacity',
      'Wait to queue again',
      'Dispatch request',
    ]);
    expect(execution.seconds).toBe(30);
  });

  test('repeats its wait under another token after a transient error', async () => {
    const execution = await runGeneration(
      { ...SCRIPT, 'await-capacity': [fails('TransientError'), done] },
      ({ tokens, at }) => at(60, () => tokens.succeed('token-2', {})),
    );

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.seconds).toBe(60);
  });

  test('is admitted even before the function that keeps its token has returned', async () => {
    const execution = await runGeneration({ ...SCRIPT, 'await-capacity': [hangs] }, ({ tokens, at }) =>
      at(2, () => tokens.succeed('token-1', {})),
    );

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.seconds).toBe(2);
  });
});

describe('with the real functions, on a route of one running call', () => {
  const ROUTE_NAME = 'modelstudio/upstream-model';
  const OTHER = { requestId: 'img_other', accountId: 'acc_other' };
  const finished: ProviderAnswer = { kind: 'done', outputs: [{ url: 'https://files.example/1.png' }] };
  const accepted: ProviderAnswer = { kind: 'accepted', taskId: 'task-1' };
  const busy: ProviderAnswer = { kind: 'busy', reason: '429', retryAfterSeconds: 40 };

  const run = (
    providerRouteOf: ReturnType<typeof stubProvider>,
    around: (surroundings: Surroundings) => void = () => undefined,
  ): Promise<Execution> =>
    withRoute(() =>
      runGeneration(realFunctions(providerRouteOf), (surroundings) => {
        executions.waitingTokens = surroundings.tokens;
        scheduledRuns(providerRouteOf)(surroundings);
        around(surroundings);
      }),
    );
  const otherRuns = async () => {
    const limit = await withRoute(() => findRouteLimit(ROUTE_NAME));
    putOther(OTHER.requestId, OTHER.accountId);
    if (limit) await takePermit(limit, { ...OTHER, weight: 1, starts: 1 }, new Date());
  };
  const withRoute = <T>(act: () => T | Promise<T>) =>
    withEnvironment(
      {
        MODEL_ROUTES: JSON.stringify({
          xQI3Pro: { provider: 'modelstudio', upstreamModel: 'upstream-model', maxRunning: 1 },
        }),
      },
      act,
    );
  const otherEnds = () => returnPermit(ROUTE_NAME, OTHER, systemClock);
  const limit = async () => (await readRouteLimits([ROUTE_NAME]))[0] as RouteLimitState;

  test('a request that needs not wait takes the permit and gives it back, without a transition', async () => {
    const execution = await run(stubProvider('synchronous', { submit: [finished] }));

    expect(execution.transitions).toBe(4);
    expect(storedRequest()).toMatchObject({
      status: 'succeeded',
      dispatchedAt: atSeconds(0).toISOString(),
    });
    expect(await limit()).toMatchObject({ used: 0, queued: undefined });
  });

  test('a task keeps the permit until its outputs are stored', async () => {
    const used: number[] = [];
    await run(
      stubProvider('asynchronous', { submit: [accepted], query: [{ kind: 'waiting' }, finished] }),
      ({ at }) => at(4, async () => used.push((await limit()).used)),
    );

    expect(used).toEqual([1]);
    expect(await limit()).toMatchObject({ used: 0 });
  });

  test('one that waits is queued, and is called within 5 s after the permit is free; its deadline counts from then', async () => {
    await otherRuns();
    const seen: unknown[] = [];
    const execution = await run(stubProvider('synchronous', { submit: [finished] }), ({ at }) => {
      at(600, () => seen.push(storedRequest().status, storedRequest().GSI1SK));
      at(601, otherEnds);
    });

    expect(seen).toEqual(['queued', atSeconds(3_630).toISOString()]);
    expect(execution.seconds).toBeGreaterThan(600);
    expect(execution.seconds).toBeLessThanOrEqual(606);
    expect(storedRequest()).toMatchObject({
      status: 'succeeded',
      dispatchedAt: atSeconds(execution.seconds).toISOString(),
    });
    expect(await limit()).toMatchObject({ used: 0 });
  });

  test('one that waits for an hour fails with a timeout, is refunded, and pauses nobody', async () => {
    await otherRuns();
    const execution = await run(stubProvider('synchronous', { submit: [] }));

    expect(execution.seconds).toBe(3_600);
    expect(storedRequest()).toMatchObject({
      status: 'failed',
      error: { code: 'provider_timeout', message: 'The upstream provider had no capacity in time.' },
    });
    expect(balanceThousandths()).toBe(104_000);
    expect(pausedUntil()).toBeUndefined();
    expect((await limit()).permits.has(REQUEST_ID)).toBe(false);
    expect(await eachQueueEntry(ROUTE_NAME).next()).toMatchObject({ done: true });
  });

  test('a provider that is too busy gives the permit free, and is left alone for as long as it asks', async () => {
    const used: unknown[] = [];
    const execution = await run(stubProvider('synchronous', { submit: [busy, finished] }), ({ at }) =>
      at(39, async () => used.push((await limit()).used, (await limit()).nextStartMs)),
    );

    expect(used).toEqual([0, atSeconds(40).getTime()]);
    expect(execution.seconds).toBe(40);
    expect(storedRequest().status).toBe('succeeded');
    expect(await limit()).toMatchObject({ used: 0 });
  });

  test('the images of one request are made one at a time', async () => {
    putRequest(anImageRequest({ images: 3 }));
    let [atOnce, most] = [0, 0];
    const provider = stubProvider('synchronous', { submit: [] }, undefined, 3);
    const route = await provider();
    const slow = async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      atOnce--;
      return finished;
    };
    const withDelay = Object.assign(
      async () => ({ ...route, provider: { ...route.provider, submit: slow } }),
      { queries: [] },
    );
    const execution = await run(withDelay);

    expect(most).toBe(1);
    expect(execution.seconds).toBe(3);
    expect(storedRequest().status).toBe('succeeded');
  });
});
