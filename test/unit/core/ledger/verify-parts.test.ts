import { BatchGetCommand, GetCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerProblem } from '../../../../core/ledger/ledger-rules.ts';
import { type LedgerProgress, verifyLedgers } from '../../../../core/ledger/verify-ledger.ts';
import { ledgerEntryKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { ACCOUNT_ID } from '../../builders/entities.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { DEBIT, LedgerWriter } from './ledger-writer.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

const clock = new StoppedClock(atSeconds(0));
const verifyInParts = async (entriesAtOnce: number, hasTime: () => boolean = () => true) => {
  const problems: LedgerProblem[] = [];
  let [entries, runs] = [0, 0];
  for (let left: LedgerProgress[] = [{ accountId: ACCOUNT_ID }]; left.length > 0; runs++) {
    const run = await verifyLedgers(left, { hasTime, entriesAtOnce }, clock);
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
  steps: fc.array(fc.tuple(fc.constantFrom(...STEPS), fc.nat()), { minLength: 100, maxLength: 150 }),
  rogue: fc.array(fc.tuple(fc.nat({ max: 150 }), fc.constantFrom(...ROGUE), fc.nat()), { maxLength: 3 }),
  entriesAtOnce: fc.integer({ min: 15, max: 70 }),
});
type Step = (typeof STEPS)[number] | (typeof ROGUE)[number];

const perform = (writer: LedgerWriter, step: Step, which: number): void => {
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
  else if (step === 'other refund' && memory.get(requestKey(any))?.status === 'failed')
    memory.patch(requestKey(any), { refundThousandths: 1 });
  else writer.topUp();
};

const given = ({ steps, rogue }: { steps: [Step, number][]; rogue: [number, Step, number][] }): void => {
  memory.reset();
  const writer = new LedgerWriter();
  writer.topUp();
  for (const [index, [step, which]] of steps.entries()) {
    perform(writer, step, which);
    for (const [at, wrong, of] of rogue) if (at === index) perform(writer, wrong, of);
  }
};
const wholeProblems = async () => aboutOf((await verifyInParts(Number.POSITIVE_INFINITY)).problems);

test('an error of one ledger is an error of the verification', async () => {
  memory.client.on(GetCommand).rejects(new Error('The table is broken.'));
  memory.client.on(QueryCommand).rejects(new Error('The table is broken.'));
  const options = { hasTime: () => true, entriesAtOnce: 10 };

  await expect(verifyLedgers([{ accountId: ACCOUNT_ID }], options, clock)).rejects.toThrow(
    'The table is broken.',
  );
});

describe('a ledger that is verified part by part', () => {
  test('has the problems that it has as a whole, whether or not the run is cut after each part, and none when it is kept by the rules', async () => {
    await fc.assert(
      fc.asyncProperty(aHistory, async ({ entriesAtOnce, ...history }) => {
        given(history);
        const problems = await wholeProblems();

        expect(aboutOf((await verifyInParts(entriesAtOnce)).problems)).toEqual(problems);
        expect(aboutOf((await verifyInParts(entriesAtOnce, onePart())).problems)).toEqual(problems);
        given({ ...history, rogue: [] });
        expect((await verifyInParts(entriesAtOnce, onePart())).problems).toEqual([]);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });

  test('is continued from where the run was cut, without reading again what was verified', async () => {
    const writer = new LedgerWriter();
    for (let entry = 0; entry < 500; entry++) writer.topUp();

    expect(await verifyInParts(100, onePart())).toEqual({ problems: [], entries: 500, runs: 6 });
  });

  test('reports a problem once, in the part that has it', async () => {
    const writer = new LedgerWriter();
    const [failed = '', lost = ''] = [writer.create(), writer.create()];
    for (let entry = 0; entry < 200; entry++) writer.topUp();
    writer.fail(failed);
    writer.fail(lost);
    for (let entry = 0; entry < 200; entry++) writer.topUp();
    writer.entry('refund', DEBIT, failed);
    memory.patch(requestKey(lost), { refundThousandths: 1 });
    memory.patch(ledgerEntryKey(ACCOUNT_ID, 100), { balanceAfterThousandths: 1 });

    const { problems } = await verifyInParts(50, onePart());

    expect(problems.map(({ kind, detail }) => [kind, detail.split(' ', 2).join(' ')])).toEqual([
      ['refund_amount', `Request ${lost}`],
      ['entry_chain', 'Entry 100'],
      ['entry_chain', 'Entry 101'],
      ['refund_repeated', `Request ${failed}`],
      ['refund_over_debit', `Request ${failed}`],
      ['refund_amount', `Request ${failed}`],
    ]);
  });

  test.each([1, 50, 1_000])(
    'has a request without a debit that is newer than all of its entries, in parts of %i',
    async (count) => {
      const writer = new LedgerWriter();
      for (let entry = 0; entry < 50; entry++) writer.topUp();
      const requestId = writer.create(false);

      const { problems } = await verifyInParts(count);

      expect(aboutOf(problems)).toEqual([`Request ${requestId}`]);
    },
  );

  test('reports once a request whose debit is the last entry of its part', async () => {
    const writer = new LedgerWriter();
    for (let entry = 0; entry < 49; entry++) writer.topUp();
    const requestId = writer.create();
    writer.fail(requestId);
    for (let entry = 0; entry < 49; entry++) writer.topUp();
    memory.patch(requestKey(requestId), { refundThousandths: 1 });

    const { problems } = await verifyInParts(50);

    expect(problems.map(({ kind }) => kind)).toEqual(['refund_amount']);
  });

  test('reports once a request whose only entry is the last of its part', async () => {
    const writer = new LedgerWriter();
    for (let entry = 0; entry < 49; entry++) writer.topUp();
    const requestId = writer.create();
    for (let entry = 0; entry < 100; entry++) writer.topUp();
    memory.patch(requestKey(requestId), { debitThousandths: DEBIT + 1 });

    const { problems } = await verifyInParts(50);

    expect(problems.map(({ kind }) => kind)).toEqual(['debit_amount']);
  });

  test.each([1, 1_000])(
    'has a request that was refunded and never debited, in parts of %i',
    async (count) => {
      const writer = new LedgerWriter();
      const requestId = writer.create(false);
      writer.fail(requestId);

      const { problems } = await verifyInParts(count);

      expect(aboutOf(problems)).toEqual([`Request ${requestId}`]);
    },
  );

  test('has no request past its retention whose refund is in another part than its debit', async () => {
    const writer = new LedgerWriter();
    const swept = writer.create();
    for (let entry = 0; entry < 200; entry++) writer.topUp();
    writer.fail(swept);
    for (const number of [1, writer.number])
      memory.patch(ledgerEntryKey(ACCOUNT_ID, number), { retentionDays: 0 });
    memory.remove(requestKey(swept));

    expect((await verifyInParts(50)).problems).toEqual([]);
  });

  test('does not take the entry of another request for one that names it', async () => {
    const writer = new LedgerWriter();
    const [one, other] = [writer.create(), writer.create()];
    for (let entry = 0; entry < 200; entry++) writer.topUp();
    writer.fail(one);
    const refundEntryNumber = writer.number;
    writer.fail(other);
    memory.patch(requestKey(other), { refundEntryNumber });

    const { problems } = await verifyInParts(50);

    expect(aboutOf(problems)).toEqual([`Request ${other}`]);
    expect(problems.map(({ kind }) => kind)).toEqual(['refund_amount', 'refund_missing', 'refund_missing']);
  });

  test('reads each request once, and no more entries than it has and its requests name elsewhere', async () => {
    const writer = new LedgerWriter();
    for (let request = 0; request < 500; request++) writer.fail(writer.create());
    memory.client.resetHistory();

    expect(await verifyInParts(101)).toMatchObject({ problems: [], entries: 1_000 });
    const keys = memory.client
      .commandCalls(BatchGetCommand)
      .flatMap(({ args }) =>
        Object.values(args[0].input.RequestItems ?? {}).flatMap(({ Keys = [] }) => Keys),
      );
    const [requests, others] = [
      keys.filter(({ SK }) => SK === 'REQUEST'),
      keys.filter(({ SK }) => SK !== 'REQUEST'),
    ];
    expect(new Set(requests.map(({ PK }) => PK)).size).toBe(500);
    // One at the end of each second part has its refund in the next.
    expect(requests.length - 500 + others.length).toBeLessThanOrEqual(2 * 5);
  });
});
