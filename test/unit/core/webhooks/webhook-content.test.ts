import { describe, expect, jest, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { receiver } from '../../builders/webhook-world.ts';
import { answering, type ReceivedWebhook, signatureOf } from '../../servers/webhook-receiver.ts';
import { deliver, expiresAt, failed, finishedAt, putAccount, SECRET, succeeded } from './a-delivery.ts';

const OLD_SECRET = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';

/** The official library's verdict at an instant: the event, or why it is refused. */
const verify = (webhook: ReceivedWebhook | undefined, secret: string, at = NOW): unknown => {
  if (!webhook) throw new Error('Nothing was received.');
  const now = jest.spyOn(Date, 'now').mockReturnValue(at.getTime());
  try {
    return new Webhook(secret).verify(webhook.body, signatureOf(webhook));
  } finally {
    now.mockRestore();
  }
};

describe('what a receiver gets', () => {
  const created = { endUserEmail: EMAIL, createdAt: NOW.toISOString() };
  const image = {
    ...{ requestId: REQUEST_ID, model: 'xQI3Pro', prompt: 'a lighthouse', referencesCount: 0 },
    ...created,
  };
  const video = { requestId: VIDEO_ID, model: 'xW3.0s', prompt: 'waves', ...created };
  const urlOf = (requestId: string, file: string) =>
    expect.stringMatching(`^https://files\\.example\\.com/outputs/${requestId}/${file}\\?Expires=`);
  const imageItem = { id: `${REQUEST_ID}_0`, size: '1024x1024', expiresAt, url: urlOf(REQUEST_ID, '0.png') };
  const videoItem = {
    ...{ id: `${VIDEO_ID}_0`, duration: 5.04, resolution: '1080p', expiresAt },
    url: urlOf(VIDEO_ID, '0.mp4'),
  };
  const error = failed.error;

  test.each([
    [
      'generation.succeeded',
      anImageRequest({ ...succeeded, outputs: [aStoredOutput(0)] }),
      { ...image, status: 'succeeded', images: [imageItem], cost: 4, finishedAt },
    ],
    ['generation.failed', anImageRequest(failed), { ...image, status: 'failed', error, finishedAt }],
    [
      'video.succeeded',
      aVideoRequest({ ...succeeded, outputs: [aStoredVideo()] }),
      { ...video, status: 'succeeded', videos: [videoItem], cost: 4, finishedAt },
    ],
    ['video.failed', aVideoRequest(failed), { ...video, status: 'failed', error, finishedAt }],
  ])('is %s with the current record, signed as the official library expects', async (type, request, data) => {
    await deliver({ ...request, webhookUrl: receiver.url });

    expect(receiver.received).toHaveLength(1);
    expect(verify(receiver.received[0], SECRET)).toStrictEqual({ type, timestamp: finishedAt, data });
  });

  test('is one POST of JSON, with the request’s webhook id, the service’s name and nothing else about the sender', async () => {
    await deliver();

    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        path: '/hook',
        headers: {
          'content-type': 'application/json',
          'webhook-id': `msg_${REQUEST_ID}`,
          'user-agent': 'generation-service/1.2.3 (+https://operator.example)',
        },
      },
    ]);
    const transport = ['host', 'connection', 'content-length', 'content-type', 'user-agent'];
    expect(Object.keys(receiver.received[0]?.headers ?? {}).toSorted()).toEqual(
      [...transport, 'webhook-id', 'webhook-signature', 'webhook-timestamp'].toSorted(),
    );
  });

  test('is signed with both secrets for a day after a rotation, then with the new one alone', async () => {
    putAccount({ previousWebhookSecret: OLD_SECRET, previousValidUntil: atSeconds(86_400).toISOString() });
    await deliver();
    await deliver(undefined, { clock: new StoppedClock(atSeconds(86_400)) });

    const [within, after] = receiver.received;
    for (const secret of [SECRET, OLD_SECRET]) expect(verify(within, secret)).toBeDefined();
    expect(verify(after, SECRET, atSeconds(86_400))).toBeDefined();
    expect(() => verify(after, OLD_SECRET, atSeconds(86_400))).toThrow('No matching signature found');
  });

  test('is rendered and signed anew in every attempt, under the same id', async () => {
    receiver.respond = answering(503);
    await deliver();
    await deliver(undefined, { clock: new StoppedClock(atSeconds(300)) });

    const [first, second] = receiver.received;
    expect(first?.headers['webhook-id']).toBe(second?.headers['webhook-id']);
    expect(() => verify(first, SECRET, atSeconds(301))).toThrow('too old');
    expect(verify(second, SECRET, atSeconds(301))).toBeDefined();
  });

  test('keeps its type when the record in it has expired', async () => {
    const clock = new StoppedClock(atSeconds(3600));

    await deliver(undefined, { clock });

    expect(verify(receiver.received[0], SECRET, clock.now())).toStrictEqual({
      type: 'generation.succeeded',
      timestamp: finishedAt,
      data: { ...image, status: 'expired', finishedAt },
    });
  });
});
