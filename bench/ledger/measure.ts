import { isQuick } from '../publish.ts';
import { type Part, resultOf } from '../results.ts';
import { createLongLedger } from './long-ledger.ts';

const ENTRIES = 10_000_000;
const NEW = 10_000;
/** Entries of the ledger that is verified as a whole: the time of each is the same. */
const WHOLE = isQuick ? 100_000 : 1_000_000;
const MILLION = 1_000_000;

/** What the verification of a long ledger reads when little of it is new, counted at a stand-in for the table. */
export const measureLedger = async (): Promise<Part> => {
  process.env.TABLE_NAME = 'bench';
  process.env.STACK_NAME = 'bench';
  process.env.AWS_REGION ??= 'us-east-1';
  const [{ table }, { verifyLedger }] = await Promise.all([
    import('../../core/table/table.ts'),
    import('../../core/ledger/verify-ledger.ts'),
  ]);
  /** The seconds of processor time that it takes to verify at least so many entries. */
  const verify = async (
    ledger: ReturnType<typeof createLongLedger>,
    full: boolean,
    expected: number,
  ): Promise<number> => {
    const { send } = table;
    Object.assign(table, { send: ledger.send });
    const begunAt = process.cpuUsage();
    const clock = { now: () => new Date(ledger.endsAt) };
    const { entries, problems } = await verifyLedger([ledger], { full }, clock);
    const { user, system } = process.cpuUsage(begunAt);
    Object.assign(table, { send });
    if (problems.length > 0 || entries < expected) {
      throw new Error(`Of ${entries} entries it found ${JSON.stringify(problems)}.`);
    }
    return (user + system) / 1_000_000;
  };
  const ledger = createLongLedger(ENTRIES, ENTRIES - NEW);
  await verify(ledger, false, NEW);
  const { reads } = ledger;
  const whole = createLongLedger(WHOLE, 0);
  const wholeSeconds = await verify(whole, true, WHOLE);
  const perMillion = MILLION / WHOLE;
  const requests = ENTRIES / 2;
  return {
    title: 'Verification of a ledger',
    note: `Of one account with ${ENTRIES.toLocaleString('en')} entries, of which ${NEW.toLocaleString('en')} are new since the last verification, with the requests that they name: a debit and a refund each.
Counted at a stand-in for the table that makes entries up when they are read, which is in the processor time too. *Before* everything was read. A verification of everything reads each entry and its request
again; its figures are of a ledger of ${WHOLE.toLocaleString('en')} entries.`,
    results: [
      resultOf('10 million entries, 10,000 new: entries read', reads.entries, 'entries', {
        baseline: ENTRIES,
        budget: NEW * 1.01,
      }),
      resultOf('10 million entries, 10,000 new: requests read', reads.requests, 'requests', {
        baseline: requests,
        budget: NEW / 2,
      }),
      resultOf('10 million entries, 10,000 new: calls of the table', reads.calls, 'calls', { budget: 100 }),
      resultOf('everything, a million entries: calls of the table', whole.reads.calls * perMillion, 'calls'),
      resultOf('everything, a million entries: processor time', wholeSeconds * perMillion, 's'),
    ],
  };
};
