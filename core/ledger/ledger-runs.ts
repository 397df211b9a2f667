import * as z from 'zod/mini';
import { AccountPosition, listAccountIds } from '../accounts/accounts.ts';
import { countMetric, logger, METRIC } from '../observability.ts';
import { type Clock, systemClock } from '../time.ts';
import { verifyLedgers } from './verify-ledger.ts';

/** Accounts that an execution of the Map verifies: few transitions for many, and its state stays small. */
const LEDGERS_PER_BATCH = 25;
/**
 * Accounts of a page: with all ids 60 KB of the 256 KB that a state may hold. Each page takes some 15 of the 25,000 events that the
 * history of an execution may have, so a run reaches more than a million accounts.
 */
const LEDGERS_PER_PAGE = 1_000;
/** No part of a ledger is begun after this long: the function has five minutes more, and a part takes a few seconds. */
const VERIFYING_MS = 600_000;

/** Totals so far. */
const Found = z.object({
  accounts: z.number(),
  /** Removed since they were listed. */
  removed: z.number(),
  entries: z.number(),
  problems: z.number(),
});
type Found = z.infer<typeof Found>;

const NOTHING: Found = { accounts: 0, removed: 0, entries: 0, problems: 0 };

const sum = (one: Found, other: Found): Found => ({
  accounts: one.accounts + other.accounts,
  removed: one.removed + other.removed,
  entries: one.entries + other.entries,
  problems: one.problems + other.problems,
});

/** Ledgers to verify, and totals of the finished ones of the batch. */
export const LedgerBatch = z.object({
  ledgers: z.array(z.object({ accountId: z.string(), after: z.optional(z.number()) })),
  found: Found,
});
export type LedgerBatch = z.infer<typeof LedgerBatch>;

/** The progress of a run; fields are absent at its start. */
export const LedgerRun = z.object({
  /** Accounts listed so far. */
  listed: z._default(z.number(), 0),
  found: z._default(Found, NOTHING),
  /** Totals of the batches of the last page. */
  verified: z._default(z.array(Found), []),
  /** The position of the next page of accounts. */
  position: z.nullish(AccountPosition),
});
export type LedgerRun = z.infer<typeof LedgerRun>;

/** A page of a run, in batches, and what comes next: verifying them, or the end. */
export interface LedgerPage extends Omit<LedgerRun, 'verified' | 'position'> {
  batches: LedgerBatch[];
  position: AccountPosition | null;
  next: 'verify' | 'stop';
}

/**
 * The next page of accounts to verify, oldest first. At the end of the list, logs what the run found, and counts it if every account
 * was verified without problems: so an alarm notices when no run does.
 */
export const listLedgers = async (run: LedgerRun): Promise<LedgerPage> => {
  const found = run.verified.reduce(sum, run.found);
  // Counts 0 successes at the start, so that a run which fails is visible in the metric.
  if (run.listed === 0) countMetric(METRIC.ledgerVerified, {}, 0);
  const isAtEnd = run.listed > 0 && !run.position;
  const { accountIds, next: position } = isAtEnd
    ? { accountIds: [], next: undefined }
    : await listAccountIds(LEDGERS_PER_PAGE, run.position ?? undefined);
  const listed = run.listed + accountIds.length;
  const batches = Array.from({ length: Math.ceil(accountIds.length / LEDGERS_PER_BATCH) }, (_, index) => ({
    ledgers: accountIds
      .slice(index * LEDGERS_PER_BATCH, (index + 1) * LEDGERS_PER_BATCH)
      .map((accountId) => ({ accountId })),
    found: NOTHING,
  }));
  if (batches.length === 0) report(listed, found);
  const next = batches.length > 0 ? 'verify' : 'stop';
  return { listed, found, batches, position: position ?? null, next };
};

const report = (listed: number, { accounts, removed, entries, problems }: Found): void => {
  const unverified = listed - accounts - removed;
  if (problems === 0 && unverified === 0) countMetric(METRIC.ledgerVerified, {});
  if (unverified > 0) logger.error('ledgers could not be verified', { unverified });
  logger.info('ledgers verified', { accounts, entries, problems });
};

/** The rest of a batch, and the next step. */
export interface VerifiedBatch extends LedgerBatch {
  next: 'verify' | 'stop';
}

/** Verifies a batch of ledgers, as far as there is time. Logs and counts each problem. */
export const verifyLedgerBatch = async (
  { ledgers, found }: LedgerBatch,
  clock: Clock = systemClock,
): Promise<VerifiedBatch> => {
  const endMs = clock.now().getTime() + VERIFYING_MS;
  const hasTime = (): boolean => clock.now().getTime() < endMs;
  const { verification, left } = await verifyLedgers(ledgers, { hasTime }, clock);
  const { accounts, entries, problems } = verification;
  for (const problem of problems) {
    logger.error('a ledger does not add up', { ...problem });
    countMetric(METRIC.ledgerProblem, {});
  }
  const removed = ledgers.length - accounts - left.length;
  return {
    ledgers: left,
    found: sum(found, { accounts, removed, entries, problems: problems.length }),
    next: left.length > 0 ? 'verify' : 'stop',
  };
};
