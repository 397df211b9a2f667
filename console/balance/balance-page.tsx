import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { LedgerTable } from '../parts/ledger-table.tsx';
import { Heading, Problem, Time } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { xTokensText } from '../parts/texts.ts';
import { balance, readBalance } from '../state/account.ts';
import { useLive } from '../state/live.ts';
import { messageOf } from '../state/records.ts';
import { replaceInQuery, route } from '../state/route.ts';
import { requiredClient } from '../state/session.ts';
import { Chart } from './chart.tsx';
import { PERIODS, type Period } from './chart-rules.ts';
import { UsageSection } from './usage.tsx';

const PAGE_SIZE = 50;
/** Pages that are read for a period at most: some seconds of reading. */
const MAX_PAGES = 20;
const DEFAULT_PERIOD: Period = '7 days';

const isPeriod = (text: string | null): text is Period => text !== null && text in PERIODS;

/** The balance, its history as a chart of a period, and every entry. */
export const BalancePage = () => {
  const given = route.value.query.get('period');
  const period = isPeriod(given) ? given : DEFAULT_PERIOD;
  const { entries, pages, hasMore, problem, coversPeriod, readMore } = useHistory(period);
  return (
    <>
      <Heading>Balance</Heading>
      <Problem text={problem.value} />
      {balance.value && (
        <p class="large">
          {xTokensText(balance.value.xTokens)} xTokens{' '}
          <small class="quiet">
            as of <Time at={balance.value.updatedAt} />
          </small>
        </p>
      )}
      {pages.value === 0 && problem.value === undefined && <Skeleton lines={2} isBlock />}
      {pages.value > 0 && entries.value.length === 0 && (
        <Empty icon="balance">
          <p class="quiet">No transactions yet</p>
          <p>Your operator tops up the balance; requests are debited from it.</p>
        </Empty>
      )}
      {entries.value.length > 0 && (
        <>
          <section class="panel">
            <PeriodSelect period={period} />
            <Chart entries={entries.value} period={period} />
            {!coversPeriod() && (
              <p class="quiet">The chart begins with the oldest transaction that is loaded below.</p>
            )}
          </section>
          <section class="panel">
            <UsageSection />
          </section>
          <section class="panel">
            <h2>Transactions</h2>
            <LedgerTable name="Transactions" entries={entries.value} showsReference />
          </section>
        </>
      )}
      {hasMore.value && (
        <p>
          <button type="button" onClick={readMore}>
            Load more
          </button>
        </p>
      )}
    </>
  );
};

/** The history of the balance, newest first, read at least as far back as the period where `MAX_PAGES` suffice. */
const useHistory = (period: Period) => {
  const entries = useSignal<readonly BalanceHistoryEntry[]>([]);
  const pages = useSignal(0);
  const hasMore = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);

  const readPage = async (page: number) => {
    const history = await requiredClient().listBalanceHistory({ page, pageSize: PAGE_SIZE });
    // New entries since a page was read move others to later pages.
    const byId = new Map([...entries.peek(), ...history.items].map((entry) => [entry.id, entry]));
    entries.value = [...byId.values()].sort((a, b) => (a.id < b.id ? 1 : -1));
    if (page <= pages.peek()) return;
    pages.value = page;
    hasMore.value = history.hasMore;
  };
  const attempt = async (work: () => Promise<unknown>) => {
    try {
      await work();
      problem.value = undefined;
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  const coversPeriod = () => {
    const oldest = entries.peek().at(-1);
    return !oldest || !hasMore.peek() || Date.parse(oldest.createdAt) < Date.now() - PERIODS[period];
  };
  const readPeriod = async () => {
    await readPage(1);
    while (!coversPeriod() && pages.peek() < MAX_PAGES) await readPage(pages.peek() + 1);
  };
  useEffect(() => {
    attempt(() => Promise.all([readPeriod(), readBalance()]));
  }, [period]);
  useLive(() => attempt(() => readPage(1)));
  const readMore = () => attempt(() => readPage(pages.peek() + 1));
  return { entries, pages, hasMore, problem, coversPeriod, readMore };
};

const PeriodSelect = ({ period }: { period: Period }) => (
  <label>
    Period{' '}
    <select
      value={period}
      onInput={(event) => replaceInQuery('balance', 'period', event.currentTarget.value)}
    >
      {Object.keys(PERIODS).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  </label>
);
