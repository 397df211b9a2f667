import { listEmailsOfEndUsers } from '../end-users/end-user-lists.ts';
import { ValidationError } from '../errors.ts';
import { toXTokens } from '../money.ts';
import type { Instant } from '../time.ts';
import { type LedgerHead, readableEntries } from './ledger.ts';
import { findLedgerEntries, readStoredEntries, readUsageEntries } from './ledger-entries.ts';
import type { UsageAnswer, UsageItem } from './usage-answers.ts';
import {
  totalOf,
  type UsageDimension,
  type UsageEntry,
  type UsageGroup,
  type UsageSums,
  UsageTally,
} from './usage-rules.ts';

/** A range of usage, without its last instant, and the dimensions of its groups. */
export interface UsageQuery {
  from: Instant;
  to: Instant;
  by: readonly UsageDimension[];
}

/** The limit of an answer; absent for operators. */
interface UsageLimits {
  entries?: number;
  groups?: number;
  endUsers?: number;
}

/** The usage of an account. `total` is the sum of the groups, and with no dimension all there is. */
export interface Usage {
  groups: UsageGroup[];
  total: UsageSums;
}

/** Readers of parts of the range at once. */
const PARALLEL = 4;
/** Refunds whose debits are read at once. */
const REFUNDS_AT_ONCE = 1_000;

/**
 * The usage of an account, exact, from its ledger: the entries up to the newest that the account counts.
 *
 * 1. Find the numbers of the first and the last entry of the range: instants never decrease along the numbers.
 * 2. Add the entries up. The key of a refund is in its debit.
 * 3. Find the addresses of the end-users.
 *
 * Throws `ValidationError` beyond the limits.
 */
export const usageOf = async (
  { accountId, ledgerEntries }: Pick<LedgerHead, 'accountId' | 'ledgerEntries'>,
  { from, to, by }: UsageQuery,
  limits: UsageLimits = {},
): Promise<Usage> => {
  const [first, end] = await Promise.all([
    findFirstEntryFrom(accountId, ledgerEntries, from),
    findFirstEntryFrom(accountId, ledgerEntries, to),
  ]);
  checkLimit('ledger entries', end - first, limits.entries);
  const tally = new UsageTally(by);
  const lacksKey = ({ reason }: UsageEntry): boolean => by.includes('key') && reason === 'refund';
  await Promise.all(
    readRanges(first, end, PARALLEL).map(async ([firstOfPart, lastOfPart]) => {
      let refunds: UsageEntry[] = [];
      const addRefunds = async (): Promise<void> => {
        const entries = refunds;
        refunds = [];
        for (const entry of await withKeys(accountId, entries)) tally.add(entry);
      };
      for await (const entry of readUsageEntries(accountId, firstOfPart, lastOfPart)) {
        if (lacksKey(entry)) refunds.push(entry);
        else tally.add(entry);
        if (refunds.length === REFUNDS_AT_ONCE) await addRefunds();
        checkLimit('groups', tally.size, limits.groups);
      }
      await addRefunds();
    }),
  );
  const emails = new Map<string, string>();
  for await (const { endUserId, email } of by.includes('endUser') ? listEmailsOfEndUsers(accountId) : []) {
    emails.set(endUserId, email);
    checkLimit('end-users', emails.size, limits.endUsers);
  }
  const groups = tally.finish(emails);
  return { groups, total: totalOf(groups) };
};

/** Refunds with the keys of their debits. */
const withKeys = async (accountId: string, refunds: readonly UsageEntry[]): Promise<UsageEntry[]> => {
  const debits = new Set(refunds.flatMap(({ debitNumber }) => debitNumber ?? []));
  const found = await findLedgerEntries(accountId, [...debits]);
  const keys = new Map(found.map(({ number, keyId }) => [number, keyId]));
  return refunds.map((entry) => ({ ...entry, keyId: keys.get(entry.debitNumber ?? 0) }));
};

const checkLimit = (what: string, found: number, most = Number.POSITIVE_INFINITY): void => {
  if (found <= most) return;
  const figures = `${found.toLocaleString('en')} ${what}; an answer is made of at most ${most.toLocaleString('en')}`;
  const [field, remedy] = what === 'end-users' ? ['by', 'leave out endUser'] : ['to', 'ask for fewer days'];
  throw new ValidationError({ [field]: `gives ${figures}: ${remedy}` });
};

/** Entries read at once in the search: a batch costs one call, and few of them find one among millions. */
const PROBES = 32;

/** The number of an account's first entry at or after an instant; without such an entry, the number of the next new entry. */
export const findFirstEntryFrom = async (
  accountId: string,
  ledgerEntries: number,
  instant: Instant,
): Promise<number> => {
  // All entries below `low` are before the instant, those from `high` on are not.
  let [low, high] = [1, ledgerEntries + 1];
  while (low < high) {
    const step = Math.max(1, Math.ceil((high - low) / (PROBES + 1)));
    const numbers = Array.from({ length: PROBES }, (_, index) => low + index * step).filter((n) => n < high);
    const stored = (await readStoredEntries(accountId, numbers)).filter((item) => item !== undefined);
    if (stored.length < numbers.length) throw new Error(`The ledger of ${accountId} has a gap.`);
    const found = readableEntries(stored);
    if (found.length === 0 && step > 1) throw new Error(`The ledger of ${accountId} cannot be read.`);
    // An entry that cannot be read is in no report: it may be on either side.
    if (found.length === 0) return high;
    const before = found.findLast(({ createdAt }) => createdAt < instant);
    const after = found.find(({ createdAt }) => createdAt >= instant);
    low = before === undefined ? low : before.number + 1;
    high = after?.number ?? high;
  }
  return low;
};

/** The numbers from `first` to below `end`, in parts of about the same length, each with its last. */
const readRanges = (first: number, end: number, parts: number): [first: number, last: number][] => {
  const length = Math.max(1, Math.ceil((end - first) / parts));
  return Array.from({ length: parts }, (_, index): [number, number] => [
    first + index * length,
    Math.min(end, first + (index + 1) * length) - 1,
  ]).filter(([one, last]) => one <= last);
};

/** Sums in xTokens; `xTokens` is what was debited and not refunded. */
export const renderSums = ({ requests, debitedThousandths, refundedThousandths }: UsageSums) => ({
  requests,
  debited: toXTokens(debitedThousandths),
  refunded: toXTokens(refundedThousandths),
  xTokens: toXTokens(debitedThousandths - refundedThousandths),
});

/** A group as the API shows it, with the dimensions that were asked for. */
export const renderUsageGroup = ({ day, model, endUser, key, ...sums }: UsageGroup): UsageItem => ({
  ...(day !== undefined && day !== null && { day }),
  ...(model !== undefined && { model }),
  ...(endUser !== undefined && { endUserEmail: endUser }),
  ...(key !== undefined && { keyId: key }),
  ...renderSums(sums),
});

/** Usage as the API shows it. Without a dimension it has no items. */
export const renderUsage = ({ groups, total }: Usage, { from, to, by }: UsageQuery): UsageAnswer => ({
  from: from.slice(0, 10),
  to: to.slice(0, 10),
  by: [...by],
  items: by.length === 0 ? [] : groups.map(renderUsageGroup),
  total: renderSums(total),
});
