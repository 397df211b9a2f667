import type { LedgerHead } from '../core/ledger/ledger.ts';
import { readUsageEntries } from '../core/ledger/ledger-entries.ts';
import { findAccountedRequests } from '../core/ledger/request-fates.ts';
import { findFirstEntryFrom } from '../core/ledger/usage.ts';
import type { UsageEntry } from '../core/ledger/usage-rules.ts';
import type { Thousandths } from '../core/money.ts';
import type { ProviderCost } from '../core/requests/request-rules.ts';
import type { Instant } from '../core/time.ts';

/** What costs can be grouped by. A day is one of UTC, by the instant of the ledger entry. */
export const COST_DIMENSIONS = ['day', 'model', 'route'] as const;
export type CostDimension = (typeof COST_DIMENSIONS)[number];

/** Sums of debits less refunds, and of what the requests cost. */
export interface CostSums {
  /** Creations that were debited. */
  requests: number;
  /** Of these, those whose cost is not known: unfinished, gone, or made by a route without a cost. */
  withoutCost: number;
  netThousandths: Thousandths;
  costThousandths: Thousandths;
  /** The part of the cost for which providers reported usage, by our count and by theirs. */
  comparedThousandths: Thousandths;
  reportedThousandths: Thousandths;
  /** What requests whose cost is known brought, less that. */
  marginThousandths: Thousandths;
}

/** The value of each dimension that was asked for. Null: not known, or no provider made anything. */
export type CostGroup = Partial<Record<CostDimension, string | null>> & CostSums;

const NOTHING: CostSums = {
  requests: 0,
  withoutCost: 0,
  netThousandths: 0,
  costThousandths: 0,
  comparedThousandths: 0,
  reportedThousandths: 0,
  marginThousandths: 0,
};

/** The sums of several groups. */
export const totalCosts = (groups: Iterable<CostSums>): CostSums => {
  const total = { ...NOTHING };
  for (const group of groups) {
    for (const name of Object.keys(NOTHING) as (keyof CostSums)[]) total[name] += group[name];
  }
  return total;
};

/** The cost of a request; undefined when a part of it is unknown. */
const costIn = (costs: readonly ProviderCost[] | undefined): Thousandths | undefined => {
  if (!costs?.every(({ costThousandths }) => costThousandths !== undefined)) return undefined;
  return costs.reduce((sum, { costThousandths = 0 }) => sum + costThousandths, 0);
};

/** Adds up ledger entries, each with the costs of its request, by the dimensions asked for. A cost counts with the debit. */
class CostTally {
  private readonly by: readonly CostDimension[];
  private readonly groups = new Map<string, CostGroup>();

  constructor(by: readonly CostDimension[]) {
    this.by = by;
  }

  /** Adds an entry. Those of operators are no usage. */
  add(entry: UsageEntry, costs: readonly ProviderCost[] | undefined): void {
    const { reason, amountThousandths, createdAt, model } = entry;
    if (reason !== 'generation' && reason !== 'refund') return;
    // The calls of a request are all made by one route.
    const values = { day: createdAt.slice(0, 10), model: model ?? null, route: costs?.[0]?.route ?? null };
    const own = Object.fromEntries(this.by.map((dimension) => [dimension, values[dimension]]));
    const key = JSON.stringify(Object.values(own));
    const group = this.groups.get(key) ?? { ...own, ...NOTHING };
    this.groups.set(key, group);
    const cost = costIn(costs);
    const net = reason === 'generation' ? amountThousandths : -amountThousandths;
    group.netThousandths += net;
    if (cost !== undefined) group.marginThousandths += net;
    if (reason === 'refund') return;
    group.requests += 1;
    group.withoutCost += cost === undefined ? 1 : 0;
    group.costThousandths += cost ?? 0;
    group.marginThousandths -= cost ?? 0;
    for (const { costThousandths = 0, reportedThousandths } of costs ?? []) {
      if (reportedThousandths === undefined) continue;
      group.comparedThousandths += costThousandths;
      group.reportedThousandths += reportedThousandths;
    }
  }

  /** The groups, unordered. */
  finish(): CostGroup[] {
    return [...this.groups.values()];
  }
}

/** Entries whose requests are read at once. */
const ENTRIES_AT_ONCE = 1_000;

/**
 * What the requests of an account brought and cost, from its ledger and its requests, or the marks of deleted ones: from `from` to before
 * `to`. Costs of requests past retention are gone.
 */
export const costsOf = async (
  { accountId, ledgerEntries }: Pick<LedgerHead, 'accountId' | 'ledgerEntries'>,
  { from, to, by }: { from: Instant; to: Instant; by: readonly CostDimension[] },
): Promise<CostGroup[]> => {
  const [first, end] = await Promise.all([
    findFirstEntryFrom(accountId, ledgerEntries, from),
    findFirstEntryFrom(accountId, ledgerEntries, to),
  ]);
  const tally = new CostTally(by);
  let entries: UsageEntry[] = [];
  const addAll = async (): Promise<void> => {
    const used = entries.filter(({ reason }) => reason === 'generation' || reason === 'refund');
    const ids = new Set(used.map(({ reference }) => reference));
    const requests = await findAccountedRequests(accountId, [...ids]);
    for (const entry of used) tally.add(entry, requests.get(entry.reference)?.providerCosts);
    entries = [];
  };
  for await (const entry of readUsageEntries(accountId, first, end - 1)) {
    entries.push(entry);
    if (entries.length === ENTRIES_AT_ONCE) await addAll();
  }
  await addAll();
  return tally.finish();
};
