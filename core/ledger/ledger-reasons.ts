/** Why a balance changed. */
export const LEDGER_REASONS = ['generation', 'refund', 'topup', 'admin_adjustment'] as const;
export type LedgerReason = (typeof LEDGER_REASONS)[number];

/** Which way it changed. */
export const ENTRY_TYPES = ['debit', 'credit'] as const;
