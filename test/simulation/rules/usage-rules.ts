import { endOfPeriod } from '../../../core/budgets/budget-rules.ts';
import { usageOf } from '../../../core/ledger/usage.ts';
import { totalOf, type UsageSums } from '../../../core/ledger/usage-rules.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import type { Caller } from '../runs/simulation.ts';
import { callPatiently } from '../stimuli/api.ts';
import type { World } from '../world/world.ts';
import { problemsOf } from './problems.ts';

const DAY_MS = 86_400_000;
/** The longest range that may be asked for; two of them cover a run. */
const RANGE_MS = 93 * DAY_MS;

const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** A group of the answer: its names, then what it counts, in the order of `textOf`. */
const GROUP = ['day', 'model', 'endUserEmail', 'keyId', 'requests', 'debited', 'refunded'] as const;
type Group = Record<(typeof GROUP)[number], unknown>;

const textOf = (group: Group): string => JSON.stringify(GROUP.map((name) => group[name]));

/** Compares the usage of an account, as the API answers it, with its raw ledger entries and its accepted requests. */
export const usageProblems = async (world: World, { accountId, apiKey }: Caller): Promise<string[]> => {
  const entries = world.items('ENTRY#').filter((entry) => entry.accountId === accountId);
  const first = Math.min(...entries.map(({ createdAt }) => Date.parse(String(createdAt))));
  const told: string[] = [];
  for (const from of [first, first + RANGE_MS]) {
    const query = { from: dateOf(from), to: dateOf(from + RANGE_MS), by: 'day,model,endUser,key' };
    const { status, body } = await callPatiently(world, { route: 'get-usage', apiKey, query });
    if (status !== 200) return [`[usage] ${accountId} was answered with ${status}`];
    told.push(...(body.items as Group[]).map(textOf));
  }
  const due = dueGroups(world, entries).map(textOf);
  const [byMonth, ofMonths] = [await monthlyTotal(accountId, entries), dueTotal(entries)];
  return [
    ...(byMonth === ofMonths
      ? []
      : [`[usage] the months of ${accountId} add up to ${byMonth}, not ${ofMonths}`]),
    ...problemsOf(
      told,
      (group) =>
        !due.includes(group) && `[usage] ${accountId} is told ${group}, which the ledger does not have`,
    ),
    ...problemsOf(
      due,
      (group) => !told.includes(group) && `[usage] ${accountId} is not told ${group}, which the ledger has`,
    ),
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

const sumOf = (entries: readonly Item[]): number =>
  entries.reduce((sum, { amountThousandths }) => sum + Number(amountThousandths), 0);

const dueTotal = (entries: readonly Item[]): string => {
  const debits = entries.filter(({ reason }) => reason === 'generation');
  const refunds = entries.filter(({ reason }) => reason === 'refund');
  return JSON.stringify({
    requests: debits.length,
    debitedThousandths: sumOf(debits),
    refundedThousandths: sumOf(refunds),
  } satisfies UsageSums);
};

const dueGroups = (world: World, entries: readonly Item[]): Group[] => {
  const emails = new Map(world.items('END_USER#').map(({ endUserId, email }) => [endUserId, email]));
  const debits = entries.filter(({ reason }) => reason === 'generation');
  const changes = entries.filter(({ reason }) => reason === 'generation' || reason === 'refund');
  const nameOf = ({ reference, createdAt }: Item) => {
    const accepted = world.witness.lives.get(String(reference))?.accepted ?? {};
    return JSON.stringify({
      day: String(createdAt).slice(0, 10),
      model: accepted.model,
      endUserEmail: emails.get(accepted.endUserId) ?? null,
      keyId: debits.find((entry) => entry.reference === reference)?.keyId,
    });
  };
  return Object.entries(Object.groupBy(changes, nameOf)).map(([names, group = []]) => {
    const debited = group.filter(({ reason }) => reason === 'generation');
    const refunded = group.filter(({ reason }) => reason === 'refund');
    return {
      ...(JSON.parse(names) as Group),
      requests: debited.length,
      debited: sumOf(debited) / 1000,
      refunded: sumOf(refunded) / 1000,
    };
  });
};
