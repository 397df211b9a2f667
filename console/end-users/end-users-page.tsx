import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { EndUser } from '../../packages/client/src/types.ts';
import { Dialog, Heading, Problem, ScrollFrame, Time } from '../parts/parts.tsx';
import { xTokensText } from '../parts/texts.ts';
import { announce } from '../state/notices.ts';
import { messageOf } from '../state/records.ts';
import { replaceQuery, route } from '../state/route.ts';
import { requiredClient } from '../state/session.ts';

const PAGE_SIZE = 50;
/** How long a filter waits for the next letter. */
const TYPING_MILLISECONDS = 250;

/** The account's end-users, to block and to erase. The filters are in the address. */
export const EndUsersPage = () => {
  const users = useSignal<readonly EndUser[] | undefined>(undefined);
  const pages = useSignal(0);
  const hasMore = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const toErase = useSignal<string | undefined>(undefined);
  const { query } = route.value;
  const filters = { email: query.get('email') ?? '', blocked: query.get('blocked') ?? '' };
  const set = (name: keyof typeof filters, value: string) =>
    replaceQuery('end-users', { ...filters, [name]: value });

  const read = async (page: number, signal?: AbortSignal) => {
    try {
      const found = await requiredClient().listEndUsers({
        page,
        pageSize: PAGE_SIZE,
        ...(filters.email !== '' && { email: filters.email }),
        ...(filters.blocked !== '' && { blocked: filters.blocked === 'true' }),
        ...(signal && { signal }),
      });
      const known = page === 1 ? [] : (users.peek() ?? []);
      users.value = [
        ...known,
        ...found.items.filter(({ email }) => !known.some((one) => one.email === email)),
      ];
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
  }, [filters.email, filters.blocked]);

  const setBlocked = async (email: string, isBlocked: boolean) => {
    try {
      const client = requiredClient();
      const { blockedAt } = isBlocked ? await client.blockEndUser(email) : await client.unblockEndUser(email);
      users.value = (users.peek() ?? []).map((user) =>
        user.email === email ? { ...user, blockedAt } : user,
      );
      announce(`${email} is ${isBlocked ? 'blocked' : 'not blocked any more'}.`);
      problem.value = undefined;
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  const erased = (email: string) => {
    users.value = (users.peek() ?? []).filter((user) => user.email !== email);
    toErase.value = undefined;
  };

  return (
    <>
      <Heading>End-users</Heading>
      <search class="filters">
        <label>
          Part of the address{' '}
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
      <Problem text={problem.value} />
      {users.value?.length === 0 && (
        <p class="quiet">
          {filters.email + filters.blocked === ''
            ? 'None yet: an end-user appears with their first request.'
            : 'None is like that.'}
        </p>
      )}
      {users.value && users.value.length > 0 && (
        <ScrollFrame name="End-users">
          <table>
            <thead>
              <tr>
                <th scope="col">Address</th>
                <th scope="col">State</th>
                <th scope="col">Last active</th>
                <th scope="col" class="number">
                  Requests
                </th>
                <th scope="col" class="number">
                  xTokens
                </th>
                <th scope="col">Do</th>
              </tr>
            </thead>
            <tbody>
              {users.value.map((user) => (
                <Row
                  key={user.email}
                  user={user}
                  onBlock={(isBlocked) => setBlocked(user.email, isBlocked)}
                  onErase={() => {
                    toErase.value = user.email;
                  }}
                />
              ))}
            </tbody>
          </table>
        </ScrollFrame>
      )}
      {hasMore.value && (
        <button type="button" onClick={() => read(pages.value + 1)}>
          Read more
        </button>
      )}
      {toErase.value !== undefined && (
        <EraseDialog
          email={toErase.value}
          onErased={erased}
          onClose={() => {
            toErase.value = undefined;
          }}
        />
      )}
    </>
  );
};

interface RowProps {
  user: EndUser;
  onBlock: (isBlocked: boolean) => void;
  onErase: () => void;
}

const Row = ({ user, onBlock, onErase }: RowProps) => {
  const { email, blockedAt, lastActiveAt, totalRequests, totalXTokensSpent } = user;
  return (
    <tr>
      <th scope="row">{email}</th>
      <td>
        {blockedAt === null ? (
          'active'
        ) : (
          <>
            <span class="badge failed">blocked</span> since <Time at={blockedAt} />
          </>
        )}
      </td>
      <td>
        <Time at={lastActiveAt} />
      </td>
      <td class="number">{totalRequests}</td>
      <td class="number">{xTokensText(totalXTokensSpent)}</td>
      <td class="actions">
        <button type="button" onClick={() => onBlock(blockedAt === null)}>
          {blockedAt === null ? 'Block' : 'Unblock'}
          <span class="unseen"> {email}</span>
        </button>{' '}
        <button type="button" class="dangerous" onClick={onErase}>
          Erase<span class="unseen"> {email}</span> …
        </button>
      </td>
    </tr>
  );
};

interface EraseDialogProps {
  email: string;
  onErased: (email: string) => void;
  onClose: () => void;
}

const EraseDialog = ({ email, onErased, onClose }: EraseDialogProps) => {
  const typed = useSignal('');
  const problem = useSignal<string | undefined>(undefined);
  const isErasing = useSignal(false);
  const erase = async (event: Event) => {
    event.preventDefault();
    if (typed.value !== email) {
      problem.value = 'Type the address exactly as it is above.';
      return;
    }
    isErasing.value = true;
    try {
      const { removedRequests, removedObjects } = await requiredClient().deleteEndUser(email);
      announce(`${email} is erased, with ${removedRequests} requests and ${removedObjects} files.`);
      onErased(email);
    } catch (error) {
      problem.value = messageOf(error);
    } finally {
      isErasing.value = false;
    }
  };
  return (
    <Dialog name="Erase an end-user" onClose={onClose}>
      <form onSubmit={erase} noValidate>
        <p>
          This removes <strong>{email}</strong> with all requests and files, for good.
        </p>
        <div class="field">
          <label for="typed-address">Type the address to go on</label>
          <input
            id="typed-address"
            type="text"
            autoComplete="off"
            spellcheck={false}
            value={typed.value}
            onInput={(event) => {
              typed.value = event.currentTarget.value;
            }}
          />
        </div>
        <Problem text={problem.value} />
        <button type="submit" class="dangerous" aria-disabled={isErasing.value}>
          Erase
        </button>{' '}
        <button type="button" onClick={onClose}>
          Keep
        </button>
      </form>
    </Dialog>
  );
};
