import { $ZodError } from 'zod/v4/core';
import { findAccount } from '../accounts/accounts.ts';
import { inParallel } from '../concurrency/in-parallel.ts';
import { NotFoundError } from '../errors.ts';
import { reportUnreadable } from '../observability.ts';
import { type Clock, systemClock } from '../time.ts';
import type { LedgerProblem } from './ledger-rules.ts';
import {
  type AccountScope,
  type LedgerProgress,
  type VerifiedAccount,
  verifyAccount,
} from './verify-account.ts';

/** The result of a verification. */
export interface LedgerVerification {
  accounts: number;
  entries: number;
  problems: LedgerProblem[];
}

/** Accounts verified at once. */
const ACCOUNTS_AT_ONCE = 4;
/** Some hundred milliseconds. Their requests are read by twenty calls at once. */
const ENTRIES_AT_ONCE = 2_000;

/**
 * Replays these ledgers and checks them against balances and requests. Safe while the service
 * is in use: requests in progress are not reported, and accounts removed during the run are left out. An account that cannot be read
 * is a problem of its own.
 */
export const verifyLedger = async (
  ledgers: Iterable<LedgerProgress>,
  clock: Clock = systemClock,
): Promise<LedgerVerification> => (await verifyLedgers(ledgers, { hasTime: () => true }, clock)).verification;

/**
 * As `verifyLedger`, for a limited time. `left` holds the ledgers not finished in time: pass it in again to
 * continue.
 */
export const verifyLedgers = async (
  ledgers: Iterable<LedgerProgress>,
  { hasTime, entriesAtOnce = ENTRIES_AT_ONCE }: LimitedScope,
  clock: Clock = systemClock,
): Promise<{ verification: LedgerVerification; left: LedgerProgress[] }> => {
  // In the order of the ledgers.
  const verified = new Map<string, VerifiedAccount | undefined>();
  await inParallel(ledgers, ACCOUNTS_AT_ONCE, async (ledger) => {
    verified.set(ledger.accountId, undefined);
    const scope = { now: clock.now(), hasTime, entriesAtOnce };
    const found = hasTime() ? await verifyUnlessRemoved(ledger, scope) : { ...NOTHING, left: ledger };
    verified.set(ledger.accountId, found);
  });
  const kept = [...verified.values()].filter((each) => each !== undefined);
  const left = kept.flatMap((each) => each.left ?? []);
  return {
    verification: {
      accounts: kept.length - left.length,
      entries: kept.reduce((sum, { entries }) => sum + entries, 0),
      problems: kept.flatMap(({ problems }) => problems),
    },
    left,
  };
};

/** How much to read, and for how long. */
type LimitedScope = Pick<AccountScope, 'hasTime'> & Partial<Pick<AccountScope, 'entriesAtOnce'>>;

const NOTHING: VerifiedAccount = { entries: 0, problems: [] };

/** Undefined when the account was removed. It goes before its entries, so problems that this causes come after. */
const verifyUnlessRemoved = async (
  ledger: LedgerProgress,
  scope: AccountScope,
): Promise<VerifiedAccount | undefined> => {
  try {
    const verified = await verifyAccount(ledger, scope);
    const isRemoved = verified.problems.length > 0 && (await findAccount(ledger.accountId)) === undefined;
    return isRemoved ? undefined : verified;
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    if (!(error instanceof $ZodError)) throw error;
    const { accountId } = ledger;
    reportUnreadable(accountId, error);
    const detail = 'The account cannot be read.';
    return { entries: 0, problems: [{ accountId, kind: 'unreadable', detail }] };
  }
};
