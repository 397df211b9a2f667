import '../../builders/environment.ts';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from '@jest/globals';
import { findRequestAndAttempts } from '../../../../core/provider-calls/provider-attempts.ts';
import {
  providerAttemptKey,
  providerWaitKey,
  requestKey,
  webhookAttemptKey,
} from '../../../../core/table/keys.ts';
import { anAttempt, anImageRequest, REQUEST_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';

describe('a request and its calls', () => {
  test('are found in one read, and without its wait and its webhooks', async () => {
    memory.put(requestKey(REQUEST_ID), anImageRequest());
    for (const attempt of [100, 0, 10])
      memory.put(providerAttemptKey(REQUEST_ID, 0, attempt), anAttempt({ attempt }));
    memory.put(providerWaitKey(REQUEST_ID), { requestId: REQUEST_ID });
    memory.put(webhookAttemptKey(REQUEST_ID, 'first', 1), { requestId: REQUEST_ID });

    const { request, attempts } = await findRequestAndAttempts(REQUEST_ID);

    expect(request).toMatchObject(anImageRequest());
    expect(attempts.map(({ attempt }) => attempt)).toEqual([0, 10, 100]);
    expect(memory.calls()).toEqual({ QueryCommand: 1 });
    expect(memory.client.commandCalls(QueryCommand)[0]?.args[0].input).toMatchObject({
      ConsistentRead: true,
    });
  });

  test('are found without the request, once it was removed', async () => {
    memory.put(providerAttemptKey(REQUEST_ID, 0, 0), anAttempt());

    expect(await findRequestAndAttempts(REQUEST_ID)).toEqual({
      request: undefined,
      attempts: [anAttempt()],
    });
  });
});
