import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { createRequest } from '../../../../core/creation/create-request.ts';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { changeBalance } from '../../../../core/ledger/change-balance.ts';
import { LedgerEntry } from '../../../../core/ledger/ledger.ts';
import { getRequest } from '../../../../core/requests/requests.ts';
import { accountKey, endUserKey, ledgerPartition } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  putRequest,
} from '../../builders/entities.ts';
import { anImageSubmission, theFacts } from '../../builders/submissions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import '../../fakes/fresh-executions.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

const WRITERS = ['creation', 'refund', 'operator'] as const;
const EARLY = atSeconds(-3600).toISOString();

const account = () => anAccount({ ledgerEntries: 0, balanceUpdatedAt: EARLY });
const refundedId = (index: number): string => `img_01JD4KXQ8M${String(index).padStart(16, '0')}`;

/** Changes the balance the way this writer does, by a clock that is `skew` seconds off; returns its request. */
const write = async (writer: (typeof WRITERS)[number], skew: number, index: number): Promise<string[]> => {
  const now = atSeconds(skew);
  if (writer === 'operator') {
    await changeBalance(ACCOUNT_ID, { amountThousandths: 500, reason: 'topup', reference: 'invoice 7' }, now);
    return [];
  }
  if (writer === 'refund') {
    const failure = { code: 'provider_error', message: 'It broke.' } as const;
    await endRequest(refundedId(index), failedBeforeStoring(failure), { clock: new StoppedClock(now) });
    return [refundedId(index)];
  }
  const { request } = await createRequest(account(), anImageSubmission({}, { now }), theFacts());
  return [request.requestId];
};

const aWriter = fc.record({
  writer: fc.constantFrom(...WRITERS),
  skew: fc.integer({ min: -90, max: 90 }),
  pauses: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 }),
});

describe('a ledger that several write at once, by clocks that differ', () => {
  test('has instants that never decrease along its numbers, and requests that name their entries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aWriter, { minLength: 2, maxLength: 8 }), async (writers) => {
        memory.reset();
        memory.put(accountKey(ACCOUNT_ID), account());
        memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ activeRequests: 8 }));
        for (const [index, { writer: kind }] of writers.entries()) {
          const refunded = { requestId: refundedId(index), status: 'processing', createdAt: EARLY } as const;
          if (kind === 'refund') putRequest(memory, anImageRequest(refunded));
        }
        const pauses = writers.flatMap(({ pauses: own }) => own);
        let calls = 0;
        memory.beforeCall = async () => {
          const pause = pauses[calls++ % pauses.length] ?? 0;
          for (let turn = 0; turn < pause; turn++) await new Promise(setImmediate);
        };

        const requestIds = (
          await Promise.all(writers.map(({ writer: kind, skew }, index) => write(kind, skew, index)))
        ).flat();

        const entries = memory.partition(ledgerPartition(ACCOUNT_ID)).map((item) => LedgerEntry.parse(item));
        const instants = entries.map(({ createdAt }) => createdAt);
        expect(entries.map(({ number }) => number)).toEqual(writers.map((_, index) => index + 1));
        expect(instants).toEqual(instants.toSorted());
        expect(memory.get(accountKey(ACCOUNT_ID))?.balanceUpdatedAt).toBe(instants.at(-1));
        for (const requestId of requestIds) {
          const own = entries.filter(({ reference }) => reference === requestId);
          const { debitEntryNumber, refundEntryNumber } = await getRequest(requestId);
          expect(own.map(({ number }) => number)).toEqual(
            [debitEntryNumber, refundEntryNumber].filter((number) => number !== undefined),
          );
          expect(own.map(({ retentionDays }) => retentionDays)).toEqual([90]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
