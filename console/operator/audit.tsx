import { Problem, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { type AccountListing, type AuditListing, listAudit } from './operator.ts';
import { useReading } from './use-operator.ts';

interface AuditProps {
  accounts: readonly AccountListing[];
  /** Changes with each change that is made on this page. */
  changes: number;
}

/** The latest changes by staff. */
export const Audit = ({ accounts, changes }: AuditProps) => {
  const { value, problem } = useReading(listAudit, [changes]);
  const nameOf = (id: string | null): string =>
    id === null ? '–' : (accounts.find(({ accountId }) => accountId === id)?.name ?? id);
  const columns: readonly Column<AuditListing>[] = [
    { head: 'Time', cell: ({ at }) => <Time at={at} /> },
    { head: 'Who', isLong: true, cell: ({ actor }) => actor },
    { head: 'Action', isName: true, cell: ({ action }) => action },
    { head: 'Account', isLong: true, cell: ({ accountId }) => nameOf(accountId) },
    { head: 'Subject', isLong: true, cell: ({ subject }) => subject ?? '–' },
    { head: 'Detail', isLong: true, cell: ({ detail }) => detail ?? '–' },
  ];
  return (
    <section class="panel" aria-labelledby="audit-heading">
      <h2 id="audit-heading">Audit</h2>
      <p class="hint">The latest changes by staff, newest first.</p>
      <Problem text={problem.value} />
      {value.value === undefined ? (
        problem.value === undefined && <Skeleton />
      ) : value.value.length === 0 ? (
        <Empty icon="docs">
          <p>Nobody has changed anything yet.</p>
        </Empty>
      ) : (
        <Table name="Audit" columns={columns} rows={value.value} keyOf={({ auditId }) => auditId} />
      )}
    </section>
  );
};
