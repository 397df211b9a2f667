import { userInfo } from 'node:os';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { insertApiKey, SCOPES } from '../../../core/accounts/api-keys.ts';
import { accountKey, accountListing } from '../../../core/table/keys.ts';
import { findActor } from '../../../ops/actor.ts';
import { NOW } from '../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anAccount,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
} from '../builders/entities.ts';
import { tableError } from '../builders/table-errors.ts';
import { memory } from '../fakes/fresh-table.ts';
import { describeLocalRun } from './local-run.ts';

const { ops, json } = describeLocalRun();
const ME = userInfo().username;
const audit = (...args: string[]) => json('audit', 'list', ...args) as Promise<Record<string, unknown>[]>;

beforeEach(() => {
  const account = anAccount({ balanceThousandths: 0, ledgerEntries: 0 });
  memory.put(accountKey(ACCOUNT_ID), { ...accountListing(ACCOUNT_ID, account.createdAt), ...account });
  putEndUser(memory, anEndUser());
});

describe('every change by staff is recorded with who made it', () => {
  test.each<[string[], Record<string, unknown>]>([
    [['accounts', 'block', ACCOUNT_ID], { accountId: ACCOUNT_ID }],
    [['accounts', 'unblock', ACCOUNT_ID], { accountId: ACCOUNT_ID }],
    [['accounts', 'rotate-webhook-secret', ACCOUNT_ID], { accountId: ACCOUNT_ID }],
    [
      ['accounts', 'set-limits', ACCOUNT_ID, '--requests-per-second', '2', '--burst', '4'],
      { accountId: ACCOUNT_ID, detail: '2 requests a second, bursts of 4' },
    ],
    [
      ['accounts', 'edit', ACCOUNT_ID, '--contact', 'ada'],
      { accountId: ACCOUNT_ID, detail: 'contact "ada"' },
    ],
    [['accounts', 'create', '--name', 'Acme'], { detail: 'name "Acme"' }],
    [
      ['keys', 'create', ACCOUNT_ID, '--label', 'web'],
      { accountId: ACCOUNT_ID, subject: expect.stringMatching(/^key_/), detail: 'label "web"' },
    ],
    [
      ['balance', 'topup', ACCOUNT_ID, '--amount', '1000.5', '--note', 'invoice 7'],
      {
        accountId: ACCOUNT_ID,
        subject: expect.stringMatching(/^led_/),
        detail: '1,000.5 xTokens, "invoice 7"',
      },
    ],
    [['rates', 'set', 'xW2.7S', '--value', '{"720p":1,"1080p":2}'], { subject: 'xW2.7S' }],
    [['models', 'disable', 'xW2.7S'], { subject: 'xW2.7S' }],
    [['models', 'enable', 'xW2.7S'], { subject: 'xW2.7S' }],
    [
      ['models', 'retire', 'xW2.7S', '--retires-at', '2999-01-01'],
      { subject: 'xW2.7S', detail: 'at 2999-01-01T00:00:00.000Z, no successor' },
    ],
    [['models', 'retire', 'xW2.7S', '--undo'], { subject: 'xW2.7S', detail: 'none' }],
    [['end-users', 'block', ACCOUNT_ID, EMAIL], { accountId: ACCOUNT_ID, subject: anEndUser().endUserId }],
    [['end-users', 'unblock', ACCOUNT_ID, EMAIL], { accountId: ACCOUNT_ID, subject: anEndUser().endUserId }],
  ])('%j', async (command, told) => {
    await json(...command);

    const [change, ...others] = await audit();
    expect(others).toEqual([]);
    expect(change).toMatchObject({
      actor: ME,
      identity: null,
      action: command.slice(0, 2).join(' '),
      ...told,
    });
  });

  test.each([
    ['set-budget', ['--per-day', '2.5'], { detail: 'per day 2.5, per month any' }],
    ['set-end-user', ['--end-user', EMAIL], { detail: 'end-user set' }],
    ['set-end-user', ['--end-user', 'none'], { detail: 'end-user none' }],
    ['revoke', [], {}],
  ])('keys %s, with the account of the key', async (verb, options, told) => {
    process.env.TABLE_NAME = 'table';
    const limits = { requestsPerSecond: 1, burst: 1 };
    const { apiKey } = await insertApiKey(ACCOUNT_ID, { scopes: SCOPES, label: '', limits }, NOW);
    await json('keys', verb, apiKey.keyId, ...options);

    const change = { action: `keys ${verb}`, accountId: ACCOUNT_ID, subject: apiKey.keyId, ...told };
    expect(await audit()).toMatchObject([change]);
  });

  test('in the transaction that makes it: a change that is refused is not recorded', async () => {
    await ops('accounts', 'block', 'acc_none');
    await ops('balance', 'adjust', ACCOUNT_ID, '--amount=-1');
    await ops('keys', 'revoke', 'key_none');

    expect(await audit()).toEqual([]);
    await ops('accounts', 'block', ACCOUNT_ID);
    expect(memory.transactions.at(-1)?.TransactItems).toHaveLength(2);
  });

  test.each([[['accounts', 'block']], [['accounts', 'rotate-webhook-secret']], [['keys', 'create']]])(
    'once, also when the first answer was lost: %j',
    async (verb) => {
      memory.afterTransaction = (attempt) => {
        if (attempt === 1) throw tableError('TransactionInProgressException');
      };
      await json(...verb, ACCOUNT_ID);

      expect(await audit()).toHaveLength(1);
    },
  );

  test('without the address of an end-user, which is to go when they are deleted', async () => {
    await json('end-users', 'block', ACCOUNT_ID, EMAIL);

    expect(JSON.stringify(memory.partition('AUDIT'))).not.toContain(EMAIL);
  });

  test('not again when an idempotency key is repeated, which says that nothing changed', async () => {
    const topUp = ['balance', 'topup', ACCOUNT_ID, '--amount', '5', '--idempotency-key', 'invoice 7'];
    const first = await ops(...topUp, '--json');
    const again = await ops(...topUp);
    const asJson = await ops(...topUp, '--json');

    expect(again.stdout).toMatch(
      /^Nothing changed: this idempotency key made this entry at 20\S+Z\.\n\nid +led_/,
    );
    expect(asJson).toEqual(first);
    expect(await audit()).toHaveLength(1);
  });
});

