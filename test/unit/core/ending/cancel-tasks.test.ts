import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { closeRequest } from '../../../../core/ending/close-request.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failed, failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { logger } from '../../../../core/observability.ts';
import type { CancelAnswer, Provider, ProviderRouteOf } from '../../../../core/provider-calls/providers.ts';
import { dueListing, providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import {
  anAttempt,
  anImageRequest,
  aStoredOutput,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import {
  at,
  clockAt,
  dueAt,
  dueKeyOf,
  executions,
  listed,
  memory,
  request,
} from '../../builders/reconciling.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { accepted, answering } from '../../builders/waiting-request.ts';
import { firstAttempts } from '../../fakes/fresh-first-attempts.ts';

const LATE = { code: 'provider_timeout', message: 'late' } as const;
const info = jest.spyOn(logger, 'info');
const warned = jest.spyOn(logger, 'warn');
beforeEach(() => {
  info.mockClear();
  warned.mockClear();
  request.given();
});

const aCanceller = (answer: CancelAnswer | (() => Promise<CancelAnswer>) = { kind: 'cancelled' }) => {
  const provider = answering({ kind: 'waiting' });
  provider.cancel.mockImplementation(typeof answer === 'function' ? answer : async () => answer);
  return provider;
};
const reconcile = (provider: Provider, seconds: number, routes: ProviderRouteOf = leadingTo(provider)) =>
  checkDueItems(seconds, routes);
const cancelled = ({ cancel }: ReturnType<typeof aCanceller>) => cancel.mock.calls.map(([taskId]) => taskId);
const NOT_LISTED = { GSI1PK: undefined, GSI1SK: undefined };

describe('the task of a request that failed', () => {
  test.each([
    ['at its deadline', () => endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) })],
    [
      'by an operator',
      () => endRequest(VIDEO_ID, failed(LATE), { clock: clockAt(30), operatorNote: 'stuck' }),
    ],
  ])('%s is cancelled by the next run of the reconciler, once', async (_, fail) => {
    await fail();
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 30));
    const provider = aCanceller();

    await reconcile(provider, 30);
    await reconcile(provider, 90);

    expect(cancelled(provider)).toEqual(['task-1']);
    expect(provider.query).not.toHaveBeenCalled();
    expect(request.attempt()).toMatchObject({ ...accepted(), cancellation: { at: at(30) } });
    expect(request.record()).toMatchObject({ status: 'failed', error: LATE, finishedAt: at(30) });
    expect(dueKeyOf(VIDEO_ID)).toEqual(NOT_LISTED);
    expect(info.mock.calls).toContainEqual([
      'provider task cancelled',
      { provider: 'modelstudio', taskId: 'task-1' },
    ]);
  });

  test('is cancelled where it was created, whatever the model’s route is today', async () => {
    const origin = { provider: 'modelstudio', upstreamModel: 'old', baseUrl: 'https://old.example' } as const;
    request.withAttempt({ ...accepted(), ...origin });
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });
    const provider = aCanceller();
    const routes = jest.fn<ProviderRouteOf>(async () => ({ provider, upstreamModel: 'old' }));

    await reconcile(provider, 30, routes);

    expect(routes.mock.calls).toEqual([['xW3.0s', origin]]);
    expect(cancelled(provider)).toEqual(['task-1']);
  });

  test('is cancelled also when the reconciler itself ends the request', async () => {
    dueAt(-1);
    executions.put('generation', VIDEO_ID, 'ABORTED');
    const provider = aCanceller();

    await reconcile(provider, 600);
    expect(request.record()).toMatchObject({ status: 'failed', error: { code: 'internal_error' } });
    expect(cancelled(provider)).toEqual([]);

    await reconcile(provider, 600);
    expect(cancelled(provider)).toEqual(['task-1']);
    expect(dueKeyOf(VIDEO_ID)).toEqual(NOT_LISTED);
  });

  const noRoute: ProviderRouteOf = () => Promise.reject(new Error('No upstream is configured.'));
  test.each<[string, Parameters<typeof aCanceller>[0], ProviderRouteOf | undefined, string, number]>([
    ['is refused', { kind: 'not-cancelled', reason: 'Unsupported' }, undefined, 'Unsupported', 1],
    ['throws', () => Promise.reject(new TypeError('broke')), undefined, 'TypeError', 1],
    ['has no key or route', undefined, noRoute, 'Error', 0],
  ])(
    'that cannot be cancelled because it %s is logged, and left',
    async (_, answer, routes, reason, calls) => {
      await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });
      const provider = aCanceller(answer);

      await reconcile(provider, 30, routes);
      await reconcile(provider, 400, routes);

      expect(provider.cancel).toHaveBeenCalledTimes(calls);
      expect(request.attempt()).toMatchObject({ cancellation: { at: at(30), reason } });
      expect(warned.mock.calls).toContainEqual([
        'provider task not cancelled',
        { provider: 'modelstudio', taskId: 'task-1', reason },
      ]);
      expect(dueKeyOf(VIDEO_ID)).toEqual(NOT_LISTED);
    },
  );

  test('that has an outcome needs no cancelling, and nothing waits for it', async () => {
    request.withAttempt({ taskId: 'task-1', outcome: { kind: 'failed', failure: LATE } });
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });

    expect(dueKeyOf(VIDEO_ID)).toEqual(NOT_LISTED);
  });

  test.each([
    ['an accepted task', accepted('task-1'), false],
    ['a call that never told of a task', { taskId: undefined, outcome: undefined }, true],
    ['a task that was cancelled', { ...accepted('task-1'), cancellation: { at: at(31) } }, true],
  ])('closes its request long after the end, with %s: %p', async (_, attempt, isClosed) => {
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });
    request.withAttempt(attempt);
    const options = { clock: clockAt(3_600) };

    expect(await closeRequest(VIDEO_ID, async () => true, options)).toBe(isClosed);
  });

  test('that a call under way may still create is waited for, for as long as that may take', async () => {
    request.withAttempt({ taskId: undefined, outcome: undefined });
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });
    const provider = aCanceller();
    expect(await reconcile(provider, 30)).toEqual([{ kind: 'open', nextMs: Date.parse(at(75)) }]);

    request.withAttempt(accepted('task-2'));
    await reconcile(provider, 75);
    expect(cancelled(provider)).toEqual(['task-2']);
  });

  test('that a call under way never created is waited for no longer than a minute', async () => {
    request.withAttempt({ taskId: undefined, outcome: undefined });
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });
    await reconcile(aCanceller(), 90);

    expect(dueKeyOf(VIDEO_ID)).toEqual(NOT_LISTED);
  });

  test('has its webhook sent at once, before its task is cancelled', async () => {
    request.given({ webhookUrl: 'https://hooks.example.com/' });
    await endRequest(VIDEO_ID, failedBeforeStoring(LATE), { clock: clockAt(30) });

    expect(firstAttempts()).toEqual([VIDEO_ID]);
    expect(dueKeyOf(VIDEO_ID)).toEqual(listed('CHECK', 30));
  });
});

