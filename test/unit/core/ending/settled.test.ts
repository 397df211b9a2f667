import { InvokeCommand } from '@aws-sdk/client-lambda';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import type { Failure } from '../../../../core/errors.ts';
import type { ImageRequest, StoredOutput } from '../../../../core/requests/request-rules.ts';
import {
  accountKey,
  dueListing,
  endUserKey,
  requestKey,
  webhookAttemptKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, NOW, tickingClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { executions } from '../../fakes/fresh-executions.ts';
import { firstAttempts, lambda } from '../../fakes/fresh-first-attempts.ts';
import { memory } from '../../fakes/fresh-table.ts';
import {
  account,
  CHECK,
  clock,
  dueKeyOf,
  EXPIRE,
  endUser,
  entries,
  FAILURE,
  given,
  outputs,
  request,
  webhookUrl,
} from './an-ending.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);
const NOTHING_STORED: Failure = { code: 'internal_error', message: 'None of the outputs could be stored.' };

describe('settling a request', () => {
  test('with every output delivered charges the whole debit and does not touch the account', async () => {
    given({ images: 2, outputs: outputs(2, 0) });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(request()).toMatchObject({
      status: 'succeeded',
      costThousandths: 8_000,
      refundThousandths: 0,
      finishedAt: atSeconds(30).toISOString(),
      ...EXPIRE,
    });
    expect(executions.started).toEqual([]);
    expect(account()).toEqual({ ...accountKey(ACCOUNT_ID), ...anAccount() });
    expect(entries()).toEqual([]);
    expect(memory.transactions[0]?.TransactItems).toHaveLength(2);
    expect(memory.calls()).toEqual({ QueryCommand: 1, TransactWriteCommand: 1 });
    expect(endUser()).toMatchObject({ activeRequests: 0, spentThousandths: 60_000 });
  });

  test.each<[string, Partial<ImageRequest>, number, number]>([
    ['one of three could not be stored', { images: 3, outputs: outputs(2, 1) }, 8_000, 4_000],
    ['one of three was never produced', { images: 3, outputs: outputs(2, 0) }, 8_000, 4_000],
    ['one was not produced and one not stored', { images: 3, outputs: outputs(1, 1) }, 4_000, 8_000],
    ['a sequence came out short', { images: 15, sequential: true, outputs: outputs(3, 0) }, 12_000, 48_000],
    ['one costs a thousandth', { images: 2, unitPriceThousandths: 1, outputs: outputs(1, 0) }, 1, 1],
    ['the price has a fraction', { images: 3, unitPriceThousandths: 333, outputs: outputs(1, 0) }, 333, 666],
  ])('refunds exactly what was not delivered when %s', async (_, stored, cost, refund) => {
    given(stored);

    await endRequest(REQUEST_ID, settled, { clock });

    expect(request()).toMatchObject({
      status: 'succeeded',
      costThousandths: cost,
      refundThousandths: refund,
      refundEntryNumber: 4,
    });
    expect(entries()).toMatchObject([
      {
        number: 4,
        type: 'credit',
        reason: 'refund',
        reference: REQUEST_ID,
        amountThousandths: refund,
        balanceAfterThousandths: 100_000 + refund,
        createdAt: atSeconds(30).toISOString(),
        retentionDays: 90,
      },
    ]);
    expect(account()).toMatchObject({ balanceThousandths: 100_000 + refund, ledgerEntries: 4 });
    expect(endUser()).toMatchObject({ activeRequests: 0, spentThousandths: 60_000 - refund });
    expect(memory.transactions).toHaveLength(1);
  });

  test.each<[string, StoredOutput[] | undefined]>([
    ['every output failed', outputs(0, 2)],
    ['there are none', []],
    ['none were recorded', undefined],
  ])('fails it with internal_error and refunds all of it when %s', async (_, none) => {
    given({ images: 2, outputs: none });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(request()).toMatchObject({ status: 'failed', error: NOTHING_STORED, refundThousandths: 8_000 });
    expect(request()).not.toHaveProperty('costThousandths');
    expect(request()).not.toHaveProperty('expiresAt');
    expect(entries()).toMatchObject([{ reason: 'refund', amountThousandths: 8_000 }]);
  });

  test('leaves a failed request due: another run may have stored files', async () => {
    given({ outputs: [{ index: 0 }], GSI1PK: 'DUE#START#0' });

    await endRequest(REQUEST_ID, settled, { clock });

    expect(request()).toMatchObject({ status: 'failed', ...CHECK });
  });

  test('keeps debit = cost + refund, with at most one refund, whatever was delivered', async () => {
    const cases = fc.record({
      images: fc.integer({ min: 1, max: 15 }),
      unitPriceThousandths: fc.integer({ min: 1, max: 50_000 }),
      stored: fc.array(fc.boolean(), { maxLength: 15 }),
    });
    await fc.assert(
      fc.asyncProperty(cases, async ({ images, unitPriceThousandths, stored }) => {
        const results = stored.slice(0, images).map((ok, index) => (ok ? aStoredOutput(index) : { index }));
        given({ images, unitPriceThousandths, outputs: results });

        await endRequest(REQUEST_ID, settled, { clock });

        const { costThousandths: cost = 0, refundThousandths: refund } = request() ?? {};
        expect(Number(cost) + Number(refund)).toBe(images * unitPriceThousandths);
        expect(entries().map(({ amountThousandths }) => amountThousandths)).toEqual(
          refund === 0 ? [] : [refund],
        );
        expect(account()?.balanceThousandths).toBe(100_000 + Number(refund));
      }),
    );
  });

  test('expires the files the configured time after finishedAt, on a running clock', async () => {
    given({ outputs: outputs(1, 0), retentionDays: 2 });

    await withEnvironment({ OUTPUT_TTL_SECONDS: '10' }, () =>
      endRequest(REQUEST_ID, settled, { clock: tickingClock(7, atSeconds(0.5)) }),
    );

    const finishedAt = Date.parse(String(request()?.finishedAt));
    expect(request()?.expiresAt).toBe(new Date(finishedAt + 10_000).toISOString());
    expect(request()?.ttl).toBe(Math.ceil((finishedAt + 10_000) / 1000) + 2 * 86_400);
  });
});

describe('failing a request', () => {
  test.each(['queued', 'processing'] as const)('that is %s refunds all of it', async (status) => {
    given({ status, images: 3, outputs: outputs(2, 0) });

    await endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock });

    expect(request()).toMatchObject({
      status: 'failed',
      error: FAILURE,
      refundThousandths: 12_000,
      finishedAt: atSeconds(30).toISOString(),
      ttl: atSeconds(30 + 90 * 86_400).getTime() / 1000,
    });
    expect(entries()).toMatchObject([{ amountThousandths: 12_000, balanceAfterThousandths: 112_000 }]);
    expect(endUser()).toMatchObject({ activeRequests: 0, spentThousandths: 48_000 });
    expect([executions.started, dueKeyOf()]).toEqual([[], undefined]);
  });

  test('works when the end-user or the account has been blocked', async () => {
    memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { blockedAt: NOW.toISOString() });
    memory.patch(accountKey(ACCOUNT_ID), { blockedAt: NOW.toISOString() });

    await endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock });

    expect(request()?.status).toBe('failed');
    expect(account()).toMatchObject({ balanceThousandths: 104_000 });
  });
});