describe('audit list', () => {
  beforeEach(async () => {
    putRequest(memory, anImageRequest());
    for (const [day, model] of [
      [1, 'xW2.7S'],
      [2, 'xSD4.5'],
      [3, 'xQI3Pro'],
    ] as const) {
      jest.useFakeTimers({ now: Date.UTC(2026, 10, day), doNotFake: ['nextTick', 'setImmediate'] });
      await json('models', 'disable', model, '--actor', 'Ada');
    }
    jest.setSystemTime(Date.UTC(2026, 10, 4));
    await json('accounts', 'block', ACCOUNT_ID);
    jest.useRealTimers();
  });

  test('prints changes newest first, with the name that was given before the identity', async () => {
    expect(await audit('--limit', '2')).toMatchObject([
      { action: 'accounts block', actor: ME, identity: null },
      { action: 'models disable', subject: 'xQI3Pro', actor: 'Ada', identity: ME },
    ]);
  });

  test('limits them by account and time', async () => {
    expect(await audit('--since', '2026-11-02')).toHaveLength(3);
    expect(await audit('--since', '2026-11-02T00:00:00.001Z')).toHaveLength(2);
    expect(await audit(ACCOUNT_ID)).toMatchObject([{ action: 'accounts block' }]);
  });

  test('says that there are more', async () => {
    expect((await ops('audit', 'list', '--limit', '1')).stdout).toContain('There are more: --limit 2');
  });
});

test('a deployed stack tells the identity of the AWS credentials', async () => {
  const arn = 'arn:aws:sts::111122223333:assumed-role/Staff/ada';
  const sts = mockClient(STSClient);
  sts.on(GetCallerIdentityCommand).resolves({ Arn: arn });
  const target = { stackName: 'Stack', outputs: {}, sandboxUrl: undefined };

  expect(await findActor(target, undefined)).toEqual({ actor: arn });
  expect(await findActor(target, 'Ada')).toEqual({ actor: 'Ada', identity: arn });
});
