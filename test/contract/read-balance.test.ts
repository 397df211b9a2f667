import { describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { history, type Page } from './support/ledger.ts';
import { ops } from './support/local-service.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller(12.345);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('GET /v1/balance', () => {
  test('returns exactly xTokens and updatedAt', async () => {
    const { status, body } = await caller.get('/v1/balance');

    expect(status).toBe(200);
    expect(body).toEqual({ xTokens: 12.345, updatedAt: expect.stringMatching(INSTANT) });
  });

  test('says whose it is with include=account', async () => {
    const { body } = await caller.get('/v1/balance?include=account');

    expect(body).toMatchObject({ xTokens: 12.345, account: { accountId: caller.accountId, name: 'a test' } });
    expect(wrongFields(await caller.get('/v1/balance?include=input'))).toEqual(['include']);
  });

  test('refuses an unknown query parameter by name', async () => {
    expect(wrongFields(await caller.get('/v1/balance?page=1'))).toEqual(['page']);
  });
});

describe('GET /v1/balance/history', () => {
  test('returns pages of 20 by default', async () => {
    const { status, body } = await caller.get<Page>('/v1/balance/history');

    expect(status).toBe(200);
    expect(body).toEqual({
      items: [
        {
          id: expect.stringMatching(/^led_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
          type: 'credit',
          reason: 'topup',
          amount: 12.345,
          balanceAfter: 12.345,
          reference: expect.any(String),
          createdAt: expect.stringMatching(INSTANT),
        },
      ],
      page: 1,
      pageSize: 20,
      hasMore: false,
    });
  });

  // Pages are tested in money-over-http.test.ts, the parameters of every list in test/unit/functions/api-request.test.ts.
  test('refuses every wrong parameter by name', async () => {
    const query = 'page=0&pageSize=51&limit=5&PageSize=5&x=1&x=2';

    expect(wrongFields(await caller.get(`/v1/balance/history?${query}`))).toEqual([
      ...['PageSize', 'limit', 'page', 'pageSize', 'x'],
    ]);
  });

  test("shows an operator's adjustment with a positive amount, up or down", async () => {
    const adjust = (amount: string) =>
      ops(caller.service, 'balance', 'adjust', '--account', caller.accountId, `--amount=${amount}`);
    await adjust('-2.345');
    await adjust('0.5');

    const [second, first] = await history(caller);

    expect(first).toMatchObject({
      type: 'debit',
      reason: 'admin_adjustment',
      amount: 2.345,
      balanceAfter: 10,
    });
    expect(second).toMatchObject({
      type: 'credit',
      reason: 'admin_adjustment',
      amount: 0.5,
      balanceAfter: 10.5,
    });
    expect((await caller.get('/v1/balance')).body).toEqual({ xTokens: 10.5, updatedAt: second?.createdAt });
  });
});
