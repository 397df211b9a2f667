import { type LedgerVerification, verifyLedger } from '../../core/ledger/verify-ledger.ts';
import type { Instant } from '../../core/time.ts';
import { listAllLedgers } from '../ledgers.ts';
import type { Surroundings } from '../verb.ts';
import { compareTables, type TableComparison } from './compare-tables.ts';
import { onTable } from './on-table.ts';

/** A table that was restored. */
export interface Restored {
  name: string;
  living: string;
  /** The instant that was asked for, and is in the name. */
  instant: Instant;
  /** The instant that it shows. */
  restoredTo: Instant;
  startedAtMs: number;
}

/** A restored table, and what is known of it so far. */
export interface Examined extends Omit<Restored, 'startedAtMs'> {
  seconds: { restore: number; verify: number; compare: number | null };
  ledger: LedgerVerification;
  /** Undefined until it is made. */
  comparison: TableComparison | undefined;
  adopted: boolean;
  /** The command by which the stack takes it. */
  deploy: string;
}

const secondsSince = (startedAtMs: number): number => (Date.now() - startedAtMs) / 1_000;

/** Verifies the ledgers of a table as `ledger verify` does. */
export const verifyTable = (name: string, say: Surroundings['say']): Promise<LedgerVerification> =>
  onTable(name, async () => {
    say('verifying the ledgers');
    return verifyLedger(await listAllLedgers());
  });

/** Verifies the ledgers of a restored table. */
export const examine = async (
  { startedAtMs, ...restored }: Restored,
  say: Surroundings['say'],
): Promise<Examined> => {
  const restore = secondsSince(startedAtMs);
  const verifiedFromMs = Date.now();
  const ledger = await verifyTable(restored.name, say);
  return {
    ...restored,
    seconds: { restore, verify: secondsSince(verifiedFromMs), compare: null },
    ledger,
    comparison: undefined,
    adopted: false,
    deploy: `npx cdk deploy -c tableName=${restored.name}`,
  };
};

/** Compares a restored table with the living one, and records the comparison. */
export const compare = async (examined: Examined, say: Surroundings['say']): Promise<TableComparison> => {
  const { name: restored, living } = examined;
  const comparedFromMs = Date.now();
  const said = (items: number): void => say(`comparing: ${items} items`);
  examined.comparison = await onTable(living, () => compareTables(restored, new Date(), said));
  examined.seconds.compare = secondsSince(comparedFromMs);
  return examined.comparison;
};
