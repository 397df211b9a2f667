import { PassThrough } from 'node:stream';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { listWebhookAttempts } from '../../core/deliveries/webhook-attempts.ts';
import { accountKey } from '../../core/table/keys.ts';
import { table } from '../../core/table/table.ts';
import { systemClock } from '../../core/time.ts';
import type { DeliveryStep } from '../../core/webhooks/webhook-rules.ts';
import { atSeconds, NOW } from '../unit/builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest, putRequest, REQUEST_ID } from '../unit/builders/entities.ts';
import { aSigningKey } from '../unit/builders/signing-key.ts';
import { RETRY_SCHEDULE, RETRY_SECONDS } from '../unit/builders/webhook-schedule.ts';
import { MemorySecrets } from '../unit/fakes/memory-secrets.ts';
import { MemoryTable } from '../unit/fakes/memory-table.ts';
import { definitionText } from './asl.ts';
import {
  answers,
  type Behaviour,
  type Execution,
  fails,
  hangs,
  runWorkflow,
  type Script,
} from './harness.ts';

/** The deliveries sent, and the receiver's answer to each: a status, or an error of the guarded client. */
const sent: { url: string; body: string; headers: Record<string, string> }[] = [];
let receiver: (number: number) => number | Error = () => 204;
class TargetRefusedError extends Error {
  override name = 'TargetRefusedError';
}
// Sockets run in real time, the workflow in virtual time.
jest.unstable_mockModule('../../core/guarded-http/guarded-http.ts', () => ({
  TargetRefusedError,
  guardedRequest: async (
    url: string,
    { body, headers }: { body: string; headers: Record<string, string> },
  ) => {
    sent.push({ url, body, headers });
    const answer = receiver(sent.length);
    if (answer instanceof Error) throw answer;
    return { statusCode: answer, body: new PassThrough() };
  },
}));
const { deliverWebhook } = await import('../../core/webhooks/deliver-webhook.ts');

Object.assign(process.env, { WEBHOOK_RETRY_SECONDS: RETRY_SECONDS });

/** The execution's name in the harness. */
const EXECUTION = 'execution-1';
/** The first attempt has failed, or the delivery begins at once. */
const AFTER_FIRST = { waitSeconds: 7, attemptsMade: 1 };
const AT_ONCE = { waitSeconds: 0, attemptsMade: 0 };
const run = (script: Script, begin = AFTER_FIRST): Promise<Execution> =>
  runWorkflow(
    definitionText('webhook-delivery.asl.json'),
    {
      ...{ requestId: REQUEST_ID, model: 'xQI3Pro', accountId: ACCOUNT_ID },
      step: { result: { next: 'wait', ...begin } },
    },
    script,
  );
const step = (next: DeliveryStep): Behaviour => answers(next);
const wait = (waitSeconds: number, attemptsMade = 2): Behaviour =>
  step({ next: 'wait', waitSeconds, attemptsMade });
const stop = step({ next: 'stop' });
const sends = (...behaviours: Behaviour[]): Script => ({ 'deliver-webhook': behaviours });

