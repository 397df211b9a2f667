import { type Part, resultOf } from '../results.ts';
import { createLongLedger } from './long-ledger.ts';

const ENTRIES = 10_000_000;
const NEW = 10_000;

/** What the verification of a long ledger reads when little of it is new, counted at a stand-in for the table. */
export const measureLedger = async (): Promise<Part> => {
  process.env.TABLE_NAME = 'bench';
  process.env.RETENTION_DAYS = '90';
  process.env.STACK_NAME = 'bench';
  process.env.AWS_REGION ??= 'us-east-1';
  const [{ table }, { verifyLedger }] = await Promise.all([
    import('../../core/table/table.ts'),
    import('../../core/ledger/verify-ledger.ts'),
  ]);
  const ledger = createLongLedger(ENTRIES, ENTRIES - NEW);
  const { send } = table;
  Object.assign(table, { send: ledger.send });
  const clock = { now: () => new Date(ledger.endsAt) };
  const { entries, problems } = await verifyLedger([ledger], { full: false }, clock);
  Object.assign(table, { send });
  if (problems.length > 0 || entries !== NEW) throw new Error(`It found ${JSON.stringify(problems)}.`);
  const { reads } = ledger;
  const requests = ENTRIES / 2;
  return {
    title: 'Verification of a ledger',
    note: `Of one account with ${ENTRIES.toLocaleString('en')} entries, of which ${NEW.toLocaleString('en')} are new since the last verification, with the requests that they name: a debit and a refund each.
Counted at a stand-in for the table that makes entries up when they are read. *Before* everything was read.`,
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
    ],
  };
};