describe('settling a request for a video', () => {
  test.each<[string, StoredOutput[], object]>([
    [
      'charges every billed second, whatever the duration of the file',
      [aStoredVideo({ durationSec: 4.2 })],
      { status: 'succeeded', costThousandths: 120_000, refundThousandths: 0 },
    ],
    [
      'fails it and refunds all of it when it could not be stored',
      [{ index: 0 }],
      { status: 'failed', error: NOTHING_STORED, refundThousandths: 120_000 },
    ],
    [
      'fails it and refunds all of it when none was produced',
      [],
      { status: 'failed', error: NOTHING_STORED, refundThousandths: 120_000 },
    ],
  ])('%s', async (_, videos, expected) => {
    putRequest(memory, aVideoRequest({ status: 'processing', billedSeconds: 12, outputs: videos }));

    await endRequest(VIDEO_ID, settled, { clock });

    const video = memory.get(requestKey(VIDEO_ID));
    expect(video).toMatchObject(expected);
    expect(entries().map(({ amountThousandths, reference }) => [amountThousandths, reference])).toEqual(
      video?.status === 'failed' ? [[120_000, VIDEO_ID]] : [],
    );
  });
});

test('A webhook whose first attempt cannot be asked for is asked for by the next run, and is due until it is made', async () => {
  given({ outputs: outputs(1, 0), webhookUrl });
  lambda.on(InvokeCommand).rejects(new Error('throttled'));

  await expect(endRequest(REQUEST_ID, settled, { clock })).rejects.toThrow('throttled');
  expect(dueKeyOf()).toEqual(EXPIRE);
  lambda.on(InvokeCommand).resolves({ StatusCode: 202 });
  await endRequest(REQUEST_ID, settled, { clock });

  expect(firstAttempts()).toEqual([REQUEST_ID, REQUEST_ID]);
  expect(memory.get(webhookAttemptKey(REQUEST_ID, REQUEST_ID, 1))).toMatchObject({
    ...dueListing('CHECK', REQUEST_ID, new Date(clock.now().getTime() + 30_000).toISOString()),
  });
});
