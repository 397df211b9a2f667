import { describe, expect, jest, test } from '@jest/globals';
import { RateLimitedError } from '../../../core/errors.ts';
import { logger } from '../../../core/observability.ts';
import { providerAttemptKey, requestKey } from '../../../core/table/keys.ts';
import { handler as awaitProvider } from '../../../functions/workflow/await-provider.ts';
import { handler as deliverWebhook } from '../../../functions/workflow/deliver-webhook.ts';
import { handler as dispatchRequest } from '../../../functions/workflow/dispatch-request.ts';
import { handler as expireRequests } from '../../../functions/workflow/expire-requests.ts';
import { handler as failRequest } from '../../../functions/workflow/fail-request.ts';
import { handler as listExpiredRequests } from '../../../functions/workflow/list-expired-requests.ts';
import { handler as listLedgers } from '../../../functions/workflow/list-ledgers.ts';
import { handler as queryProvider } from '../../../functions/workflow/query-provider.ts';
import { handler as settleRequest } from '../../../functions/workflow/settle-request.ts';
import { handler as storeOutputs } from '../../../functions/workflow/store-outputs.ts';
import { handler as verifyLedgers } from '../../../functions/workflow/verify-ledgers.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { ACCOUNT_ID, anAttempt, anImageRequest, putRequest, REQUEST_ID } from '../builders/entities.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { secrets } from '../fakes/fresh-secrets.ts';
import { memory } from '../fakes/fresh-table.ts';
import { aClosedUrl } from '../servers/loopback-server.ts';
import { input, request } from './a-workflow-task.ts';

