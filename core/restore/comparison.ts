import type { EndUserId } from '../end-users/end-users.ts';
import type { LedgerEntry } from '../ledger/ledger.ts';
import type { Thousandths } from '../money.ts';
import type { Instant } from '../time.ts';

/** How many items of an entity two tables hold. */
export interface EntityCounts {
  entity: string;
  restored: number;
  living: number;
  /** Only in the living table: written since, and lost by the restore. */
  added: number;
  /** Only in the restored one: removed since. */
  gone: number;
  /** In both, but not alike: the restore loses the later state. */
  changed: number;
}

/** The newest instants in a table; undefined where it holds none. */
export interface Newest {
  request: Instant | undefined;
  ledgerEntry: Instant | undefined;
}

/** An account whose balances differ; undefined where a table has no such account. */
export interface BalanceDifference {
  accountId: string;
  restoredThousandths: Thousandths | undefined;
  livingThousandths: Thousandths | undefined;
}

/** Requests that are unfinished in the restored table, by what the living one says of them. */
interface OpenRequests {
  /** All of them. */
  requests: number;
  /** Their debits: given back when they are failed. */
  heldThousandths: Thousandths;
  /** Delivered since, though the restored ledger will refund them. */
  succeededSince: number;
  failedSince: number;
  deletedSince: number;
  unfinishedStill: number;
}

/**
 * Deletions, revocations, blocks and rotations in the living table since. They are repeated on the restored one. A later change for the better, such
 * as an unblocking, is not among them.
 */
export interface Removals {
  /** Requests that their owners deleted. */
  requests: { accountId: string; requestId: string }[];
  /** End-users that were removed. */
  endUsers: EndUserId[];
  /** Keys that were revoked, and when. */
  keys: { keyId: string; revokedAt: Instant }[];
  accountBlocks: { accountId: string; blockedAt: Instant }[];
  endUserBlocks: (EndUserId & { blockedAt: Instant })[];
  /** Accounts whose webhook secret was replaced. */
  webhookSecrets: {
    accountId: string;
    webhookSecret: string;
    previousWebhookSecret?: string;
    previousValidUntil?: Instant;
  }[];
}

/** What a restored table holds, beside the living one. */
export interface TableComparison {
  entities: EntityCounts[];
  newest: { restored: Newest; living: Newest };
  balances: BalanceDifference[];
  /** Accounts and keys that exist in the living table only, and operators' changes of balances in its ledgers only. */
  lost: { accounts: string[]; keys: { keyId: string; accountId: string }[]; operatorChanges: LedgerEntry[] };
  /** Accounts, and requests that were not deleted, that are in the restored table only: they come back. */
  comeBack: { accounts: string[]; requests: number };
  open: OpenRequests;
  removals: Removals;
}
