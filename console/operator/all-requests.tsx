import { type Signal, useSignal } from '@preact/signals';
import { Choice, Problem, StatusBadge, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import type { Status } from '../state/record-rules.ts';
import { hrefOf } from '../state/route.ts';
import { AccountSelect } from './account-select.tsx';
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
  const rows = value.value;
  return (
    <section class="panel" aria-labelledby="all-requests-heading">
      <h2 id="all-requests-heading">Requests of all accounts</h2>
      <Filters
        accounts={accounts}
        models={models}
        filter={filter.value}
        onFilter={(change) => {
          page.value = 1;
          filter.value = { ...filter.peek(), ...change };
        }}
        onRefresh={reload}
      />
      <Problem text={problem.value} />
      {rows === undefined ? (
        problem.value === undefined && <Skeleton />
      ) : rows.length === 0 ? (
        <Empty icon="requests">
          <p>{page.value === 1 ? 'No matches.' : 'No more matches.'}</p>
        </Empty>
      ) : (
        <Table
          name="Requests"
          columns={columnsFor(accounts)}
          rows={rows}
          keyOf={({ requestId }) => requestId}
        />
      )}
      <Pager page={page} isFull={rows?.length === REQUESTS_OF_A_PAGE} />
    </section>
  );
};

const columnsFor = (accounts: readonly AccountListing[]): readonly Column<RequestListing>[] => [
  {
    head: 'Request',
    isName: true,
    cell: ({ requestId }) => <a href={hrefOf(`requests/${requestId}`)}>{requestId}</a>,
  },
  {
    head: 'Account',
    isLong: true,
    cell: ({ accountId: id }) => accounts.find(({ accountId }) => accountId === id)?.name ?? id,
  },
  { head: 'Model', cell: ({ model }) => model },
  { head: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
];

interface FiltersProps extends AllRequestsProps {
  filter: RequestFilter;
  onFilter: (change: Partial<RequestFilter>) => void;
  onRefresh: () => void;
}

const Filters = ({ accounts, models, filter, onFilter, onRefresh }: FiltersProps) => (
  <div class="filters">
    <AccountSelect
      label="Owner"
      accounts={accounts}
      accountId={filter.account}
      none="any"
      onAccount={(account) => onFilter({ account })}
    />
    <Choice
      label="Status"
      value={filter.status}
      options={STATUSES}
      onValue={(status) => onFilter({ status })}
    />
    <Choice label="Model" value={filter.model} options={models} onValue={(model) => onFilter({ model })} />
    <button type="button" onClick={onRefresh}>
      Refresh
    </button>
  </div>
);

interface PagerProps {
  page: Signal<number>;
  /** Whether the page is full, so that another page may follow. */
  isFull: boolean;
}

const Pager = ({ page, isFull }: PagerProps) => (
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
      aria-disabled={!isFull}
      onClick={() => {
        if (isFull) page.value = page.peek() + 1;
      }}
    >
      Older
    </button>
  </p>
);
