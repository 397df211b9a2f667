import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { newWebhookSecret } from '../../../../core/ids.ts';
import type { RequestRecord } from '../../../../core/requests/records.ts';
import {
  liveSecrets,
  nextAttemptSeconds,
  signatureHeaders,
  webhookEventOf,
  webhookIdOf,
} from '../../../../core/webhooks/webhook-rules.ts';
import { StackContext } from '../../../../lib/context.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAccount, anImageRequest, aVideoRequest, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';

const CURRENT = newWebhookSecret();
const PREVIOUS = newWebhookSecret();
/** The official library uses its own clock, so what it should accept is signed with the current time. */
const signedNow = (body: string, secrets: readonly string[], secondsAgo = 0) =>
  signatureHeaders(webhookIdOf(REQUEST_ID), body, secrets, new Date(Date.now() - secondsAgo * 1000));
const verify = (body: string, headers: Record<string, string>, secret: string): unknown =>
  new Webhook(secret).verify(body, headers);

describe('the event of a request', () => {
  const data = { requestId: REQUEST_ID } as RequestRecord;
  const finishedAt = atSeconds(9).toISOString();

  test.each([
    ['generation.succeeded', anImageRequest({ status: 'succeeded', finishedAt })],
    ['generation.failed', anImageRequest({ status: 'failed', finishedAt })],
    ['video.succeeded', aVideoRequest({ status: 'succeeded', finishedAt })],
    ['video.failed', aVideoRequest({ status: 'failed', finishedAt })],
  ])('is %s, at the instant of its end, with the record', (type, request) => {
    expect(webhookEventOf(request, data)).toStrictEqual({ type, timestamp: finishedAt, data });
  });

  test.each(['queued', 'processing'] as const)('does not exist while it is %s', (status) => {
    expect(() => webhookEventOf(anImageRequest({ status }), data)).toThrow(status);
  });

  test('has an id that no other request shares', () => {
    expect(webhookIdOf(REQUEST_ID)).toBe(`msg_${REQUEST_ID}`);
    expect(webhookIdOf(VIDEO_ID)).toBe(`msg_${VIDEO_ID}`);
  });
});

describe('the secrets that sign', () => {
  const rotated = anAccount({
    webhookSecret: CURRENT,
    previousWebhookSecret: PREVIOUS,
    previousValidUntil: atSeconds(86_400).toISOString(),
  });

  test('are the current one alone, before any rotation', () => {
    expect(liveSecrets(anAccount({ webhookSecret: CURRENT }), NOW)).toEqual([CURRENT]);
  });

  test.each([
    ['at once', 0, [CURRENT, PREVIOUS]],
    ['to its last millisecond', 86_399.999, [CURRENT, PREVIOUS]],
    ['not from its end on', 86_400, [CURRENT]],
  ])('include the previous one for a day after a rotation: %s', (_when, seconds, secrets) => {
    expect(liveSecrets(rotated, atSeconds(seconds))).toEqual(secrets);
  });
});

describe('a signature', () => {
  test('is accepted by the official library, whatever the body and the secret', () => {
    const secrets = fc
      .uint8Array({ minLength: 24, maxLength: 64 })
      .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`);
    const bodies = fc.oneof(
      fc.json(),
      fc.object().map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(bodies, secrets, (body, secret) => {
        expect(verify(body, signedNow(body, [secret]), secret)).toEqual(JSON.parse(body));
      }),
    );
  });

  test('is made with each secret, so that a receiver needs to know one of them', () => {
    const headers = signedNow('{}', [CURRENT, PREVIOUS]);

    expect(headers['webhook-signature']).toMatch(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
    expect(verify('{}', headers, CURRENT)).toEqual({});
    expect(verify('{}', headers, PREVIOUS)).toEqual({});
    expect(() => verify('{}', headers, newWebhookSecret())).toThrow(WebhookVerificationError);
  });

  test('covers body, id and time', () => {
    const headers = signedNow('{"a":1}', [CURRENT]);

    expect(() => verify('{"a":2}', headers, CURRENT)).toThrow('No matching signature found');
    for (const name of ['webhook-id', 'webhook-timestamp']) {
      const changed = {
        ...headers,
        [name]: headers[name]?.replace(/.$/, (last) => (last === '1' ? '2' : '1')) ?? '',
      };
      expect(() => verify('{"a":1}', changed, CURRENT)).toThrow('No matching signature found');
    }
  });

  test('is refused as a replay once it is older than the 5 min the library allows', () => {
    expect(verify('{}', signedNow('{}', [CURRENT], 290), CURRENT)).toEqual({});
    expect(() => verify('{}', signedNow('{}', [CURRENT], 310), CURRENT)).toThrow('too old');
  });

  test('comes with the three headers of the scheme and whole epoch seconds, rounded down', () => {
    const headers = signatureHeaders('msg_1', '{}', [CURRENT], new Date('2026-11-20T09:00:00.999Z'));

    expect(headers).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(NOW.getTime() / 1000),
      'webhook-signature': expect.any(String),
    });
  });
});

describe('the schedule of attempts', () => {
  const schedule = StackContext.shape.webhookRetrySeconds.parse(undefined).split(',').map(Number);
  const waits = (random: number) =>
    schedule.map((_, index) => nextAttemptSeconds(index + 1, schedule, random));
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((total, each = Number.NaN) => total + each, 0);

  test('makes ten attempts over about 75 h', () => {
    expect(waits(0.5)).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect(nextAttemptSeconds(10, schedule, 0.5)).toBeUndefined();
    expect(sum(waits(0.5)) / 3600).toBeCloseTo(75.6, 1);
  });

  test('takes between 68 h and 83 h', () => {
    expect(sum(waits(0)) / 3600).toBeGreaterThan(68);
    expect(sum(waits(1)) / 3600).toBeLessThan(83.2);
  });

  test('varies each wait by up to a tenth, in whole seconds, including both bounds', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 86_400 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (planned, random) => {
          const wait = nextAttemptSeconds(1, [planned], random) ?? Number.NaN;

          expect(Number.isInteger(wait)).toBe(true);
          expect(Math.abs(wait - planned)).toBeLessThanOrEqual(planned * 0.1 + 0.5);
        },
      ),
    );
    expect([0, 1].map((random) => nextAttemptSeconds(1, [1000], random))).toEqual([900, 1100]);
  });

  test('grows with the random number, so that simultaneous failures spread out', () => {
    const chances = [0, 0.25, 0.5, 0.75, 1];

    expect(chances.map((random) => nextAttemptSeconds(1, [1000], random))).toEqual([
      900, 950, 1000, 1050, 1100,
    ]);
  });

  test('without waits makes one attempt', () => {
    expect(nextAttemptSeconds(1, [], 0.5)).toBeUndefined();
  });
});
