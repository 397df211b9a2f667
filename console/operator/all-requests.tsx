import { useSignal } from '@preact/signals';
import { Choice, Problem, StatusBadge, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { Status } from '../state/record-rules.ts';
import { hrefOf } from '../state/route.ts';
import {
  type AccountListing,
  listAllRequests,
  REQUESTS_OF_A_PAGE,
  type RequestFilter,
  type RequestListing,
} from './operator.ts';
import { useReading } from './use-operator.ts';

const STATUSES: readonly Status[] = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
const NO_FILTER: RequestFilter = { account: '', status: '', model: '', 'end-user': '' };

interface AllRequestsProps {
  accounts: readonly AccountListing[];
  models: readonly string[];
}

/** The requests of all accounts, newest first, page by page. */
export const AllRequests = ({ accounts, models }: AllRequestsProps) => {
  const filter = useSignal(NO_FILTER);
  const page = useSignal(1);
  const { value, problem, reload } = useReading(
    () => listAllRequests(filter.peek(), page.peek()),
    [filter.value, page.value],
  );
  const set = (change: Partial<RequestFilter>) => {
    page.value = 1;
    filter.value = { ...filter.peek(), ...change };
  };
  const nameOf = (id: string): string => accounts.find(({ accountId }) => accountId === id)?.name ?? id;
  const columns: readonly Column<RequestListing>[] = [
    {
      head: 'Request',
      isName: true,
      cell: ({ requestId }) => <a href={hrefOf(`requests/${requestId}`)}>{requestId}</a>,
    },
    { head: 'Account', isLong: true, cell: ({ accountId }) => nameOf(accountId) },
    { head: 'Model', cell: ({ model }) => model },
    { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
    { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
  const rows = value.value;
  return (
    <section class="panel" aria-labelledby="all-requests-heading">
      <h2 id="all-requests-heading">Requests of all accounts</h2>
      <div class="filters">
        <label>
          Owner
          <select
            value={filter.value.account}
            onInput={(event) => set({ account: event.currentTarget.value })}
          >
            <option value="">any</option>
            {accounts.map(({ accountId, name }) => (
              <option key={accountId} value={accountId}>
                {name} ({accountId})
              </option>
            ))}
          </select>
        </label>
        <Choice
          label="Status"
          value={filter.value.status}
          options={STATUSES}
          onValue={(status) => set({ status })}
        />
        <Choice
          label="Model"
          value={filter.value.model}
          options={models}
          onValue={(model) => set({ model })}
        />
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </div>
      <Problem text={problem.value} />
      {rows === undefined ? (
        problem.value === undefined && <Skeleton />
      ) : rows.length === 0 ? (
        <Empty icon="requests">
          <p>{page.value === 1 ? 'No matches.' : 'No more matches.'}</p>
        </Empty>
      ) : (
        <Table name="Requests" columns={columns} rows={rows} keyOf={({ requestId }) => requestId} />
      )}
      <p class="toolbar">
        <button
          type="button"
          aria-disabled={page.value === 1}
          onClick={() => {
            page.value = Math.max(1, page.peek() - 1);
          }}
        >
          Newer
        </button>
        <button
          type="button"
          aria-disabled={(rows?.length ?? 0) < REQUESTS_OF_A_PAGE}
          onClick={() => {
            if ((rows?.length ?? 0) === REQUESTS_OF_A_PAGE) page.value = page.peek() + 1;
          }}
        >
          Older
        </button>
      </p>
    </section>
  );
};
