import { describe, expect, test } from '@jest/globals';
import { accountKey, requestKey } from '../../../core/table/keys.ts';
import { handler as failRequest } from '../../../functions/workflow/fail-request.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { ACCOUNT_ID, anImageRequest, aStoredOutput, putRequest, REQUEST_ID } from '../builders/entities.ts';
import { bucket } from '../fakes/fresh-bucket.ts';
import { memory } from '../fakes/fresh-table.ts';
import { input, request } from './a-workflow-task.ts';

describe('failRequest', () => {
  const CONTENT = { code: 'content_policy', message: 'refused' };

  test.each([
    ['the failure of a step', { step: { result: { next: 'fail', error: CONTENT } } }, CONTENT],
    [
      'an unexpected error without a reason',
      {},
      { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
    ],
    [
      'an error caught once the provider had finished',
      { step: { result: { next: 'store' } }, failure: { Error: 'States.Timeout' } },
      { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
    ],
  ])('fails the request with %s, and refunds it', async (_, state, error) => {
    putRequest(memory, anImageRequest({ status: 'processing' }));
    await failRequest({ ...input, ...state }, aLambdaContext());

    expect(request()).toMatchObject({ status: 'failed', error, refundThousandths: 4_000 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 104_000 });
  });

  test('settles a request whose outputs are recorded, though storing failed afterwards', async () => {
    const state = { step: { result: { next: 'store' } }, failure: { Error: 'TypeError' } };
    bucket.put(String(aStoredOutput(0).objectKey));

    await failRequest({ ...input, ...state }, aLambdaContext());

    expect(request()).toMatchObject({ status: 'succeeded', costThousandths: 4_000 });
    expect(memory.get(accountKey(ACCOUNT_ID))).toMatchObject({ balanceThousandths: 100_000 });
    expect(bucket.objects.size).toBe(1);
  });

  test('removes the files of a request that an operator failed meanwhile', async () => {
    memory.patch(requestKey(REQUEST_ID), { status: 'failed' });
    bucket.put(String(aStoredOutput(0).objectKey));

    await failRequest({ ...input, step: { result: { next: 'store' } } }, aLambdaContext());

    expect(bucket.objects.size).toBe(0);
  });

  test.each([
    ['removes stored files', 'after storing had begun', 'store', 0],
    ['does not call the bucket', 'before anything was stored', 'wait', 1],
  ])('%s of a request that is failed %s', async (_what, _when, next, left) => {
    putRequest(memory, anImageRequest({ status: 'processing' }));
    bucket.put(String(aStoredOutput(0).objectKey));

    await failRequest(
      { ...input, step: { result: { next } }, failure: { Error: 'TypeError' } },
      aLambdaContext(),
    );

    expect(request()?.status).toBe('failed');
    expect(bucket.objects.size).toBe(left);
  });
});
