import '../../builders/environment.ts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { failRequest, settleOrFailRequest } from '../../../../core/ending/fail-request.ts';
import { settleRequest } from '../../../../core/ending/settle-request.ts';
import { logger } from '../../../../core/observability.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { accountKey, endUserKey, providerAttemptKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anAttempt,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
import { aDone } from '../../builders/providers.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';
import { trafficCounted } from '../../fakes/metrics.ts';

const memory = new MemoryTable(table);
const executions = new MemoryExecutions();
const clock = new StoppedClock(atSeconds(30));
const FAILURE = { code: 'provider_error', message: 'It broke.' } as const;
let counted = trafficCounted();
const given = (overrides: Partial<ImageRequest> = {}) => {
  putRequest(memory, anImageRequest({ status: 'processing', images: 2, ...overrides }));
};
/** Two calls, the last of which its provider had done 26 s after the creation. */
const givenCalls = () => {
  for (const [call, seconds] of [20, 26].entries()) {
    const finishedAt = atSeconds(seconds).toISOString();
    memory.put(providerAttemptKey(REQUEST_ID, call, 0), anAttempt({ call, finishedAt, outcome: aDone('a') }));
  }
};
beforeEach(() => {
  memory.reset();
  executions.reset();
  memory.put(accountKey(ACCOUNT_ID), anAccount());
  memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser());
  counted = trafficCounted();
});

const succeeded = { model: 'xQI3Pro', outcome: 'succeeded' };
const failed = { model: 'xQI3Pro', outcome: 'failed' };

describe('the end of a request is counted', () => {
  test('with its model, its outcome and the seconds from its creation', async () => {
    given({ outputs: [aStoredOutput(0), aStoredOutput(1)] });

    await settleRequest(REQUEST_ID, clock);

    expect(counted()).toEqual([
      ['RequestsEnded', succeeded],
      ['RequestsFailed', {}, 0],
      ['TimeToDone', succeeded, 30],
    ]);
  });

  test('with what is refunded, in xTokens', async () => {
    given({ outputs: [aStoredOutput(0), { index: 1 }] });

    await settleRequest(REQUEST_ID, clock);

    expect(counted()).toContainEqual(['XTokensRefunded', {}, 4]);
  });

  test('with its time when it failed too', async () => {
    given();

    await failRequest(REQUEST_ID, FAILURE, clock);

    expect(counted()).toEqual([
      ['RequestsEnded', failed],
      ['RequestsFailed', {}],
      ['TimeToDone', failed, 30],
      ['XTokensRefunded', {}, 8],
    ]);
  });

  test.each([
    ['settled', [aStoredOutput(0), aStoredOutput(1)], settleRequest],
    ['failed', undefined, (id: string, by: typeof clock) => failRequest(id, FAILURE, by)],
  ])('with its seconds at the provider when it is %s', async (_, outputs, end) => {
    given({ dispatchedAt: atSeconds(4).toISOString(), ...(outputs && { outputs }) });
    givenCalls();

    await end(REQUEST_ID, clock);

    expect(counted()).toContainEqual(['SecondsAtProvider', { model: 'xQI3Pro' }, 22]);
  });

  test('once, whoever ends it and however often', async () => {
    given();

    await Promise.all([1, 2, 3].map(() => failRequest(REQUEST_ID, FAILURE, clock)));
    await failRequest(REQUEST_ID, FAILURE, clock);

    expect(counted().filter(([name]) => name === 'RequestsEnded')).toHaveLength(1);
    expect(counted().filter(([name]) => name === 'XTokensRefunded')).toHaveLength(1);
  });
});

describe('the end of a request is one line of the log', () => {
  const info = jest.spyOn(logger, 'info');
  const ends = () => info.mock.calls.filter(([message]) => message === 'request ended');
  beforeEach(() => {
    info.mockClear();
  });
  const ids = { requestId: REQUEST_ID, accountId: ACCOUNT_ID, model: 'xQI3Pro' };

  test('with the seconds of each part', async () => {
    given({
      dispatchedAt: atSeconds(4).toISOString(),
      outputs: [aStoredOutput(0), aStoredOutput(1)],
      webhookUrl: 'https://receiver.example/hook',
    });
    givenCalls();

    await settleRequest(REQUEST_ID, clock);

    const parts = { totalSeconds: 30, queueSeconds: 4, providerSeconds: 22, storingSeconds: 4 };
    expect(ends()).toEqual([
      ['request ended', { ...ids, outcome: 'succeeded', code: undefined, ...parts, hasWebhook: true }],
    ]);
  });

  test('with the failure, once, whoever ends it and however often', async () => {
    given();

    await Promise.all([1, 2, 3].map(() => failRequest(REQUEST_ID, FAILURE, clock)));

    const parts = { totalSeconds: 30, queueSeconds: 30 };
    expect(ends()).toEqual([
      ['request ended', { ...ids, outcome: 'failed', code: 'provider_error', ...parts, hasWebhook: false }],
    ]);
  });
});

describe('a request that was refunded and then set back to processing', () => {
  test.each([
    ['fails', () => failRequest(REQUEST_ID, FAILURE, clock)],
    ['is given up', () => settleOrFailRequest(REQUEST_ID, FAILURE, clock)],
    ['is settled', () => settleRequest(REQUEST_ID, clock)],
  ])('is not refunded again when it %s', async (_, end) => {
    given();
    await failRequest(REQUEST_ID, FAILURE, clock);
    const balance = memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;
    memory.patch(requestKey(REQUEST_ID), { status: 'processing' });

    await end();

    expect(memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths).toBe(balance);
    expect(memory.get(requestKey(REQUEST_ID))).toMatchObject({ status: 'processing' });
  });
});
