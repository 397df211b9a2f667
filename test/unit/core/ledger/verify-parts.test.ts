import '../../builders/environment.ts';
import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerMark } from '../../../../core/ledger/checkpoint-rules.ts';
import { findCheckpoint, putCheckpoint } from '../../../../core/ledger/checkpoints.ts';
import type { LedgerEntry } from '../../../../core/ledger/ledger.ts';
import type { LedgerProblem } from '../../../../core/ledger/ledger-rules.ts';
import type { LedgerProgress } from '../../../../core/ledger/verify-account.ts';
import { verifyLedgers } from '../../../../core/ledger/verify-ledger.ts';
import { accountKey, ledgerCheckpointKey, ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anAccount, anImageRequest, putRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => memory.reset());

const DEBIT = 1_000;
const isoOf = (seconds: number) => atSeconds(seconds).toISOString();
/** Long after all entries of a ledger: all times are in seconds before it. */
const END = -10_000;

/** Writes a ledger as the service would, or not quite. Each change is a second after the one before it. */
class Writer {
  seconds: number;
  number: number;
  balance: number;
  readonly open: string[] = [];
  readonly all: string[] = [];

  constructor(
    { entryNumber = 0, balanceThousandths = 0 }: Partial<LedgerMark> = {},
    firstSecond = END - 1_000,
  ) {
    this.number = entryNumber;
    this.balance = balanceThousandths;
    this.seconds = firstSecond;
  }

  entry(reason: LedgerEntry['reason'], amount: number, reference: string): void {
    this.number += 1;
    this.balance += amount;
    memory.put(ledgerEntryKey(ACCOUNT_ID, this.number), {
      id: `led_${this.number}`,
      accountId: ACCOUNT_ID,
      number: this.number,
      type: amount < 0 ? 'debit' : 'credit',
      reason,
      amountThousandths: Math.abs(amount),
      balanceAfterThousandths: this.balance,
      reference,
      createdAt: isoOf(this.seconds),
      ...(reason === 'generation' && { retentionDays: 90 }),
    });
    memory.put(
      accountKey(ACCOUNT_ID),
      anAccount({ balanceThousandths: this.balance, ledgerEntries: this.number }),
    );
  }

  create(withDebit = true): string {
    this.seconds += 1;
    const requestId = aRequestId(atSeconds(this.seconds));
    putRequest(
      memory,
      anImageRequest({
        requestId,
        status: 'processing',
        createdAt: isoOf(this.seconds),
        debitThousandths: DEBIT,
      }),
    );
    if (withDebit) this.entry('generation', -DEBIT, requestId);
    this.open.push(requestId);
    this.all.push(requestId);
    return requestId;
  }

  fail(requestId: string): void {
    this.seconds += 1;
    memory.patch(requestKey(requestId), {
      ...{ status: 'failed', refundThousandths: DEBIT, finishedAt: isoOf(this.seconds) },
      error: { code: 'provider_error', message: 'It broke.' },
    });
    this.entry('refund', DEBIT, requestId);
  }

  succeed(requestId: string): void {
    this.seconds += 1;
    memory.patch(requestKey(requestId), {
      ...{ status: 'succeeded', costThousandths: DEBIT, finishedAt: isoOf(this.seconds) },
    });
  }

  lose(requestId: string): void {
    memory.remove(requestKey(requestId));
    const at = this.open.indexOf(requestId);
    if (at >= 0) this.open.splice(at, 1);
    this.all.splice(this.all.indexOf(requestId), 1);
  }

  topUp(): void {
    this.seconds += 1;
    this.entry('topup', DEBIT, 'invoice');
  }
}

const clock = new StoppedClock(atSeconds(0));
const verifyInParts = async (entriesAtOnce: number, full: boolean, hasTime: () => boolean = () => true) => {
  const problems: LedgerProblem[] = [];
  let [entries, runs] = [0, 0];
  for (let left: LedgerProgress[] = [{ accountId: ACCOUNT_ID }]; left.length > 0; runs++) {
    const run = await verifyLedgers(left, { full, hasTime, entriesAtOnce }, clock);
    problems.push(...run.verification.problems);
    entries += run.verification.entries;
    left = run.left;
  }
  return { problems, entries, runs };
};
/** Time for one part. */
const onePart = () => {
  let calls = 0;
  return () => calls++ % 2 === 0;
};
/** What a problem is about: `Request img_1`, `Entry 7`. */
const aboutOf = (problems: LedgerProblem[]) =>
  [...new Set(problems.map(({ detail }) => detail.split(' ', 2).join(' ')))].toSorted();

const STEPS = ['create', 'create', 'create', 'fail', 'succeed', 'topUp'] as const;
const ROGUE = [
  'second refund',
  'second debit',
  'lost request',
  'other refund',
  'no debit',
  'lost entry',
] as const;
const aHistory = fc.record({
  steps: fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat()), { minLength: 300, maxLength: 450 }),
  rogue: fc.array(fc.tuple(fc.nat({ max: 450 }), fc.constantFrom(...ROGUE), fc.nat()), { maxLength: 3 }),
  entriesAtOnce: fc.integer({ min: 40, max: 200 }),
});
type Step = (typeof STEPS)[number] | (typeof ROGUE)[number];