describe('a task of the workflow', () => {
  const tasks = {
    dispatchRequest,
    awaitProvider,
    queryProvider,
    storeOutputs,
    settleRequest,
    failRequest,
  };

  test.each(Object.entries(tasks))('%s refuses input without a request id', async (_, task) => {
    await expect(task({}, aLambdaContext())).rejects.toThrow();
    await expect(task({ ...input, requestId: 7 }, aLambdaContext())).rejects.toThrow();
    expect(memory.calls()).toEqual({});
  });

  test.each(Object.entries(tasks))('%s throws its errors to the state machine', async (_, task) => {
    memory.client.rejects(Object.assign(new Error('no table'), { name: 'SomeError' }));
    await expect(task(input, aLambdaContext())).rejects.toMatchObject({ name: 'SomeError' });
  });

  test.each(
    Object.entries({
      ...tasks,
      ...{ expireRequests, listExpiredRequests, listLedgers, verifyLedgers, deliverWebhook },
    }),
  )(
    'throws TransientError when it is not done 1 s before its time limit, which is logged: %s',
    async (_, task) => {
      const logged = jest.spyOn(logger, 'error').mockClear();
      memory.client.callsFake(() => new Promise(() => undefined));
      const whole = {
        ...{
          ...input,
          delivery: 'delivery-1',
          attemptsMade: 0,
          requestIds: [REQUEST_ID],
          cursor: { pages: 0 },
          run: {},
        },
        ...{
          ledgers: [{ accountId: ACCOUNT_ID }],
          found: { accounts: 0, removed: 0, entries: 0, problems: 0 },
        },
      };

      await expect(
        task(whole, { ...aLambdaContext(), getRemainingTimeInMillis: () => 1_010 }),
      ).rejects.toMatchObject({ name: 'TransientError', message: 'The function ran out of time.' });
      expect(logged).toHaveBeenLastCalledWith('the function ran out of time');
    },
  );

  test.each<[string, Error]>([
    ['an account that stays contended', new RateLimitedError(1)],
    ['throttling', Object.assign(new Error('slow down'), { name: 'ThrottlingException' })],
    ['a server error', Object.assign(new Error('oops'), { $metadata: { httpStatusCode: 500 } })],
    ['a connection that timed out', Object.assign(new Error('late'), { name: 'TimeoutError' })],
  ])('throws TransientError for %s', async (_, error) => {
    memory.client.rejects(error);

    await expect(settleRequest(input, aLambdaContext())).rejects.toMatchObject({
      name: 'TransientError',
      message: `${error.name}: ${error.message}`,
      cause: error,
    });
  });

  test('throws TransientError while outputs cannot be stored', async () => {
    const { outputs: _, ...unstored } = anImageRequest({ status: 'processing' });
    putRequest(memory, unstored);
    const outputs = [{ url: `${await aClosedUrl()}/0.png` }];
    const startedAt = new Date().toISOString();
    memory.put(
      providerAttemptKey(REQUEST_ID, 0, 0),
      anAttempt({ startedAt, outcome: { kind: 'done', outputs } }),
    );
    process.env.ALLOW_PRIVATE_TARGETS = 'true';

    await expect(storeOutputs(input, aLambdaContext())).rejects.toMatchObject({ name: 'TransientError' });
    process.env.ALLOW_PRIVATE_TARGETS = '';
  });

  test.each([
    ['dispatchRequest', dispatchRequest],
    ['queryProvider', queryProvider],
  ])('throws TransientError for a secret that %s cannot read for now', async (_, task) => {
    putRequest(memory, anImageRequest({ createdAt: new Date().toISOString() }));
    const outcome = { kind: 'accepted', taskId: 'task-1' } as const;
    if (task === queryProvider) memory.put(providerAttemptKey(REQUEST_ID, 0, 0), anAttempt({ outcome }));
    secrets.client.rejects(Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' }));

    await expect(task(input, aLambdaContext())).rejects.toMatchObject({
      name: 'TransientError',
      message: expect.stringContaining('could not be read: ThrottlingException: Rate exceeded'),
    });
  });

  test.each([
    ['missing rights', 'AccessDeniedException'],
    ['an invalid call of ours', 'ValidationException'],
    ['a provider that is busy', 'ProviderCallInFlightError'],
  ])('keeps the name of %s: it is not transient, or the state machine knows it', async (_, name) => {
    memory.client.rejects(Object.assign(new Error('no'), { name, $metadata: { httpStatusCode: 400 } }));

    await expect(settleRequest(input, aLambdaContext())).rejects.toMatchObject({ name });
  });

  test.each([
    ['dispatchRequest', dispatchRequest],
    ['queryProvider', queryProvider],
  ] as const)('%s returns "stop" when the request is gone', async (_, task) => {
    memory.reset();

    expect(await task(input, aLambdaContext())).toEqual({ next: 'stop' });
  });

  test.each<[string, object, boolean]>([
    ['knows it', { knownSteps: ['store', 'stop'] }, true],
    ['does not know it', { knownSteps: ['store', 'wait'] }, false],
  ])('is answered with a step only when its definition %s', async (_, caller, isAnswered) => {
    memory.reset();
    const answer = dispatchRequest({ ...input, ...caller }, aLambdaContext());

    if (isAnswered) expect(await answer).toEqual({ next: 'stop' });
    else await expect(answer).rejects.toMatchObject({ name: 'UnknownStepError' });
  });

  test('settleRequest ends the request according to the stored outputs', async () => {
    await settleRequest(input, aLambdaContext());

    expect(request()).toMatchObject({ status: 'succeeded', costThousandths: 4_000 });
  });

  test('awaitProvider requires a task token', async () => {
    await expect(awaitProvider({ ...input, taskToken: undefined }, aLambdaContext())).rejects.toThrow();
    expect(memory.calls()).toEqual({});
  });

  test('awaitProvider wakes the execution of a request that is gone', async () => {
    memory.remove(requestKey(REQUEST_ID));
    executions.wait('token-1');

    await awaitProvider(input, aLambdaContext());

    expect(executions.woken).toEqual([{ taskToken: 'token-1', output: { result: { next: 'stop' } } }]);
  });
});
