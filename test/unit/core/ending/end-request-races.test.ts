import { describe, expect, jest, test } from '@jest/globals';
import { endRequest } from '../../../../core/ending/end-request.ts';
import { failedBeforeStoring } from '../../../../core/ending/failed.ts';
import { settled } from '../../../../core/ending/settled.ts';
import { accountKey, requestKey } from '../../../../core/table/keys.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { tableError } from '../../builders/table-errors.ts';
import '../../fakes/fresh-executions.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { account, clock, endUser, entries, FAILURE, given, outputs, request } from './an-ending.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

describe('ending a request', () => {
  const ends = [
    ['settling', () => endRequest(REQUEST_ID, settled, { clock })],
    ['failing', () => endRequest(REQUEST_ID, failedBeforeStoring(FAILURE), { clock })],
  ] as const;

  test.each(ends)('by %s a second time writes nothing', async (_, end) => {
    given({ images: 2, outputs: outputs(1, 0) });
    await end();
    const ended = structuredClone(request());
    memory.transactions.length = 0;

    await end();
    for (const [, other] of ends) await other();

    expect(memory.transactions).toEqual([]);
    expect(request()).toEqual(ended);
    expect(entries()).toHaveLength(1);
  });

  test.each(ends)('by %s writes nothing when another run ended it first', async (_, end) => {
    given({ images: 2, outputs: outputs(1, 0) });
    memory.beforeTransaction = () =>
      memory.patch(requestKey(REQUEST_ID), { status: 'failed', by: 'another' });

    await end();

    expect(request()).toMatchObject({ status: 'failed', by: 'another' });
    expect(request()).not.toHaveProperty('finishedAt');
    expect(entries()).toEqual([]);
    expect(account()).toMatchObject({ balanceThousandths: 100_000, ledgerEntries: 3 });
    expect(endUser()).toMatchObject({ activeRequests: 1 });
    expect(memory.transactions).toHaveLength(1);
  });

  test.each(ends)('by %s adds its refund to the current balance, and names its entry', async (_, end) => {
    given({ images: 2, outputs: outputs(1, 0) });
    memory.beforeTransaction = (attempt) => {
      if (attempt === 1) memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 500, ledgerEntries: 7 });
    };

    await end();

    const refund = Number(request()?.refundThousandths);
    expect(refund).toBeGreaterThan(0);
    expect(request()?.refundEntryNumber).toBe(8);
    expect(entries()).toMatchObject([{ number: 8, balanceAfterThousandths: 500 + refund }]);
    expect(account()).toMatchObject({ balanceThousandths: 500 + refund, ledgerEntries: 8 });
    expect(memory.transactions).toHaveLength(2);
  });

  test.each(ends)(
    'by %s refunds once when the response of the committed attempt was lost',
    async (_, end) => {
      given({ images: 2, outputs: outputs(1, 0) });
      memory.afterTransaction = (attempt) => {
        if (attempt === 1) throw tableError('TransactionInProgressException');
      };

      await end();

      expect(entries()).toHaveLength(1);
      expect(account()?.balanceThousandths).toBe(100_000 + Number(request()?.refundThousandths));
    },
  );

  test('by many runs at once happens once', async () => {
    given({ images: 2, outputs: outputs(1, 0) });

    await Promise.all([...ends, ...ends, ...ends].map(([, end]) => end()));

    expect(entries()).toHaveLength(1);
    expect(account()?.balanceThousandths).toBe(100_000 + Number(request()?.refundThousandths));
    expect(endUser()).toMatchObject({ activeRequests: 0 });
  });

  test.each(ends)('by %s a request that is gone writes nothing', async (_, end) => {
    memory.reset();

    await end();

    expect(memory.transactions).toEqual([]);
  });
});
