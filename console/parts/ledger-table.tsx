import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { hrefOf } from '../state/route.ts';
import { Time } from './parts.tsx';
import { type Column, Table } from './table.tsx';
import { xTokensText } from './texts.ts';

interface LedgerTableProps {
  name: string;
  entries: readonly BalanceHistoryEntry[];
  /** Whether each entry names what it is for; needless where all are of one request. */
  showsReference?: boolean;
}

const COLUMNS: readonly Column<BalanceHistoryEntry>[] = [
  { head: 'Time', cell: ({ createdAt }) => <Time at={createdAt} /> },
  { head: 'Reason', cell: ({ reason }) => reason },
  {
    head: 'xTokens',
    isNumber: true,
    cell: ({ type, amount }) => `${type === 'debit' ? '−' : '+'}${xTokensText(amount)}`,
  },
  { head: 'Balance after', isNumber: true, cell: ({ balanceAfter }) => xTokensText(balanceAfter) },
];

const isOfRequest = ({ reason }: BalanceHistoryEntry): boolean =>
  reason === 'generation' || reason === 'refund';

const REFERENCE: Column<BalanceHistoryEntry> = {
  head: 'Reference',
  isLong: true,
  cell: (entry) =>
    isOfRequest(entry) ? (
      <a href={hrefOf(`requests/${entry.reference}`)}>{entry.reference}</a>
    ) : (
      entry.reference
    ),
};

/** Changes of the balance, a row each. */
export const LedgerTable = ({ name, entries, showsReference = false }: LedgerTableProps) => (
  <Table
    name={name}
    columns={showsReference ? [...COLUMNS, REFERENCE] : COLUMNS}
    rows={entries}
    keyOf={({ id }) => id}
  />
);
