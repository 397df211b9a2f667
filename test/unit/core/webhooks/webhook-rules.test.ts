import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { newWebhookSecret } from '../../../../core/ids.ts';
import {
  isHanging,
  isTooLong,
  nextAttemptSeconds,
  signatureHeaders,
  stepAfterAttempt,
} from '../../../../core/webhooks/webhook-rules.ts';
import { NOW } from '../../builders/clocks.ts';
import { RETRY_SCHEDULE } from '../../builders/webhook-schedule.ts';

const CURRENT = newWebhookSecret();
const PREVIOUS = newWebhookSecret();
/** The official library uses its own clock, so what it should accept is signed with the current time. */
const signedNow = (body: string, secrets: readonly string[]) =>
  signatureHeaders('msg_1', body, secrets, new Date());
const verify = (body: string, headers: Record<string, string>, secret: string): unknown =>
  new Webhook(secret).verify(body, headers);

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
    for (const secret of [CURRENT, PREVIOUS]) expect(verify('{}', headers, secret)).toEqual({});
    expect(() => verify('{}', headers, newWebhookSecret())).toThrow(WebhookVerificationError);
  });

  test('covers body, id and time', () => {
    const headers = signedNow('{"a":1}', [CURRENT]);

    expect(() => verify('{"a":2}', headers, CURRENT)).toThrow('No matching signature found');
    for (const name of ['webhook-id', 'webhook-timestamp']) {
      const other = headers[name]?.replace(/.$/, (last) => (last === '1' ? '2' : '1')) ?? '';
      const changed = { ...headers, [name]: other };
      expect(() => verify('{"a":1}', changed, CURRENT)).toThrow('No matching signature found');
    }
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
  const waits = (random: number) =>
    RETRY_SCHEDULE.map((_, index) => nextAttemptSeconds(index + 1, RETRY_SCHEDULE, random));
  const sum = (numbers: readonly (number | undefined)[]) =>
    numbers.reduce<number>((total, each = Number.NaN) => total + each, 0);

  test('makes ten attempts over about 75 h', () => {
    expect(waits(0.5)).toEqual(RETRY_SCHEDULE);
    expect(nextAttemptSeconds(10, RETRY_SCHEDULE, 0.5)).toBeUndefined();
    expect(sum(waits(0.5)) / 3600).toBeCloseTo(75.6, 1);
  });

  test('takes between 68 h and 83 h', () => {
    expect(sum(waits(0)) / 3600).toBeGreaterThan(68);
    expect(sum(waits(1)) / 3600).toBeLessThan(83.2);
  });

  test('varies each wait by up to a tenth, in whole seconds, so that simultaneous failures spread out', () => {
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
    expect([0, 0.25, 0.5, 0.75, 1].map((random) => nextAttemptSeconds(1, [1000], random))).toEqual([
      900, 950, 1000, 1050, 1100,
    ]);
  });
});

describe('the step after an attempt', () => {
  const stepOf = (result: { status?: number; error?: string }, number = 1) =>
    stepAfterAttempt(result, number, RETRY_SCHEDULE, 0.5);

  test('ends the delivery for any 2xx, gives it up for 410, and is the next attempt for any other status', () => {
    const statuses = Array.from({ length: 500 }, (_, index) => 100 + index);
    const steps = Map.groupBy(statuses, (status) => JSON.stringify(stepOf({ status })));

    const next = JSON.stringify({ next: 'wait', waitSeconds: RETRY_SCHEDULE[0], attemptsMade: 1 });
    const gone = JSON.stringify({ next: 'give-up', reason: 'gone' });
    expect(Object.fromEntries(steps)).toEqual({
      [JSON.stringify({ next: 'stop' })]: statuses.filter((status) => Math.floor(status / 100) === 2),
      [gone]: [410],
      [next]: statuses.filter((status) => Math.floor(status / 100) !== 2 && status !== 410),
    });
  });

  test('without an answer is the next attempt, until the schedule is spent', () => {
    const last = RETRY_SCHEDULE.length;
    const waitSeconds = RETRY_SCHEDULE.at(-1);

    expect(stepOf({ error: 'timeout' }, last)).toEqual({ next: 'wait', waitSeconds, attemptsMade: last });
    expect(stepOf({ error: 'timeout' }, last + 1)).toEqual({ next: 'give-up', reason: 'spent' });
    expect(stepOf({ status: 410 }, last + 1)).toEqual({ next: 'give-up', reason: 'gone' });
    expect(stepOf({ status: 204 }, last + 1)).toEqual({ next: 'stop' });
  });
});

test.each([
  [[1_021_091], false],
  [[1_021_092], true],
  [[510_545, 510_545], false],
  [[510_546, 510_546], true],
])('a schedule of %j, each pause a tenth longer, is too long for 13 days: %p', (schedule, expected) => {
  expect(isTooLong(schedule)).toBe(expected);
});

test.each([
  [{ status: 200 }, 10_000],
  [{ error: 'ECONNRESET' }, 4_000],
])('a receiver with the result %j hangs from %p ms on', (result, milliseconds) => {
  expect([milliseconds - 1, milliseconds].map((taken) => isHanging(result, taken))).toEqual([false, true]);
});
