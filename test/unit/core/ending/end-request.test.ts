import '../../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { failRequest, settleOrFailRequest } from '../../../../core/ending/fail-request.ts';
import { settleRequest } from '../../../../core/ending/settle-request.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { accountKey, endUserKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putRequest,
  REQUEST_ID,
} from '../../builders/entities.ts';
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

  test('without a time when it failed', async () => {
    given();

    await failRequest(REQUEST_ID, FAILURE, clock);

    expect(counted()).toEqual([
      ['RequestsEnded', failed],
      ['RequestsFailed', {}],
      ['XTokensRefunded', {}, 8],
    ]);
  });

  test('once, whoever ends it and however often', async () => {
    given();

    await Promise.all([1, 2, 3].map(() => failRequest(REQUEST_ID, FAILURE, clock)));
    await failRequest(REQUEST_ID, FAILURE, clock);

    expect(counted().filter(([name]) => name === 'RequestsEnded')).toHaveLength(1);
    expect(counted().filter(([name]) => name === 'XTokensRefunded')).toHaveLength(1);
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
