import { describe, expect, test } from '@jest/globals';
import { retryWebhook } from '../../../ops/retry-webhook.ts';
import { atSeconds, NOW, StoppedClock } from '../builders/clocks.ts';
import { anImageRequest, aVideoRequest, putRequest, REQUEST_ID, VIDEO_ID } from '../builders/entities.ts';
import { executions } from '../fakes/fresh-executions.ts';
import { memory } from '../fakes/fresh-table.ts';

process.env.WEBHOOK_DELIVERY_STATE_MACHINE_ARN =
  'arn:aws:states:us-east-1:111122223333:stateMachine:webhook-delivery';

const webhookUrl = 'https://receiver.example.com/hook';
const failed = { status: 'failed', finishedAt: NOW.toISOString(), webhookUrl } as const;
const clock = new StoppedClock(atSeconds(60));
const started = () => executions.started.filter(({ machine }) => machine === 'webhook-delivery');

describe('sending a webhook again', () => {
  test.each([
    [REQUEST_ID, anImageRequest({ ...failed, status: 'succeeded' })],
    [VIDEO_ID, aVideoRequest(failed)],
  ])('starts another delivery for %s, under the same webhook id', async (requestId, request) => {
    putRequest(memory, request);

    expect(await retryWebhook(requestId, clock)).toStrictEqual({
      webhookId: `msg_${requestId}`,
      queuedAt: atSeconds(60).toISOString(),
    });
    expect(started()).toEqual([
      {
        machine: 'webhook-delivery',
        name: expect.stringMatching(`^${requestId}-[0-7][0-9A-HJKMNP-TV-Z]{25}$`),
        input: {
          ...{ requestId, accountId: request.accountId, model: request.model },
          step: { result: { next: 'wait', waitSeconds: 0, attemptsMade: 0 } },
        },
        status: 'RUNNING',
      },
    ]);
  });

  test('starts another delivery each time, whatever the first one’s state', async () => {
    putRequest(memory, anImageRequest(failed));
    executions.put('webhook-delivery', REQUEST_ID, 'FAILED');

    await retryWebhook(REQUEST_ID, clock);
    await retryWebhook(REQUEST_ID, clock);

    expect(new Set(started().map(({ name }) => name)).size).toBe(3);
  });

  test('does not change the request', async () => {
    putRequest(memory, anImageRequest(failed));

    await retryWebhook(REQUEST_ID, clock);

    expect(memory.calls()).toEqual({ GetCommand: 1 });
  });

  test.each([
    ['of a request that is not there', undefined, 'not_found'],
    ['for one past its retention', { ...failed, ttl: NOW.getTime() / 1000 }, 'not_found'],
    ['of one without a webhook', { status: 'succeeded' }, 'conflict'],
    ['of one that is queued', { status: 'queued', webhookUrl }, 'conflict'],
    ['of one that is processing', { status: 'processing', webhookUrl }, 'conflict'],
  ] as const)('is refused %s', async (_what, overrides, code) => {
    if (overrides) putRequest(memory, anImageRequest(overrides));

    await expect(retryWebhook(REQUEST_ID, clock)).rejects.toMatchObject({ code });
    expect(executions.started).toEqual([]);
  });

  test('throws when it cannot be started', async () => {
    putRequest(memory, anImageRequest(failed));
    executions.refuseStarts(new Error('throttled'));

    await expect(retryWebhook(REQUEST_ID, clock)).rejects.toThrow('throttled');
  });
});