describe('the state machine', () => {
  test('waits, makes the second attempt, and passes its own name to the function', async () => {
    const execution = await run(sends(stop));

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.path).toEqual([
      'Wait for next attempt',
      'Deliver webhook',
      'Was it delivered?',
      'Delivered',
    ]);
    expect(execution.seconds).toBe(7);
    expect(execution.invocations).toEqual([
      {
        functionName: 'deliver-webhook',
        payload: {
          ...{ requestId: REQUEST_ID, delivery: EXECUTION, attemptsMade: 1 },
          knownSteps: expect.any(Array),
        },
      },
    ]);
  });

  test('waits as long as the function says, and attempts again with the number of the attempts made', async () => {
    const execution = await run(sends(wait(5, 2), wait(86_400, 3), stop));

    expect(execution.path).toEqual([
      'Wait for next attempt',
      ...['Deliver webhook', 'Was it delivered?', 'Wait for next attempt'],
      ...['Deliver webhook', 'Was it delivered?', 'Wait for next attempt'],
      ...['Deliver webhook', 'Was it delivered?', 'Delivered'],
    ]);
    expect(
      execution.visits.flatMap(({ state, seconds }) => (state.startsWith('Wait') ? [seconds] : [])),
    ).toEqual([7, 5, 86_400]);
    expect(
      execution.invocations.map(({ payload }) => (payload as { attemptsMade: number }).attemptsMade),
    ).toEqual([1, 2, 3]);
  });

  test.each(['gone', 'spent'] as const)(
    'ends, and not by a failure of ours, when the webhook is given up: %s',
    async (reason) => {
      const execution = await run(sends(step({ next: 'give-up', reason })));

      expect(execution.status).toBe('SUCCEEDED');
      expect(execution.path.slice(-2)).toEqual(['Was it delivered?', 'Not delivered']);
    },
  );

  test.each([
    ['cannot reach the table', [fails('ProvisionedThroughputExceededException')]],
    ['does not come back', [hangs]],
  ])("survives hours in which the function %s: that is not the receiver's fault", async (_what, faults) => {
    const execution = await run(sends(...faults, ...faults, ...faults, ...faults, stop));

    expect(execution.status).toBe('SUCCEEDED');
    const waits = execution.visits.filter(({ state }) => state === 'Wait after our own fault');
    expect(waits.map(({ seconds }) => seconds)).toEqual([900, 900, 900, 900]);
    expect(execution.path.at(-1)).toBe('Delivered');
  });

  test('fails at once when its function does not exist any more', async () => {
    const execution = await run(sends(fails('Lambda.ResourceNotFoundException')));

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('FunctionNotFound');
    expect(execution.retries).toEqual([]);
    expect(execution.seconds).toBe(7);
  });

  test('fails within a day when it may not call its function any more', async () => {
    const execution = await run(sends(...Array(101).fill(fails('Lambda.AWSLambdaException'))));

    expect(execution.status).toBe('FAILED');
    expect(execution.failure?.Error).toBe('FunctionNotFound');
    // Jitter is at its maximum here: half of it on average.
    expect(execution.seconds / 3600).toBeGreaterThan(12);
    expect(execution.seconds / 3600).toBeLessThan(25);
  });

  test.each([
    'Lambda.AWSLambdaException',
    'Lambda.ServiceException',
    'Lambda.TooManyRequestsException',
    'TransientError',
  ])('outlasts hours of %s by retries', async (error) => {
    const execution = await run(sends(...Array(20).fill(fails(error)), stop));

    expect(execution.status).toBe('SUCCEEDED');
    expect(execution.retries).toHaveLength(20);
    expect(execution.seconds / 3600).toBeGreaterThan(2);
  });

  test('times out after 14 days whatever its steps return', async () => {
    const execution = await run({ 'deliver-webhook': fails('TypeError') });

    expect(execution.status).toBe('TIMED_OUT');
    expect(execution.seconds / 86_400).toBe(14);
  });
});

describe('with the deployed function', () => {
  const memory = new MemoryTable(table);
  const secrets = new MemorySecrets();
  const signingKey = aSigningKey().privateKeyPem;
  beforeEach(() => {
    clearCaches();
    memory.reset();
    secrets.reset();
    secrets.set('arn:delivery-key', signingKey);
    sent.length = 0;
    memory.put(accountKey(ACCOUNT_ID), anAccount());
    putRequest(
      memory,
      anImageRequest({
        status: 'succeeded',
        finishedAt: NOW.toISOString(),
        expiresAt: atSeconds(82_800).toISOString(),
        costThousandths: 4_000,
        outputs: [],
        webhookUrl: 'https://receiver.example.com/hook',
      }),
    );
  });

  /** Runs a delivery in the middle of the jitter. */
  const deliver = (): Promise<Execution> =>
    run(
      {
        'deliver-webhook': (payload) => {
          const { requestId, ...next } = payload as {
            requestId: string;
            delivery: string;
            attemptsMade: number;
          };
          return deliverWebhook({ subjectId: requestId, ...next }, systemClock, () => 0.5);
        },
      },
      AT_ONCE,
    );
  const attempts = () => listWebhookAttempts(REQUEST_ID);

  test('an unreachable receiver gets ten attempts over about 75 h, then none', async () => {
    receiver = () => 503;

    const execution = await deliver();

    expect(execution.path.at(-1)).toBe('Not delivered');
    expect(execution.status).toBe('SUCCEEDED');
    const starts = RETRY_SCHEDULE.map((_, index) =>
      RETRY_SCHEDULE.slice(0, index).reduce((sum, each) => sum + each, 0),
    );
    starts.push(RETRY_SCHEDULE.reduce((sum, each) => sum + each));
    expect((await attempts()).map(({ delivery }) => delivery)).toEqual(Array(10).fill(EXECUTION));
    expect((await attempts()).map(({ startedAt }) => startedAt)).toEqual(
      starts.map((seconds) => atSeconds(seconds).toISOString()),
    );
    expect(sent).toHaveLength(10);
    expect(execution.seconds / 3600).toBeCloseTo(75.6, 1);
  });

  test('our own fault does not count as an attempt', async () => {
    receiver = () => 500;
    let faults = 3;
    memory.beforeCall = () => {
      if (faults-- > 0) throw Object.assign(new Error('busy'), { name: 'ThrottlingException' });
    };

    const execution = await deliver();

    expect(execution.path.filter((state) => state === 'Wait after our own fault')).toHaveLength(3);
    expect(sent).toHaveLength(10);
    expect((await attempts()).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
