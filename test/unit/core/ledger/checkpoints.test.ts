import '../../builders/environment.ts';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { getAccount } from '../../../../core/accounts/accounts.ts';
import { newRequestId } from '../../../../core/ids.ts';
import { findCheckpoint, putCheckpoint } from '../../../../core/ledger/checkpoints.ts';
import { balanceChangeWrites, changeBalance } from '../../../../core/ledger/ledger.ts';
import { verifyLedger, verifyLedgers } from '../../../../core/ledger/verify-ledger.ts';
import { insertRequestWrite } from '../../../../core/requests/requests.ts';
import { accountKey, ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { transact } from '../../../../core/table/transactions.ts';
import { failRequest } from '../../../../core/workflow/fail-request.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anEndUser, anImageRequest, putEndUser } from '../../builders/entities.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { MemoryExecutions } from '../../fakes/memory-executions.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const bucket = new MemoryBucket();
const executions = new MemoryExecutions();
jest.spyOn(Math, 'random').mockReturnValue(0);

let seconds = 0;
beforeEach(() => {
  memory.reset();
  bucket.reset();
  executions.reset();
  seconds = 0;
  memory.put(accountKey(ACCOUNT_ID), anAccount({ balanceThousandths: 0, ledgerEntries: 0 }));
  putEndUser(memory, anEndUser());
});

/** Each change is a second after the one before it. */
const now = (): Date => atSeconds(++seconds);
const topUp = () =>
  changeBalance(ACCOUNT_ID, { amountThousandths: 1_000_000, reason: 'topup', reference: 'invoice' }, now());
const create = async (): Promise<string> => {
  const createdAt = now();
  const requestId = newRequestId('image', createdAt);
  const request = anImageRequest({ requestId, status: 'processing', createdAt: createdAt.toISOString() });
  const amountThousandths = -request.debitThousandths;
  const change = {
    amountThousandths,
    reason: 'generation',
    reference: requestId,
    retentionDays: 30,
  } as const;
  await transact(async () => [
    ...balanceChangeWrites(await getAccount(ACCOUNT_ID), change, createdAt).writes,
    insertRequestWrite(request),
  ]);
  return requestId;
};
const fail = (requestId: string) =>
  failRequest(requestId, { code: 'provider_error', message: 'It broke.' }, new StoppedClock(now()));

const verify = async (full = false) => {
  const { entries, problems } = await verifyLedger(
    [{ accountId: ACCOUNT_ID }],
    { full },
    new StoppedClock(now()),
  );
  return { entries, problems: problems.map(({ kind }) => kind) };
};
const verifiedUntil = async () => (await findCheckpoint(ACCOUNT_ID))?.entryNumber;

describe('a verification', () => {
  test('reads on from the last one', async () => {
    await topUp();
    await fail(await create());
    expect(await verify()).toEqual({ entries: 3, problems: [] });
    expect(await verify()).toEqual({ entries: 0, problems: [] });
    await topUp();

    expect(await verify()).toEqual({ entries: 1, problems: [] });
    expect(await verifiedUntil()).toBe(4);
  });

  test('reads everything when it is full', async () => {
    await topUp();
    await verify();

    expect(await verify(true)).toEqual({ entries: 1, problems: [] });
  });

  test('takes no more calls for what is new, however much was verified', async () => {
    const callsAfter = async (entries: number): Promise<number> => {
      for (let entry = 0; entry < entries; entry++) await topUp();
      await verify();
      await fail(await create());
      const before = memory.client.commandCalls(QueryCommand).length;
      await verify();
      return memory.client.commandCalls(QueryCommand).length - before;
    };
    memory.itemsPerQuery = 2;
    const few = await callsAfter(4);

    expect(await callsAfter(200)).toBe(few);
  });

  test('does not pass a request that may still get a refund, and knows its debit later', async () => {
    await topUp();
    const open = await create();
    await topUp();
    expect(await verify()).toEqual({ entries: 3, problems: [] });
    // A mark is kept every hundred entries, and at the newest.
    expect(await verifiedUntil()).toBeUndefined();

    for (let entry = 0; entry < 100; entry++) await topUp();
    await fail(open);

    expect(await verify()).toEqual({ entries: 104, problems: [] });
    expect(await verifiedUntil()).toBe(104);
  });

  test('finds the debit of a request that was finished but not yet known to be', async () => {
    await topUp();
    for (let entry = 0; entry < 98; entry++) await topUp();
    const early = await create();
    const open = await create();
    await fail(early);
    expect(await verify()).toEqual({ entries: 102, problems: [] });
    expect(await verifiedUntil()).toBe(100);
    await fail(open);

    // The refund of the first is read again, and its debit, which is before the checkpoint, is looked up.
    expect(await verify()).toEqual({ entries: 3, problems: [] });
    expect(await verifiedUntil()).toBe(103);
  });

  test('finds a refund that is missing of a request that was unfinished before', async () => {
    await topUp();
    const open = await create();
    await verify();
    memory.patch(requestKey(open), { status: 'failed' });

    expect(await verify()).toEqual({ entries: 2, problems: ['refund_missing'] });
  });

  test('does not judge again what was created at the instant of the last verified entry', async () => {
    await topUp();
    const instant = new StoppedClock(atSeconds(seconds + 1));
    const requestId = await create();
    await failRequest(requestId, { code: 'provider_error', message: 'It broke.' }, instant);
    await verify();

    expect(await verifiedUntil()).toBe(3);
    expect(await verify()).toEqual({ entries: 0, problems: [] });
  });

  test('finds a request without a debit among the new ones', async () => {
    await topUp();
    await verify();
    const createdAt = now();
    const requestId = newRequestId('image', createdAt);
    await transact(() => [insertRequestWrite(anImageRequest({ requestId, status: 'processing' }))]);

    expect((await verify()).problems).toEqual(['debit_missing']);
  });

  test('with a problem keeps no checkpoint, so that the next one finds it again', async () => {
    await topUp();
    await verify();
    await topUp();
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 1 });

    expect(await verify()).toEqual({ entries: 1, problems: ['balance'] });
    expect(await verifiedUntil()).toBe(1);
    expect((await verify()).problems).toEqual(['balance']);
  });

  test.each([
    ['the reference', { reference: 'another' }],
    [
      'the amount, with the balance to match it',
      { amountThousandths: 1_000_000, reason: 'admin_adjustment' },
    ],
    ['the instant', { createdAt: NOW.toISOString() }],
  ])('that is full finds an entry whose %s changed since it was verified', async (_, changed) => {
    await topUp();
    await topUp();
    await verify();
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 1), changed);

    expect((await verify()).problems).toEqual([]);
    expect((await verify(true)).problems).toEqual(['checkpoint']);
  });

  test('that is full and finds a problem before the checkpoint makes the next ones find it too, until it is mended', async () => {
    await topUp();
    const requestId = await create();
    await fail(requestId);
    await topUp();
    await verify();
    memory.patch(requestKey(requestId), { refundThousandths: 1 });
    expect(await verify()).toEqual({ entries: 0, problems: [] });

    expect(await verify(true)).toEqual({ entries: 4, problems: ['refund_amount'] });
    expect(await verify()).toEqual({ entries: 4, problems: ['refund_amount'] });
    expect(await verify()).toEqual({ entries: 4, problems: ['refund_amount'] });

    memory.patch(requestKey(requestId), { refundThousandths: 4_000 });
    expect(await verify()).toEqual({ entries: 4, problems: [] });
    expect(await verify()).toEqual({ entries: 0, problems: [] });
  });

  test('after one that found a changed entry still compares with what was verified', async () => {
    await topUp();
    await topUp();
    await verify();
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 1), { reference: 'another' });
    await verify(true);
    await topUp();

    expect(await verify()).toEqual({ entries: 3, problems: ['checkpoint'] });
    expect(await verify()).toEqual({ entries: 3, problems: ['checkpoint'] });
    expect(await verifiedUntil()).toBe(2);
  });

  test('that read on from a checkpoint does not restore it when a full one doubts it meanwhile', async () => {
    await topUp();
    const requestId = await create();
    await fail(requestId);
    await verify();
    memory.patch(requestKey(requestId), { refundThousandths: 1 });
    await topUp();
    let calls = 0;
    let full: unknown;
    memory.beforeCall = async () => {
      // The checkpoint has been read.
      if (++calls === 2) full = await verify(true);
    };

    expect(await verify()).toEqual({ entries: 1, problems: [] });
    expect(full).toMatchObject({ problems: ['refund_amount'] });
    expect((await verify()).problems).toEqual(['refund_amount']);
  });

  test('that was cut off does not restore a checkpoint that is doubted before it goes on', async () => {
    await topUp();
    const requestId = await create();
    await fail(requestId);
    await verify();
    memory.patch(requestKey(requestId), { refundThousandths: 1 });
    for (let entry = 0; entry < 4; entry++) await topUp();
    const scope = { full: false, entriesAtOnce: 2 };
    let isTime = true;
    const hasTime = (): boolean => {
      const hadTime = isTime;
      isTime = false;
      return hadTime;
    };
    const clock = new StoppedClock(now());
    const { left } = await verifyLedgers([{ accountId: ACCOUNT_ID }], { ...scope, hasTime }, clock);
    expect(left).toMatchObject([{ from: { entryNumber: 5 }, readsOn: true }]);
    await verify(true);

    const { verification } = await verifyLedgers(left, { ...scope, hasTime: () => true }, clock);

    expect(verification.problems).toEqual([]);
    expect((await verify()).problems).toEqual(['refund_amount']);
  });

  test('finds that verified entries are gone, whether it is full or not', async () => {
    await topUp();
    await topUp();
    await verify();
    memory.remove(ledgerEntryKey(ACCOUNT_ID, 2));
    memory.patch(accountKey(ACCOUNT_ID), { ledgerEntries: 1, balanceThousandths: 1_000_000 });

    expect((await verify()).problems).toEqual(['entry_counter', 'balance']);
    expect((await verify(true)).problems).toEqual(['checkpoint']);
  });
});

test('a checkpoint is not put back by a verification that came less far', async () => {
  const checkpoint = {
    accountId: ACCOUNT_ID,
    entryNumber: 7,
    balanceThousandths: 1,
    digest: 'd',
    entryAt: NOW.toISOString(),
    verifiedAt: NOW.toISOString(),
  };
  await putCheckpoint(checkpoint);
  await putCheckpoint({ ...checkpoint, entryNumber: 5 });

  expect(await findCheckpoint(ACCOUNT_ID)).toEqual(checkpoint);
  expect(memory.client.commandCalls(PutCommand)).toHaveLength(2);
});
