import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Balance, BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { LedgerTable } from '../parts/ledger-table.tsx';
import { Heading, Problem, Time } from '../parts/parts.tsx';
import { xTokensText } from '../parts/texts.ts';
import { messageOf } from '../state/records.ts';
import { requiredClient } from '../state/session.ts';
import { stepPath } from './chart-rules.ts';

const PAGE_SIZE = 50;

/** The balance, its history as a chart, and every entry. */
export const BalancePage = () => {
  const balance = useSignal<Balance | undefined>(undefined);
  const entries = useSignal<readonly BalanceHistoryEntry[]>([]);
  const pages = useSignal(0);
  const hasMore = useSignal(false);
  const problem = useSignal<string | undefined>(undefined);
  const read = async (page: number) => {
    try {
      const client = requiredClient();
      const [current, history] = await Promise.all([
        client.getBalance(),
        client.listBalanceHistory({ page, pageSize: PAGE_SIZE }),
      ]);
      balance.value = current;
      const known = page === 1 ? [] : entries.peek();
      const ids = new Set(known.map(({ id }) => id));
      // New entries since the last page was read move others to later pages.
      entries.value = [...known, ...history.items.filter(({ id }) => !ids.has(id))];
      hasMore.value = history.hasMore;
      pages.value = page;
      problem.value = undefined;
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    read(1);
  }, []);
  return (
    <>
      <Heading>Balance</Heading>
      <Problem text={problem.value} />
      {balance.value && (
        <p class="large">
          {xTokensText(balance.value.xTokens)} xTokens{' '}
          <small class="quiet">
            since <Time at={balance.value.updatedAt} />
          </small>
        </p>
      )}
      {pages.value > 0 && entries.value.length === 0 && <p class="quiet">It never changed.</p>}
      {entries.value.length > 0 && (
        <>
          <Chart entries={entries.value} />
          <LedgerTable name="History" entries={entries.value} showsReference />
        </>
      )}
      {hasMore.value && (
        <button type="button" onClick={() => read(pages.value + 1)}>
          Read older ones
        </button>
      )}
    </>
  );
};

const [WIDTH, HEIGHT] = [720, 160];

const Chart = ({ entries }: { entries: readonly BalanceHistoryEntry[] }) => {
  const steps = entries
    .toReversed()
    .map(({ createdAt, balanceAfter }) => ({ at: createdAt, xTokens: balanceAfter }));
  const amounts = steps.map(({ xTokens }) => xTokens);
  const [least, most] = [Math.min(...amounts), Math.max(...amounts)];
  const label = `The balance in ${entries.length} steps, from ${xTokensText(least)} to ${xTokensText(most)} xTokens.`;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
        <path d={stepPath(steps, new Date(), WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
      </svg>
      <figcaption>{label}</figcaption>
    </figure>
  );
};