const perform = (writer: Writer, step: Step, which: number): void => {
  const { open, all } = writer;
  const any = all[which % Math.max(1, all.length)];
  // Most end soon, some stay open for long.
  const [ending] = open.splice(Math.max(0, open.length - 1 - (which % 5)), 1);
  if (step === 'fail' && ending) {
    writer.fail(ending);
    return;
  }
  if (step === 'succeed' && ending) {
    writer.succeed(ending);
    return;
  }
  if (ending !== undefined) open.push(ending);
  if (step === 'create') writer.create();
  else if (step === 'no debit') writer.create(false);
  else if (step === 'lost entry')
    memory.remove(ledgerEntryKey(ACCOUNT_ID, 1 + (which % Math.max(1, writer.number))));
  else if (any === undefined) writer.topUp();
  else if (step === 'second refund') writer.entry('refund', DEBIT, any);
  else if (step === 'second debit') writer.entry('generation', -DEBIT, any);
  else if (step === 'lost request') writer.lose(any);
  else if (step === 'other refund') memory.patch(requestKey(any), { refundThousandths: 1 });
  else writer.topUp();
};

describe('a ledger that is verified part by part', () => {
  test('has the problems that it has as a whole, whether or not the run is cut after each part', async () => {
    await fc.assert(
      fc.asyncProperty(aHistory, async ({ steps, rogue, entriesAtOnce }) => {
        memory.reset();
        const writer = new Writer();
        writer.topUp();
        for (const [index, [step, which]] of steps.entries()) {
          perform(writer, step, which);
          for (const [at, wrong, of] of rogue) if (at === index) perform(writer, wrong, of);
        }
        const whole = await verifyInParts(Number.POSITIVE_INFINITY, true);
        const problems = aboutOf(whole.problems);
        const checkpoint = await findCheckpoint(ACCOUNT_ID);

        memory.remove(ledgerCheckpointKey(ACCOUNT_ID));
        expect(aboutOf((await verifyInParts(entriesAtOnce, true)).problems)).toEqual(problems);
        expect(aboutOf((await verifyInParts(entriesAtOnce, true, onePart())).problems)).toEqual(problems);
        if (problems.length > 0) return;
        expect(whole.entries).toBe(writer.number);
        // The end of the last part is a mark, too.
        expect((await findCheckpoint(ACCOUNT_ID))?.entryNumber ?? 0).toBeGreaterThanOrEqual(
          checkpoint?.entryNumber ?? 0,
        );
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test('is gone on with from where the run was cut, without reading again what was verified', async () => {
    const writer = new Writer();
    for (let entry = 0; entry < 500; entry++) writer.topUp();

    expect(await verifyInParts(100, true, onePart())).toEqual({ problems: [], entries: 500, runs: 5 });
    expect((await findCheckpoint(ACCOUNT_ID))?.entryNumber).toBe(500);
  });

  test('keeps a checkpoint after each part, so that a run that dies is gone on with by the next', async () => {
    const writer = new Writer();
    for (let entry = 0; entry < 500; entry++) writer.topUp();
    const scope = { full: false, hasTime: onePart(), entriesAtOnce: 200 };
    await verifyLedgers([{ accountId: ACCOUNT_ID }], scope, clock);

    expect((await findCheckpoint(ACCOUNT_ID))?.entryNumber).toBe(200);
    expect(await verifyInParts(200, false)).toMatchObject({ problems: [], entries: 300 });
  });

  test('keeps no checkpoint from the first problem on, also when the run is cut after it', async () => {
    const writer = new Writer();
    for (let entry = 0; entry < 500; entry++) writer.topUp();
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 250), { balanceAfterThousandths: 1 });

    const { problems } = await verifyInParts(100, false, onePart());
    expect(aboutOf(problems)).toEqual(['Entry 250', 'Entry 251']);
    expect((await findCheckpoint(ACCOUNT_ID))?.entryNumber).toBe(200);
  });

  test('finds in a later part that an entry changed since it was verified', async () => {
    const writer = new Writer();
    for (let entry = 0; entry < 300; entry++) writer.topUp();
    await verifyInParts(100, false);
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 7), { reference: 'another' });

    expect((await verifyInParts(100, false)).problems).toEqual([]);
    expect((await verifyInParts(100, true, onePart())).problems.map(({ kind }) => kind)).toEqual([
      'checkpoint',
    ]);
  });
});

test('Of ten million entries of which 1,000 are new, it reads these and their requests, and little else', async () => {
  const VERIFIED = 9_999_000;
  const mark = {
    entryNumber: VERIFIED,
    balanceThousandths: 5_000_000,
    digest: 'd',
    entryAt: isoOf(END - 20_000),
  };
  await putCheckpoint({ accountId: ACCOUNT_ID, ...mark, verifiedAt: isoOf(END) });
  const writer = new Writer(mark, END - 15_000);
  for (let request = 0; request < 500; request++) writer.fail(writer.create());
  memory.itemsPerQuery = 400;
  memory.client.resetHistory();

  const { problems, entries } = await verifyInParts(50_000, false);

  expect([problems, entries, writer.number]).toEqual([[], 1_000, 10_000_000]);
  const keys = memory.client
    .commandCalls(BatchGetCommand)
    .flatMap(({ args }) => Object.values(args[0].input.RequestItems ?? {}).flatMap(({ Keys = [] }) => Keys));
  // Each request once; then the account, the checkpoint, and the newest entry.
  expect(keys).toHaveLength(500);
  expect(memory.client.commandCalls(GetCommand).length).toBeLessThanOrEqual(4);
  expect(memory.client.commandCalls(QueryCommand).length).toBeLessThanOrEqual(10);
});
