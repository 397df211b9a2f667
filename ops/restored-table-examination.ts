import { listAccounts } from '../core/accounts/accounts.ts';
import type { LedgerVerification } from '../core/ledger/verify-ledger.ts';
import { verifyLedger } from '../core/ledger/verify-ledger.ts';
import { compareTables } from '../core/restore/compare-tables.ts';
import type { TableComparison } from '../core/restore/comparison.ts';
import { onTable } from '../core/restore/on-table.ts';
import type { Instant } from '../core/time.ts';
import type { Surroundings } from './verb.ts';

/** A restored table, and what is known of it so far. */
export interface Examined {
  name: string;
  living: string;
  /** The instant that was asked for, and is in the name. */
  instant: Instant;
  /** The instant that it shows. */
  restoredTo: Instant;
  seconds: { restore: number; verify: number; compare: number | null };
  ledger: LedgerVerification;
  /** Undefined until it is made. */
  comparison: TableComparison | undefined;
  adopted: boolean;
  /** The command by which the stack takes it. */
  deploy: string;
  compare(): Promise<TableComparison>;
}

const secondsSince = (startedAtMs: number): number => (Date.now() - startedAtMs) / 1_000;

/** Verifies the ledgers of a table as `ledger verify` does. */
export const verifyTable = (name: string, say: Surroundings['say']): Promise<LedgerVerification> =>
  onTable(name, async () => {
    say('verifying the ledgers');
    return verifyLedger(await listAccounts());
  });

/** Verifies the ledgers of a restored table. `compare` of the result compares it with the living one. */
export const examine = async (
  table: Pick<Examined, 'name' | 'living' | 'instant' | 'restoredTo'> & { startedAtMs: number },
  say: Surroundings['say'],
): Promise<Examined> => {
  const { startedAtMs, ...names } = table;
  const restore = secondsSince(startedAtMs);
  const verifiedFromMs = Date.now();
  const ledger = await verifyTable(table.name, say);
  const examined: Examined = {
    ...names,
    seconds: { restore, verify: secondsSince(verifiedFromMs), compare: null },
    ledger,
    comparison: undefined,
    adopted: false,
    deploy: `npx cdk deploy -c tableName=${table.name}`,
    async compare() {
      const comparedFromMs = Date.now();
      const { name: restored, living, restoredTo } = names;
      const said = (items: number): void => say(`comparing: ${items} items`);
      const comparison = await compareTables({ restored, living }, restoredTo, new Date(), said);
      examined.seconds.compare = secondsSince(comparedFromMs);
      return comparison;
    },
  };
  return examined;
};
