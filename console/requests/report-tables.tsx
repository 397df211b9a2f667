import type { RequestReport } from '../operator/report.ts';
import { LedgerTable } from '../parts/ledger-table.tsx';
import { Time } from '../parts/parts.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { durationText } from '../parts/texts.ts';

type Attempt = RequestReport['providerAttempts'][number];

const outcomeText = ({ outcome }: Attempt): string => {
  if (!outcome) return 'not known yet';
  const { kind, reason, failure } = outcome;
  return [kind, reason, failure && `${failure.code}: ${failure.message}`].filter(Boolean).join(', ');
};

const COLUMNS: readonly Column<Attempt>[] = [
  { head: 'Call', cell: ({ call }) => call + 1 },
  { head: 'Attempt', cell: ({ attempt }) => attempt + 1 },
  { head: 'Started', cell: ({ startedAt }) => <Time at={startedAt} /> },
  {
    head: 'Took',
    cell: ({ startedAt, finishedAt }) =>
      finishedAt === undefined ? '–' : durationText(Date.parse(finishedAt) - Date.parse(startedAt)),
  },
  { head: 'Outcome', isLong: true, cell: outcomeText },
  { head: 'Task', isLong: true, cell: ({ taskId }) => taskId ?? '–' },
];

/** The calls to the provider, newest first. */
export const Attempts = ({ attempts }: { attempts: readonly Attempt[] }) => (
  <section aria-labelledby="attempts-heading">
    <h2 id="attempts-heading">Provider calls</h2>
    {attempts.length === 0 ? (
      <p class="quiet">The provider has not been called.</p>
    ) : (
      <Table
        name="Provider calls"
        columns={COLUMNS}
        rows={attempts.toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))}
        keyOf={({ call, attempt }) => `${call}-${attempt}`}
      />
    )}
  </section>
);

/** The balance changes of the request. */
export const Transactions = ({ entries }: { entries: RequestReport['ledgerEntries'] }) => (
  <section aria-labelledby="ledger-heading">
    <h2 id="ledger-heading">Transactions</h2>
    <LedgerTable name="Transactions" entries={entries} />
  </section>
);