describe('a request that is unfinished', () => {
  test('never has its task cancelled', async () => {
    const provider = aCanceller();
    executions.put('generation', VIDEO_ID, 'RUNNING');
    for (const seconds of [0, 100, 1_000, 10_000]) {
      dueAt(seconds - 1);
      await reconcile(provider, seconds);
    }

    expect(provider.query).toHaveBeenCalled();
    expect(cancelled(provider)).toEqual([]);
  });
});

describe('the tasks of a request that was delivered in part', () => {
  const outputs = [aStoredOutput(0)];
  const givenParts = (images: number) => {
    putRequest(memory, anImageRequest({ status: 'processing', images, outputs, debitThousandths: 60_000 }));
    const attempts = [
      anAttempt({ call: 0, outcome: aDone('a') }),
      anAttempt({ call: 1, ...accepted('task-2') }),
    ];
    for (const attempt of attempts) memory.put(providerAttemptKey(REQUEST_ID, attempt.call, 0), attempt);
  };

  test('are cancelled once it has been settled, and its files are kept', async () => {
    givenParts(2);
    await endRequest(REQUEST_ID, settled, { clock: clockAt(30) });
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'succeeded', outputs });
    expect(dueKeyOf(REQUEST_ID)).toEqual(listed('CHECK', 30, REQUEST_ID));
    const provider = aCanceller();

    await reconcile(provider, 30);

    expect(cancelled(provider)).toEqual(['task-2']);
    const { expiresAt } = memory.get(requestKey(REQUEST_ID)) as { expiresAt: string };
    expect(dueKeyOf(REQUEST_ID)).toEqual(dueListing('EXPIRE', REQUEST_ID, expiresAt));
  });

  test('take no read of their own when it got all that it asked for', async () => {
    givenParts(1);
    memory.client.resetHistory();
    await endRequest(REQUEST_ID, settled, { clock: clockAt(30) });

    // The account is read for its refund.
    expect(memory.calls()).toEqual({ QueryCommand: 1, GetCommand: 1, TransactWriteCommand: 1 });
    expect(dueKeyOf(REQUEST_ID)).toMatchObject({ GSI1PK: expect.stringContaining('EXPIRE') });
  });
});
