import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { LedgerEntry } from '../../../core/ledger/ledger.ts';
import type { StoredRequest } from '../../../core/requests/request-rules.ts';
import { accountKey, accountListing, ledgerEntryKey } from '../../../core/table/keys.ts';
import { systemClock } from '../../../core/time.ts';
import { judgeDebit } from '../../../ops/price-corrections.ts';
import { at, NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  aLedgerEntry,
  anAccount,
  anImageRequest,
  aVideoRequest,
  putRequest,
} from '../builders/entities.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
jest.spyOn(systemClock, 'now').mockReturnValue(NOW);

const id = (number: number): string => `img_01JD4KXQ8M00000000000000${10 + number}`;
const price = (xTokens: number) => JSON.stringify([{ maxPixels: null, xTokens }]);
/** A finished request for 2 images of 40 xTokens each, debited an hour ago. */
const dear = (number: number, changes: Partial<StoredRequest> = {}) =>
  anImageRequest({
    ...{ requestId: id(number), model: 'xQI3Pro', images: 2, status: 'succeeded' },
    ...{ unitPriceThousandths: 40_000, debitThousandths: 80_000, refundThousandths: 0 },
    ...(changes as object),
  });

const REQUESTS = [
  dear(1),
  dear(2, { refundThousandths: 40_000 }),
  dear(3, { status: 'processing', refundThousandths: undefined }),
  dear(4, { status: 'failed', refundThousandths: 80_000 }),
];
const debit = (reference: string, changes: Partial<LedgerEntry> = {}): Partial<LedgerEntry> => ({
  ...{ type: 'debit', reason: 'generation', amountThousandths: 80_000, model: 'xQI3Pro', reference },
  createdAt: at(-3_600),
  ...changes,
});

beforeEach(() => {
  const entries = [
    debit(id(9), { createdAt: at(-7_300) }),
    ...REQUESTS.map(({ requestId }) => debit(requestId)),
    debit(id(5)),
    debit(id(6), { model: 'xSD4.5' }),
    debit(id(8), { createdAt: at(-60) }),
  ];
  const account = anAccount({ balanceThousandths: 1_000, ledgerEntries: entries.length });
  memory.put(accountKey(ACCOUNT_ID), { ...accountListing(ACCOUNT_ID, account.createdAt), ...account });
  entries.forEach((entry, index) => {
    memory.put(ledgerEntryKey(ACCOUNT_ID, index + 1), aLedgerEntry(index + 1, entry));
  });
  for (const request of REQUESTS) putRequest(memory, request);
});

const INTERVAL = ['rates', 'affected', 'xQI3Pro', '--from', '2h', '--to', '10m'];
const balance = () => memory.get(accountKey(ACCOUNT_ID))?.balanceThousandths;

describe('rates affected', () => {
  test('lists the debits of the model in the interval with what another price would have cost, and changes nothing', async () => {
    expect(await json(...INTERVAL, '--value', price(4))).toMatchObject({
      requests: [
        { requestId: id(1), charged: 80, wouldCost: 8, state: 'to refund' },
        { requestId: id(2), charged: 40, wouldCost: 4, state: 'to refund' },
        { requestId: id(3), charged: 80, wouldCost: null, state: 'open' },
        { requestId: id(4), charged: 0, wouldCost: 0, state: 'as charged' },
        { requestId: id(5), charged: 80, wouldCost: null, state: 'deleted' },
      ],
      accounts: [{ accountId: ACCOUNT_ID, requests: 5, toRefund: 108, refunded: 0 }],
    });
    expect(balance()).toBe(1_000);
    expect((await ops(...INTERVAL, '--value', price(4))).stdout).toMatch(
      /Nothing was changed. Give --refund/,
    );
  });

  test('--refund gives each difference back once, however often it is repeated and whatever the price is then', async () => {
    const first = await json(...INTERVAL, '--value', price(4), '--refund');

    expect(first).toMatchObject({ accounts: [{ toRefund: 0, refunded: 108 }] });
    expect(balance()).toBe(109_000);
    expect(await json(...INTERVAL, '--value', price(1), '--refund')).toMatchObject({
      accounts: [{ toRefund: 0, refunded: 108 }],
    });
    expect(balance()).toBe(109_000);
    expect(await json('audit', 'list', ACCOUNT_ID)).toMatchObject([
      { action: 'rates affected', detail: `price of ${id(2)}: 36 xTokens back` },
      { action: 'rates affected', detail: `price of ${id(1)}: 72 xTokens back` },
    ]);
  });

  test('takes the rate in force by default, and charges nobody for a price that was too low', async () => {
    await json('rates', 'set', 'xQI3Pro', '--value', price(50), '--yes');

    expect(await json(...INTERVAL, '--refund')).toMatchObject({
      requests: [{ wouldCost: 100, state: 'as charged' }, {}, {}, {}, {}],
      accounts: [{ toRefund: 0, refunded: 0 }],
    });
    expect(balance()).toBe(1_000);
  });

  test('prices a video by its billed seconds', () => {
    const video = aVideoRequest({
      ...{ status: 'succeeded', resolution: '720p', billedSeconds: 7, refundThousandths: 0 },
      ...{ unitPriceThousandths: 50_000, debitThousandths: 350_000 },
    });

    expect(judgeDebit({ amountThousandths: 350_000 }, video, { perSecond: { '720p': 5 } })).toEqual({
      ...{ chargedThousandths: 350_000, wouldCostThousandths: 35_000, state: 'to refund' },
    });
  });

  test('refuses an interval that ends before it begins, and a price of another kind', async () => {
    expect(await ops('rates', 'affected', 'xQI3Pro', '--from', '1h', '--to', '2h')).toMatchObject({
      status: 2,
    });
    expect(await ops(...INTERVAL, '--value', '{"720p":5}')).toMatchObject({ status: 2 });
  });
});
