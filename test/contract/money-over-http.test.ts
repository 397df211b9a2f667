import { describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  accepted,
  aGeneration,
  newCaller,
  send,
  settled,
  sharedService,
  unique,
} from './support/client.ts';
import { type Entry, expectUnbrokenChain, history, type Page } from './support/ledger.ts';
import { ops } from './support/local-service.ts';

describe('The ledger', () => {
  test('shows the topup, and the debit and refund of a failed request, newest first', async () => {
    const caller = await newCaller(await sharedService(), 10);
    const { requestId } = await accepted(caller, { prompt: unique('[fail=provider_error]') });
    await settled(caller, requestId);

    const entries = await history(caller);

    expect(
      entries.map(({ type, reason, amount, balanceAfter }) => [type, reason, amount, balanceAfter]),
    ).toEqual([
      ['credit', 'refund', 1, 10],
      ['debit', 'generation', 1, 9],
      ['credit', 'topup', 10, 10],
    ]);
    expect(entries.slice(0, 2).map(({ reference }) => reference)).toEqual([requestId, requestId]);
    expect(Object.keys(entries[0] ?? {}).sort()).toEqual(
      ['amount', 'balanceAfter', 'createdAt', 'id', 'reason', 'reference', 'type'].sort(),
    );
    expect(entries[0]?.id).toMatch(/^led_[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  test('has pages without gaps or repeats', async () => {
    const caller = await newCaller(await sharedService(), 0);
    for (let count = 1; count <= 7; count++) {
      await ops(caller.service, 'balance', 'topup', '--account', caller.accountId, '--amount', String(count));
    }

    const first = await caller.get<Page>('/v1/balance/history?pageSize=3');
    const last = await caller.get<Page>('/v1/balance/history?page=3&pageSize=3');
    const beyond = await caller.get<Page>('/v1/balance/history?page=4&pageSize=3');

    expect(first.body).toMatchObject({ page: 1, pageSize: 3, hasMore: true });
    expect(last.body).toMatchObject({ page: 3, pageSize: 3, hasMore: false });
    expect(last.body.items.map(({ amount }) => amount)).toEqual([1]);
    expect(beyond.body).toEqual({ items: [], page: 4, pageSize: 3, hasMore: false });
    expect((await history(caller, 3)).map(({ amount }) => amount)).toEqual([7, 6, 5, 4, 3, 2, 1]);
  });

  test("shows an operator's adjustment with a positive amount, up or down", async () => {
    const caller = await newCaller(await sharedService(), 12.345);
    for (const amount of ['-2.345', '0.5'])
      await ops(caller.service, 'balance', 'adjust', '--account', caller.accountId, `--amount=${amount}`);

    const entries = await history(caller);

    expect(entries.slice(0, 2)).toMatchObject([
      { type: 'credit', reason: 'admin_adjustment', amount: 0.5, balanceAfter: 10.5 },
      { type: 'debit', reason: 'admin_adjustment', amount: 2.345, balanceAfter: 10 },
    ]);
    expect((await caller.get('/v1/balance')).body).toEqual({
      ...{ xTokens: 10.5, updatedAt: entries[0]?.createdAt },
    });
  });

  test('updatedAt is the creation time until the balance moves, then the time of the newest entry', async () => {
    const caller = await newCaller(await sharedService(), 0);
    const { accountId, service } = caller;
    const { createdAt } = await ops<{ createdAt: string }>(service, 'accounts', 'show', accountId);
    const untouched = await caller.get<{ xTokens: number; updatedAt: string }>('/v1/balance');
    const topup = await ops<Entry>(service, 'balance', 'topup', accountId, '--amount', '2.5');

    expect(untouched.body).toEqual({ xTokens: 0, updatedAt: createdAt });
    expect((await caller.get('/v1/balance')).body).toEqual({ xTokens: 2.5, updatedAt: topup.createdAt });
  });
});

describe('20 concurrent creations with a balance for exactly 6', () => {
  test('6 are accepted, 14 refused with 402, the balance is never negative and the ledger is unbroken', async () => {
    const caller = await newCaller(await sharedService(), 6);
    const headers = { authorization: `Bearer ${caller.key}` };
    const body = aGeneration({ prompt: unique('[delay=1]') });

    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        send<AnyRecord>(caller.service, 'POST', '/v1/generations', { headers, body }),
      ),
    );

    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(6);
    expect(statuses.filter((status) => status === 402)).toHaveLength(14);
    expect((await caller.get('/v1/balance')).body.xTokens).toBe(0);
    const entries = await history(caller);
    expect(entries).toHaveLength(7);
    await expectUnbrokenChain(caller);
    const accepted = answers.filter(({ status }) => status === 202).map((answer) => answer.body.requestId);
    expect(new Set(entries.filter(({ type }) => type === 'debit').map(({ reference }) => reference))).toEqual(
      new Set(accepted),
    );
    for (const requestId of accepted) await settled(caller, requestId);
    expect((await caller.get('/v1/balance')).body.xTokens).toBe(0);
  });
});
