import type { Thousandths } from '../money.ts';
import type { ProviderCost } from '../requests/request-rules.ts';
import type { UsageEntry } from './usage-rules.ts';

/** What costs can be told by. A day is one of UTC, by the instant of the ledger entry. */
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
export class CostTally {
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
