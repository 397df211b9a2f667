import '../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { accountKey, endUserKey, requestKey } from '../../../core/keys.ts';
import { table } from '../../../core/table.ts';
import { handler as dispatchRequest } from '../../../functions/workflow/dispatch-request.ts';
import { handler as failRequest } from '../../../functions/workflow/fail-request.ts';
import { handler as pollProvider } from '../../../functions/workflow/poll-provider.ts';
import { handler as settleRequest } from '../../../functions/workflow/settle-request.ts';
import { handler as storeOutputs } from '../../../functions/workflow/store-outputs.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  REQUEST_ID,
} from '../builders/entities.ts';
import { MemoryTable } from '../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => {
  memory.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  memory.put(
    requestKey(REQUEST_ID),
    anImageRequest({
      status: 'processing',
      createdAt: new Date().toISOString(),
      outputs: [aStoredOutput(0)],
    }),
  );
});
const request = () => memory.get(requestKey(REQUEST_ID));
const input = { requestId: REQUEST_ID };

describe('a task of the workflow', () => {
  const tasks = { dispatchRequest, pollProvider, storeOutputs, settleRequest, failRequest };

  test.each(Object.entries(tasks))('%s refuses input without a request id', async (_, task) => {
    await expect(task({}, aLambdaContext())).rejects.toThrow();
    await expect(task({ requestId: 7 }, aLambdaContext())).rejects.toThrow();
    expect(memory.calls()).toEqual({});
  });

  test.each(Object.entries(tasks))('%s lets its errors escape to the state machine', async (_, task) => {
    memory.client.rejects(Object.assign(new Error('no table'), { name: 'SomeError' }));
    await expect(task(input, aLambdaContext())).rejects.toMatchObject({ name: 'SomeError' });
  });

  test.each([
    ['dispatchRequest', dispatchRequest],
    ['pollProvider', pollProvider],
  ] as const)('%s says to stop when the request is gone', async (_, task) => {
    memory.reset();

    expect(await task(input, aLambdaContext())).toEqual({ next: 'stop' });
  });

  test('settleRequest ends the request by what was stored', async () => {
    await settleRequest(input, aLambdaContext());

    expect(request()).toMatchObject({ status: 'succeeded', costThousandths: 4_000 });
  });
});

describe('failRequest', () => {
  const CONTENT = { code: 'content_policy', message: 'refused' };

  test.each([
    ['what a step found', { step: { result: { next: 'fail', error: CONTENT } } }, CONTENT],
    [
      'what a state caught',
      { failure: { Error: 'States.Timeout', Cause: '' } },
      { code: 'provider_timeout', message: 'The upstream provider did not finish in time.' },
    ],
    [
      'what a state caught while the provider was at work',
      { step: { result: { next: 'wait', waitSeconds: 5 } }, failure: { Error: 'ProviderBusyError' } },
      { code: 'provider_error', message: 'The upstream provider did not take the request.' },
    ],
    [
      'an unexpected error when nobody says',
      {},
      { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
    ],
  ])('fails the request with %s, and refunds it', async (_, state, error) => {
    await failRequest({ ...input, ...state }, aLambdaContext());

    expect(request()).toMatchObject({ status: 'failed', error, refundThousandths: 4_000 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 104_000 });
  });
});
