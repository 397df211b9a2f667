import { expect } from '@jest/globals';
import type { Caller } from './client.ts';

/** An entry of the balance history. */
export interface Entry {
  id: string;
  type: 'debit' | 'credit';
  reason: string;
  amount: number;
  balanceAfter: number;
  reference: string;
  createdAt: string;
}

/** A page of the balance history. */
export interface Page {
  items: Entry[];
  page: number;
  pageSize: number;
  hasMore: boolean;
}

/** The balance in xTokens. */
export const balance = async (caller: Caller): Promise<number> =>
  (await caller.get<{ xTokens: number }>('/v1/balance')).body.xTokens;

/** The whole history, newest first, page by page. */
export const history = async (caller: Caller, pageSize = 50): Promise<Entry[]> => {
  const entries: Entry[] = [];
  for (let page = 1; ; page++) {
    const { body } = await caller.get<Page>(`/v1/balance/history?page=${page}&pageSize=${pageSize}`);
    entries.push(...body.items);
    if (!body.hasMore) return entries;
  }
};

/** Reason and amount of every entry about a request, newest first. */
export const entriesOf = async (caller: Caller, requestId: string): Promise<[string, number][]> =>
  (await history(caller))
    .filter(({ reference }) => reference === requestId)
    .map(({ reason, amount }) => [reason, amount]);

/** The entries of a request that was paid and refunded in full. */
export const refundedInFull = (xTokens: number): [string, number][] => [
  ['refund', xTokens],
  ['generation', xTokens],
];

/** Expects that each request was paid once, and refunded if it failed, and that the ledger is whole. */
export const expectPaidOnce = async (
  caller: Caller,
  ended: readonly { requestId: string; status: string; cost?: number }[],
): Promise<void> => {
  for (const { requestId, status, cost = 0 } of ended) {
    const entries = await entriesOf(caller, requestId);
    const [, price = 0] = entries.at(-1) ?? [];
    expect(entries).toEqual(status === 'failed' ? refundedInFull(price) : [['generation', cost]]);
  }
  await expectUnbrokenChain(caller);
};

/** Expects that each entry follows from the one before it, and that the newest agrees with the balance. */
export const expectUnbrokenChain = async (caller: Caller): Promise<void> => {
  const entries = await history(caller);
  entries.forEach(({ type, amount, balanceAfter }, index) => {
    const before = entries[index + 1]?.balanceAfter ?? 0;
    expect(amount).toBeGreaterThan(0);
    expect(balanceAfter).toBeCloseTo(type === 'credit' ? before + amount : before - amount, 3);
    expect(balanceAfter).toBeGreaterThanOrEqual(0);
  });
  expect(await balance(caller)).toBe(entries[0]?.balanceAfter ?? 0);
};
