import { InvokeCommand } from '@aws-sdk/client-lambda';
import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nameReconciler } from '../../../../core/executions/reconciler-run.ts';
import { claimCallbackQuery } from '../../../../core/provider-calls/provider-waits.ts';
import type { Provider, ProviderAnswer } from '../../../../core/provider-calls/providers.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { awaitProvider } from '../../../../core/waiting/await-provider.ts';
import { catchUp } from '../../../../core/waiting/catch-up.ts';
import { at, atSeconds, clockAt } from '../../builders/clocks.ts';
import { aVideoRequest, VIDEO_ID } from '../../builders/entities.ts';
import { aDone, leadingTo } from '../../builders/providers.ts';
import { answering, ENTERED, WaitingRequest, wokenBy } from '../../builders/waiting-request.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { MemoryFunctions } from '../../fakes/memory-functions.ts';

const functions = new MemoryFunctions();
const request = new WaitingRequest(memory);
beforeEach(() => {
  functions.reset();
  request.given();
});

const FAILURE = { code: 'content_policy', message: 'refused' } as const;
const WAITING: ProviderAnswer = { kind: 'waiting' };

describe('an execution that begins to wait', () => {
  const begin = (provider: Provider = answering(WAITING), token = 'token-1') => {
    executions.wait(token);
    return awaitProvider(
      { requestId: VIDEO_ID, taskToken: token, ...ENTERED },
      leadingTo(provider),
      clockAt(5),
    );
  };

  test('keeps its token and queries nothing', async () => {
    const provider = answering(aDone('a'));
    await begin(provider);

    expect(request.wait()).toMatchObject({ taskToken: 'token-1', waitingSince: at(5) });
    expect(provider.query).not.toHaveBeenCalled();
    expect(executions.client.calls()).toHaveLength(0);
  });

  test.each([
    [65, 1],
    [65.001, 0],
  ])('starts the reconciler when its request is due within a minute: at %p s, %p', async (dueAt, starts) => {
    await nameReconciler('reconcile');
    memory.patch(requestKey(VIDEO_ID), { GSI1SK: at(dueAt) });

    await begin();

    expect(functions.client.commandCalls(InvokeCommand)).toHaveLength(starts);
  });

  test.each<[string, () => void, object]>([
    ['is gone', () => memory.reset(), { next: 'stop' }],
    [
      'was failed',
      () => request.given({ status: 'failed', error: FAILURE }),
      { next: 'fail', error: FAILURE },
    ],
    ['succeeded', () => request.given({ status: 'succeeded' }), { next: 'stop' }],
    ['was produced', () => request.withAttempt({ taskId: 'task-1', outcome: aDone('a') }), { next: 'store' }],
    [
      'was refused',
      () => request.withAttempt({ taskId: 'task-1', outcome: { kind: 'failed', failure: FAILURE } }),
      { next: 'fail', error: FAILURE },
    ],
  ])('is woken at once when the request %s', async (_, change, next) => {
    change();
    await begin();

    expect(executions.woken).toEqual(wokenBy('token-1', next));
  });

  test('queries when the provider called back before the token was kept', async () => {
    request.waiting({ calledBackAt: at(4) });
    const provider = answering(aDone('a'));

    await begin(provider);

    expect(provider.query).toHaveBeenCalledTimes(1);
    expect(executions.woken).toEqual(wokenBy('token-1'));
  });

  test('queries when the last callback is newer than the last query, and not when it is older or caused it', async () => {
    const provider = answering(WAITING);
    for (const calledBackAt of [at(3), at(4)]) {
      request.waiting({ queriedAt: at(4), calledBackAt });
      await begin(provider);
    }
    expect(provider.query).not.toHaveBeenCalled();

    request.waiting({ queriedAt: at(3), calledBackAt: at(4) });
    await begin(provider, 'token-2');
    expect(provider.query).toHaveBeenCalledTimes(1);
  });
});

test('an execution that begins to wait during a query that finds the task finished is woken, in any order of table calls', async () => {
  const wokenLate = { count: 0 };
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      memory.reset();
      executions.reset();
      executions.wait('token-1');
      request.given();
      memory.beforeCall = () => scheduler.schedule(Promise.resolve());
      const learned = claimCallbackQuery(VIDEO_ID, 2, atSeconds(4)).then(() =>
        catchUp(aVideoRequest(), leadingTo(answering(aDone('a'))), clockAt(4), 1000),
      );
      const waiting = awaitProvider(
        { requestId: VIDEO_ID, taskToken: 'token-1', ...ENTERED },
        leadingTo(answering(WAITING)),
        clockAt(5),
      );

      await scheduler.waitFor(Promise.all([learned, waiting]));

      expect(executions.woken).toEqual(wokenBy('token-1'));
      if (executions.client.calls().length > 1) wokenLate.count++;
    }),
    { numRuns: 300 },
  );
  // Both may find the task finished. The second attempt to wake does nothing.
  expect(wokenLate.count).toBeGreaterThan(0);
});
