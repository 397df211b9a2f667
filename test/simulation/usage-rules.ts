import { endOfPeriod } from '../../core/budgets/budget-rules.ts';
import { usageOf } from '../../core/ledger/usage.ts';
import { totalOf, type UsageSums } from '../../core/ledger/usage-rules.ts';
import type { Item } from '../unit/fakes/expressions.ts';
import { callPatiently } from './api.ts';
import type { Simulation } from './simulation.ts';

const DAY_MS = 86_400_000;
/** The longest range that may be asked for; two of them cover a run. */
const RANGE_MS = 93 * DAY_MS;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Group {
  day: string;
  model: unknown;
  endUserEmail: unknown;
  keyId: unknown;
  requests: number;
  debited: number;
  refunded: number;
}

const textOf = ({ day, model, endUserEmail, keyId, requests, debited, refunded }: Group): string =>
  JSON.stringify([day, model, endUserEmail, keyId, requests, debited, refunded]);

/** Compares the usage of an account, as the API tells it, with its raw ledger entries and its accepted requests. */
export const usageProblems = async (
  simulation: Simulation,
  accountId: string,
  apiKey: string,
): Promise<string[]> => {
  const { world } = simulation;
  const entries = world.items('ENTRY#').filter((entry) => entry.accountId === accountId);
  const first = Math.min(...entries.map(({ createdAt }) => Date.parse(String(createdAt))));
  const told: string[] = [];
  for (const from of [first, first + RANGE_MS]) {
    const query = { from: dateOf(from), to: dateOf(from + RANGE_MS), by: 'day,model,endUser,key' };
    const { status, body } = await callPatiently(world, { route: 'get-usage', apiKey, query });
    if (status !== 200) return [`[usage] ${accountId} was answered with ${status}`];
    told.push(...(body.items as Group[]).map(textOf));
  }
  const due = dueGroups(simulation, entries).map(textOf);
  const byMonth = await monthlyTotal(accountId, entries);
  const ofMonths = dueTotal(entries);
  const wrong = told.filter((group) => !due.includes(group));
  const missing = due.filter((group) => !told.includes(group));
  return [
    ...(byMonth === ofMonths
      ? []
      : [`[usage] the months of ${accountId} add up to ${byMonth}, not ${ofMonths}`]),
    ...wrong.map((group) => `[usage] ${accountId} is told ${group}, which the ledger does not have`),
    ...missing.map((group) => `[usage] ${accountId} is not told ${group}, which the ledger has`),
  ];
};

/** Requests, debits and refunds by the months of the ledger, added up, as `ops usage show` reads them. */
const monthlyTotal = async (accountId: string, entries: readonly Item[]): Promise<string> => {
  const months = [...new Set(entries.map(({ createdAt }) => String(createdAt).slice(0, 'YYYY-MM'.length)))];
  const totals: UsageSums[] = [];
  for (const month of months) {
    const range = { from: `${month}-01T00:00:00.000Z`, to: endOfPeriod(month), by: [] };
    totals.push((await usageOf({ accountId, ledgerEntries: entries.length }, range)).total);
  }
  return JSON.stringify(totalOf(totals));
};

const dueTotal = (entries: readonly Item[]): string => {
  const amounts = (wanted: string): number[] =>
    entries
      .filter(({ reason }) => reason === wanted)
      .map(({ amountThousandths }) => Number(amountThousandths));
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
  const [debits, refunds] = [amounts('generation'), amounts('refund')];
  return JSON.stringify({
    requests: debits.length,
    debitedThousandths: sum(debits),
    refundedThousandths: sum(refunds),
  } satisfies UsageSums);
};

const dueGroups = ({ world, witness }: Simulation, entries: readonly Item[]): Group[] => {
  const emails = new Map(world.items('END_USER#').map(({ endUserId, email }) => [endUserId, email]));
  const debits = entries.filter(({ reason }) => reason === 'generation');
  const groups = new Map<string, Group & { thousandths: { debited: number; refunded: number } }>();
  for (const { reason, reference, createdAt, amountThousandths } of entries) {
    if (reason !== 'generation' && reason !== 'refund') continue;
    const accepted = witness.lives.get(String(reference))?.accepted ?? {};
    const debit = debits.find((entry) => entry.reference === reference);
    const named = {
      day: String(createdAt).slice(0, 10),
      model: accepted.model,
      endUserEmail: emails.get(accepted.endUserId) ?? null,
      keyId: debit?.keyId,
    };
    const key = JSON.stringify(Object.values(named));
    const group = groups.get(key) ?? {
      ...{ ...named, requests: 0, debited: 0, refunded: 0 },
      thousandths: { debited: 0, refunded: 0 },
    };
    if (reason === 'generation') group.requests += 1;
    group.thousandths[reason === 'generation' ? 'debited' : 'refunded'] += Number(amountThousandths);
    group.debited = group.thousandths.debited / 1000;
    group.refunded = group.thousandths.refunded / 1000;
    groups.set(key, group);
  }
  return [...groups.values()];
};
