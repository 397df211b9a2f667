import type { Instant } from '../time.ts';
import { type CostDimension, type CostGroup, CostTally } from './cost-rules.ts';
import type { LedgerHead } from './ledger.ts';
import { readUsageEntries } from './ledger-entries.ts';
import { findAccountedRequests } from './request-fates.ts';
import { findFirstEntryFrom } from './usage.ts';
import type { UsageEntry } from './usage-rules.ts';

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
