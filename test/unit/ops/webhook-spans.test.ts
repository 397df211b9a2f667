import { describe, expect, test } from '@jest/globals';
import type { WebhookAttempt } from '../../../core/deliveries/webhook-attempts.ts';
import type { RequestReport } from '../../../ops/request-report.ts';
import { tellWebhookSpans } from '../../../ops/webhook-spans.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { anImageRequest, REQUEST_ID } from '../builders/entities.ts';
import { anExecution, aReport } from './a-report.ts';

const at = (second: number): string => atSeconds(second).toISOString();
const second = (instant: string | null) =>
  instant === null ? null : (Date.parse(instant) - NOW.getTime()) / 1000;
const anAttempt = (number: number, startedAt: number, changes: Partial<WebhookAttempt>): WebhookAttempt => ({
  ...{ requestId: REQUEST_ID, delivery: REQUEST_ID, number },
  ...{ startedAt: at(startedAt), milliseconds: 500 },
  ...changes,
});
const DELIVERY = anExecution({}, { workflow: 'webhook-delivery', startedAt: at(10) });
const request = anImageRequest({ status: 'succeeded', finishedAt: at(9) });

const told = (changes: Partial<RequestReport>, now = 12) =>
  tellWebhookSpans(aReport({ request, executions: [DELIVERY], ...changes }), atSeconds(now)).map((span) => [
    ...[span.label, second(span.from), second(span.until)],
    ...[span.outcome, span.detail].flatMap((part) => part ?? []),
  ]);

describe('the spans of webhook deliveries', () => {
  test('a delivery waits for its first attempt', () => {
    expect(told({})).toEqual([['webhook, waiting for attempt 1', 10, null]]);
  });

  test('after a refusal it pauses until the next attempt of its schedule', () => {
    const webhooks = [anAttempt(1, 10, { status: 503 })];

    expect(told({ webhooks })).toEqual([
      ['webhook, attempt 1', 10, 10.5, 'failed', 'HTTP 503'],
      ['webhook, pause before attempt 2', 10.5, 15.5, `planned for about ${at(15.5)}`],
    ]);
    expect(told({ webhooks }, 16)[1]?.[2]).toBeNull();
  });

  test('the next attempt ends the pause, and an accepted one the delivery', () => {
    const webhooks = [anAttempt(1, 10, { error: 'timeout' }), anAttempt(2, 16, { status: 204 })];

    expect(told({ webhooks })).toEqual([
      ['webhook, attempt 1', 10, 10.5, 'failed', 'timeout'],
      ['webhook, pause before attempt 2', 10.5, 16],
      ['webhook, attempt 2', 16, 16.5, 'succeeded', 'HTTP 204'],
    ]);
  });

  test.each([
    ['SUCCEEDED', 'that was given up says so', 'HTTP 410, given up'],
    ['FAILED', 'whose execution failed', 'HTTP 410'],
  ] as const)('%s: a delivery %s, and plans no more', (status, _what, detail) => {
    const executions = [{ ...DELIVERY, status, stoppedAt: at(11) } as const];

    expect(told({ webhooks: [anAttempt(1, 10, { status: 410 })], executions })).toEqual([
      ['webhook, attempt 1', 10, 10.5, 'failed', detail],
    ]);
  });

  test('attempts stay when Step Functions has dropped the execution', () => {
    expect(told({ webhooks: [anAttempt(1, 10, { status: 500 })], executions: [] })).toEqual([
      ['webhook, attempt 1', 10, 10.5, 'failed', 'HTTP 500'],
    ]);
  });

  test('what an operator sent again is told apart', () => {
    const again = `${REQUEST_ID}-01JD4KXQ8M0000000000000003`;
    const webhooks = [anAttempt(1, 10, { status: 200 }), anAttempt(1, 20, { delivery: again, status: 200 })];

    expect(told({ webhooks }).map(([label]) => label)).toEqual([
      'webhook, attempt 1',
      'webhook resent 1, attempt 1',
    ]);
  });
});
