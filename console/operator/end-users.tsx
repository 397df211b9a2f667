import { useSignal } from '@preact/signals';
import { Problem, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { xTokensText } from '../parts/texts.ts';
import { type AccountListing, type EndUserListing, listEndUsers } from './operator.ts';
import { useReading } from './use-operator.ts';

const COLUMNS: readonly Column<EndUserListing>[] = [
  { head: 'Email', isName: true, cell: ({ email }) => email },
  { head: 'Requests', isNumber: true, cell: ({ totalRequests }) => totalRequests.toLocaleString('en') },
  { head: 'xTokens spent', isNumber: true, cell: ({ totalXTokensSpent }) => xTokensText(totalXTokensSpent) },
  {
    head: 'Last active',
    cell: ({ lastActiveAt }) => (lastActiveAt === null ? 'never' : <Time at={lastActiveAt} />),
  },
  { head: 'Blocked', cell: ({ blockedAt }) => (blockedAt === null ? 'no' : <Time at={blockedAt} />) },
];

/** The end-users of an account, with a search. */
export const EndUsers = ({ account: { accountId, name } }: { account: AccountListing }) => {
  const typed = useSignal('');
  const search = useSignal('');
  const { value, problem } = useReading(() => listEndUsers(accountId, search.peek()), [search.value]);
  return (
    <section class="panel" aria-labelledby="end-users-heading">
      <h2 id="end-users-heading">End-users of {name}</h2>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          search.value = typed.value.trim();
        }}
      >
        <label class="search">
          Part of the address
          <input
            type="search"
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </label>
        <button type="submit">Search end-users</button>
      </form>
      <Problem text={problem.value} />
      {value.value === undefined ? (
        problem.value === undefined && <Skeleton />
      ) : value.value.items.length === 0 ? (
        <Empty icon="end-users">
          <p>{search.value === '' ? 'No request has named an end-user yet.' : 'No matches.'}</p>
        </Empty>
      ) : (
        <>
          <Table name="End-users" columns={COLUMNS} rows={value.value.items} keyOf={({ email }) => email} />
          {value.value.hasMore && <p class="quiet">There are more: search for a part of the address.</p>}
        </>
      )}
    </section>
  );
};
