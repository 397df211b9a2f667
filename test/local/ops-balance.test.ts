import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AService, startService } from './a-service.ts';

let service: AService;
let accountId: string;
beforeAll(async () => {
  service = await startService();
});
beforeEach(async () => {
  ({ accountId } = await service.json<{ accountId: string }>('accounts', 'create', '--name', 'funds'));
});
afterAll(() => service.stop());

interface Entry {
  id: string;
  type: 'debit' | 'credit';
  amount: number;
  balanceAfter: number;
}
interface History {
  items: Entry[];
  page: number;
  pageSize: number;
  hasMore: boolean;
}

const change = (verb: 'topup' | 'adjust', amount: string, ...rest: string[]) =>
  service.json<Entry>('balance', verb, '--account', accountId, '--amount', amount, ...rest);
const history = (...args: string[]) =>
  service.json<History>('balance', 'history', '--account', accountId, ...args);

/** Newest first: each balance is the previous one plus or minus the entry's amount. */
const expectChain = (entries: Entry[]) => {
  entries.forEach(({ type, amount, balanceAfter }, index) => {
    const before = entries[index + 1]?.balanceAfter ?? 0;
    const thousandths = before * 1000 + (type === 'credit' ? 1 : -1) * amount * 1000;
    expect(Math.round(balanceAfter * 1000)).toBe(Math.round(thousandths));
  });
};

describe('balance', () => {
  test('topup prints the ledger entry, with the note as its reference', async () => {
    expect(await change('topup', '100.125', '--note', 'invoice 7')).toEqual({
      id: expect.stringMatching(/^led_[0-9A-HJKMNP-TV-Z]{26}$/),
      type: 'credit',
      reason: 'topup',
      amount: 100.125,
      balanceAfter: 100.125,
      reference: 'invoice 7',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('adjust deducts and adds, with a negative amount given either way', async () => {
    await change('topup', '10');

    expect(await change('adjust', '-2.5', '--note', 'goodwill')).toMatchObject({
      type: 'debit',
      reason: 'admin_adjustment',
      amount: 2.5,
      balanceAfter: 7.5,
      reference: 'goodwill',
    });
    expect(await service.json('balance', 'adjust', '--account', accountId, '--amount=-0.001')).toMatchObject({
      type: 'debit',
      amount: 0.001,
      balanceAfter: 7.499,
      reference: '',
    });
    expect(await change('adjust', '0.501')).toMatchObject({ type: 'credit', balanceAfter: 8 });
  });

  test('adjust below zero is refused and changes nothing', async () => {
    await change('topup', '1');

    const refused = await service.ops('balance', 'adjust', '--account', accountId, '--amount', '-1.001');

    expect(refused).toEqual({
      status: 1,
      stdout: '',
      stderr: 'The balance is 1: it cannot go below 0.\n',
    });
    expect((await history()).items).toHaveLength(1);
  });

  test('a balance above the limit is refused', async () => {
    await change('topup', '1000000000');

    expect(await service.ops('balance', 'topup', '--account', accountId, '--amount', '0.001')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'The balance is 1000000000: an operator cannot raise it above 1000000000. Give a lower --amount.\n',
    });
    expect(await service.json('accounts', 'show', '--account', accountId)).toMatchObject({
      xTokens: 1_000_000_000,
    });
  });

  test('a change repeated under its idempotency key prints the first entry, even many times at once', async () => {
    const keyed = (verb: 'topup' | 'adjust', amount: string) =>
      service.ops(
        ...['balance', verb, '--account', accountId, `--amount=${amount}`, '--json'],
        ...['--idempotency-key', 'invoice 7'],
      );
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => keyed('topup', '5')));

    expect(new Set(outcomes.map(({ stdout }) => stdout)).size).toBe(1);
    for (const other of [
      await keyed('topup', '6'),
      await keyed('adjust', '5'),
      await keyed('adjust', '-5'),
    ]) {
      expect(other).toEqual({
        status: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^This idempotency key was used for another change: entry led_\w+\.\n$/,
        ),
      });
    }
    expect((await history()).items).toMatchObject([{ amount: 5, balanceAfter: 5 }]);
  });

  test('history pages through the ledger, newest first', async () => {
    const first = await change('topup', '1');
    const second = await change('topup', '2');
    const third = await change('adjust', '-3');

    const newest = await history('--page-size', '2');

    expect(newest).toEqual({ items: [third, second], page: 1, pageSize: 2, hasMore: true });
    expect(await history('--page', '2', '--page-size', '2')).toEqual({
      items: [first],
      page: 2,
      pageSize: 2,
      hasMore: false,
    });
    expect(await history('--page', '3', '--page-size', '2')).toMatchObject({ items: [], hasMore: false });
    expect(await history()).toMatchObject({ page: 1, pageSize: 20 });
  });

  test('concurrent debits and credits keep the chain, and never go below 0', async () => {
    await change('topup', '5');

    const outcomes = await Promise.all(
      ['-2', '-2', '-2', '1.5', '-2'].map((amount) =>
        service.ops('balance', 'adjust', '--account', accountId, '--amount', amount),
      ),
    );

    const { items } = await history();
    expectChain(items);
    expect(items.every(({ balanceAfter }) => balanceAfter >= 0)).toBe(true);
    expect(items).toHaveLength(1 + outcomes.filter(({ status }) => status === 0).length);
  });

  test.each([
    ['topup', ['--amount', '5']],
    ['adjust', ['--amount', '5']],
    ['history', []],
  ])('%s of an unknown account is refused', async (verb, args) => {
    expect(await service.ops('balance', verb, '--account', 'acc_nobody', ...args)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no account acc_nobody. List accounts with: accounts list\n',
    });
  });

  test('history prints a table with signed amounts and names the next page, without --json', async () => {
    await change('topup', '10');
    await change('adjust', '-2.5', '--note', 'two\nlines');

    const whole = await service.ops('balance', 'history', '--account', accountId);
    const part = await service.ops('balance', 'history', '--account', accountId, '--page-size', '1');

    const [head, newest, oldest] = whole.stdout.split('\n');
    expect(head).toMatch(/^TIME +ENTRY +REASON +AMOUNT +BALANCE AFTER +REFERENCE$/);
    expect(newest).toMatch(/ admin_adjustment +-2\.5 +7\.5 +two lines$/);
    expect(oldest).toMatch(/ topup +10 +10$/);
    expect(part.stdout).toMatch(/\n\nMore on --page 2\.\n$/);
  });
});
