import type { Thousandths } from '../money.ts';
import type { LedgerEntry } from './ledger.ts';

/** The dimensions that usage can be grouped by. A day is a UTC day, by the instant of the ledger entry. */
export const USAGE_DIMENSIONS = ['day', 'model', 'endUser', 'key'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Longest range of usage that a caller may ask for. */
export const MAX_USAGE_DAYS = 93;

/** The parts of a ledger entry that usage is counted from. */
export type UsageEntry = Pick<
  LedgerEntry,
  'reason' | 'amountThousandths' | 'createdAt' | 'reference' | 'model' | 'endUserId' | 'keyId' | 'debitNumber'
>;

/** Sums of debits of creations and of their refunds. */
export interface UsageSums {
  /** Creations that were debited. */
  requests: number;
  debitedThousandths: Thousandths;
  refundedThousandths: Thousandths;
}

/** The value of each dimension that was asked for. Null: the entry does not say, or the end-user was removed. */
export type UsageGroup = Partial<Record<UsageDimension, string | null>> & UsageSums;

const NOTHING: UsageSums = { requests: 0, debitedThousandths: 0, refundedThousandths: 0 };

/** The sums of several groups. */
export const totalOf = (groups: Iterable<UsageSums>): UsageSums => {
  const total = { ...NOTHING };
  for (const group of groups) {
    for (const name of Object.keys(NOTHING) as (keyof UsageSums)[]) total[name] += group[name];
  }
  return total;
};

/**
 * Adds up ledger entries by the dimensions asked for. A refund counts on the day of the refund, so that the figures of past days
 * do not change.
 */
export class UsageTally {
  private readonly by: readonly UsageDimension[];
  private readonly groups = new Map<string, UsageGroup>();

  constructor(by: readonly UsageDimension[]) {
    this.by = by;
  }

  /** Number of groups so far. */
  get size(): number {
    return this.groups.size;
  }

  /** Adds an entry. Those of operators are no usage. */
  add(entry: UsageEntry): void {
    if (entry.reason !== 'generation' && entry.reason !== 'refund') return;
    const own = Object.fromEntries(this.by.map((dimension) => [dimension, valueIn(entry, dimension)]));
    const key = JSON.stringify(Object.values(own));
    const group = this.groups.get(key) ?? { ...own, ...NOTHING };
    if (entry.reason === 'generation') {
      group.requests += 1;
      group.debitedThousandths += entry.amountThousandths;
    } else {
      group.refundedThousandths += entry.amountThousandths;
    }
    this.groups.set(key, group);
  }

  /** The groups, with each end-user by the address that `emails` has for their id, in the order of the dimensions asked for. */
  finish(emails: ReadonlyMap<string, string>): UsageGroup[] {
    const named = [...this.groups.values()].map((group) =>
      group.endUser === undefined ? group : { ...group, endUser: emails.get(group.endUser ?? '') ?? null },
    );
    return mergedBy(this.by, named, totalOf);
  }
}

/** The groups that have the same values, added up by `total`, in the order of the dimensions; null sorts behind every value. */
export const mergedBy = <By extends string, Sums, Group extends Sums & Partial<Record<By, string | null>>>(
  by: readonly By[],
  groups: readonly Group[],
  total: (groups: readonly Group[]) => Sums,
): Group[] => {
  const merged = Map.groupBy(groups, (group) => JSON.stringify(by.map((name) => group[name] ?? null)));
  return [...merged.values()]
    .flatMap((same) => (same[0] ? [{ ...same[0], ...total(same) }] : []))
    .sort((a, b) => {
      const name = by.find((each) => a[each] !== b[each]);
      return name !== undefined && (a[name] ?? LAST) < (b[name] ?? LAST) ? -1 : 1;
    });
};

/** Sorts behind every value. */
const LAST = '\u{10ffff}';

const valueIn = (entry: UsageEntry, dimension: UsageDimension): string | null => {
  if (dimension === 'day') return entry.createdAt.slice(0, 10);
  if (dimension === 'model') return entry.model ?? null;
  return (dimension === 'endUser' ? entry.endUserId : entry.keyId) ?? null;
};
