import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EndUser } from '../../packages/client/src/types.ts';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { Heading, Problem, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { countText, xTokensText } from '../parts/texts.ts';
import { useLive } from '../state/live.ts';
import { show } from '../state/notices.ts';
import { messageOf } from '../state/records.ts';
import { hrefOf, replaceInQuery, route } from '../state/route.ts';
import { requiredClient } from '../state/session.ts';

const PAGE_SIZE = 50;
/** How long a filter waits for the next letter. */
const TYPING_MILLISECONDS = 250;

/** The account's end-users, to block and to delete. The filters are in the address. */
export const EndUsersPage = () => {
  const { query } = route.value;
  const filters = { email: query.get('email') ?? '', blocked: query.get('blocked') ?? '' };
  const { users, hasMore, problem, readMore } = useEndUsers(filters);
  const asked = useSignal<Asked | undefined>(undefined);
  const close = () => {
    asked.value = undefined;
  };
  const setBlocked = (email: string, isBlocked: boolean) =>
    reportedBy(async () => {
      const client = requiredClient();
      const { blockedAt } = isBlocked ? await client.blockEndUser(email) : await client.unblockEndUser(email);
      users.value = (users.peek() ?? []).map((user) =>
        user.email === email ? { ...user, blockedAt } : user,
      );
      show(`${email} is ${isBlocked ? 'blocked' : 'not blocked any more'}.`);
      close();
    });
  const remove = (email: string) =>
    reportedBy(async () => {
      const { removedRequests, removedObjects } = await requiredClient().deleteEndUser(email);
      show(
        `${email} is deleted, with ${countText(removedRequests, 'request')} and ${countText(removedObjects, 'file')}.`,
      );
      users.value = (users.peek() ?? []).filter((user) => user.email !== email);
      close();
    });
  const actions = actionsColumn({
    onAsk: (question) => {
      asked.value = question;
    },
    onUnblock: async (email) => {
      problem.value = await setBlocked(email, false);
    },
  });

  return (
    <>
      <Heading>End-users</Heading>
      <FilterFields filters={filters} />
      <Problem text={problem.value} />
      {!users.value && problem.value === undefined && <Skeleton lines={4} />}
      {users.value && <Found users={users.value} actions={actions} filters={filters} />}
      {hasMore.value && (
        <button type="button" onClick={readMore}>
          Load more
        </button>
      )}
      {asked.value?.verb === 'block' && (
        <BlockDialog email={asked.value.email} onBlock={(email) => setBlocked(email, true)} onClose={close} />
      )}
      {asked.value?.verb === 'delete' && (
        <DeleteDialog email={asked.value.email} onDelete={remove} onClose={close} />
      )}
    </>
  );
};

/** The filters of the list, as the address has them. */
interface Filters {
  email: string;
  blocked: string;
}

/** Does some work. Returns the message of its error. */
const reportedBy = async (work: () => Promise<void>): Promise<string | undefined> => {
  try {
    await work();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
};

/** The end-users that match the filters: read page by page, and the first page again while it is the only page. */
const useEndUsers = ({ email, blocked }: Filters) => {
  const users = useSignal<readonly EndUser[] | undefined>(undefined);
  const pages = useSignal(0);
  const hasMore = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);

  const read = async (page: number, signal?: AbortSignal) => {
    try {
      const found = await requiredClient().listEndUsers({
        page,
        pageSize: PAGE_SIZE,
        ...(email !== '' && { email }),
        ...(blocked !== '' && { blocked: blocked === 'true' }),
        ...(signal && { signal }),
      });
      const known = page === 1 ? [] : (users.peek() ?? []);
      const added = found.items.filter((user) => !known.some((one) => one.email === user.email));
      users.value = [...known, ...added];
      hasMore.value = found.hasMore;
      pages.value = page;
      problem.value = undefined;
    } catch (error) {
      if (!signal?.aborted) problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    const superseded = new AbortController();
    const timer = setTimeout(() => read(1, superseded.signal), users.peek() ? TYPING_MILLISECONDS : 0);
    return () => {
      superseded.abort();
      clearTimeout(timer);
    };
  }, [email, blocked]);

  // Only the first page: further pages move while they are read.
  useLive(async () => {
    if (pages.peek() === 1) await read(1);
  }, [email, blocked]);

  return { users, hasMore, problem, readMore: () => read(pages.value + 1) };
};

const FilterFields = ({ filters }: { filters: Filters }) => {
  const set = (name: keyof Filters, value: string) => replaceInQuery('end-users', name, value);
  return (
    <search class="filters">
      <label>
        Search email{' '}
        <input
          type="search"
          value={filters.email}
          onInput={(event) => set('email', event.currentTarget.value)}
        />
      </label>
      <label>
        Blocked{' '}
        <select value={filters.blocked} onInput={(event) => set('blocked', event.currentTarget.value)}>
          <option value="">any</option>
          <option value="true">blocked</option>
          <option value="false">not blocked</option>
        </select>
      </label>
    </search>
  );
};

interface FoundProps {
  users: readonly EndUser[];
  actions: Column<EndUser>;
  filters: Filters;
}

const Found = ({ users, actions, filters }: FoundProps) =>
  users.length === 0 ? (
    <Empty icon="end-users">
      <p class="quiet">
        {filters.email + filters.blocked === ''
          ? 'None yet: an end-user appears with their first request.'
          : 'No matches'}
      </p>
    </Empty>
  ) : (
    <div class="panel">
      <Table name="End-users" columns={[...COLUMNS, actions]} rows={users} keyOf={({ email }) => email} />
    </div>
  );

interface ActionsProps {
  onAsk: (asked: Asked) => void;
  onUnblock: (email: string) => void;
}

const actionsColumn = ({ onAsk, onUnblock }: ActionsProps): Column<EndUser> => ({
  head: 'Actions',
  cell: ({ email, blockedAt }) => (
    <span class="actions">
      {blockedAt === null ? (
        <button type="button" onClick={() => onAsk({ verb: 'block', email })}>
          Block<span class="unseen"> {email}</span> …
        </button>
      ) : (
        <button type="button" onClick={() => onUnblock(email)}>
          Unblock<span class="unseen"> {email}</span>
        </button>
      )}{' '}
      <button type="button" class="dangerous" onClick={() => onAsk({ verb: 'delete', email })}>
        Delete<span class="unseen"> {email}</span> …
      </button>
    </span>
  ),
});

/** What is asked before it is done. */
interface Asked {
  verb: 'block' | 'delete';
  email: string;
}

const COLUMNS: readonly Column<EndUser>[] = [
  {
    head: 'Email',
    isName: true,
    cell: ({ email }) => <a href={hrefOf('requests', { user: email })}>{email}</a>,
  },
  {
    head: 'State',
    cell: ({ blockedAt }) =>
      blockedAt === null ? (
        'active'
      ) : (
        <>
          <span class="badge failed">blocked</span> as of <Time at={blockedAt} />
        </>
      ),
  },
  { head: 'Last active', cell: ({ lastActiveAt }) => <Time at={lastActiveAt} /> },
  { head: 'Requests', isNumber: true, cell: ({ totalRequests }) => totalRequests.toLocaleString('en') },
  { head: 'xTokens', isNumber: true, cell: ({ totalXTokensSpent }) => xTokensText(totalXTokensSpent) },
];

interface BlockDialogProps {
  email: string;
  onBlock: (email: string) => Promise<string | undefined>;
  onClose: () => void;
}

const BlockDialog = ({ email, onBlock, onClose }: BlockDialogProps) => (
  <ConfirmDialog name="Block an end-user" verb="Block" onConfirm={() => onBlock(email)} onClose={onClose}>
    <p>
      New requests for <strong>{email}</strong> will be refused. Requests under way go on.
    </p>
  </ConfirmDialog>
);

interface DeleteDialogProps {
  email: string;
  onDelete: (email: string) => Promise<string | undefined>;
  onClose: () => void;
}

const DeleteDialog = ({ email, onDelete, onClose }: DeleteDialogProps) => (
  <ConfirmDialog
    name="Delete an end-user"
    verb="Delete"
    typed={email}
    onConfirm={() => onDelete(email)}
    onClose={onClose}
  >
    <p>
      This deletes <strong>{email}</strong> with all requests and files, for good.
    </p>
  </ConfirmDialog>
);
