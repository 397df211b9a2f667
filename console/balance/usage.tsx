import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Usage, UsageItem } from '../../packages/client/src/types.ts';
import { Problem } from '../parts/parts.tsx';
import { Table } from '../parts/table.tsx';
import { countText, xTokensText } from '../parts/texts.ts';
import { now } from '../state/clock.ts';
import { messageOf } from '../state/records.ts';
import { replaceInQuery, route } from '../state/route.ts';
import { requiredClient } from '../state/session.ts';
import { HEIGHT, Plot, WIDTH } from './plot.tsx';
import { barPath, lastDays, spentByDay, usageAxes } from './usage-chart-rules.ts';

const DAYS = 30;
/** The groups of usage, with the name of each one. */
const BY = {
  model: { head: 'Model', nameOf: ({ model }: UsageItem) => model ?? 'unknown' },
  endUser: { head: 'End-user', nameOf: ({ endUserEmail }: UsageItem) => endUserEmail ?? 'deleted' },
  key: { head: 'API key', nameOf: ({ keyId }: UsageItem) => keyId ?? 'unknown' },
} as const;
type By = keyof typeof BY;

const isBy = (text: string | null): text is By => text !== null && Object.hasOwn(BY, text);

/** The spending of the last 30 days in UTC: a bar for each, and a table by model, end-user or API key. */
export const UsageSection = () => {
  const days = useSignal<Usage | undefined>(undefined);
  const groups = useSignal<Usage | undefined>(undefined);
  const problem = useSignal<string | undefined>(undefined);
  const given = route.value.query.get('by');
  const by = isBy(given) ? given : 'model';
  const { head, nameOf } = BY[by];
  useEffect(() => {
    const read = async () => {
      const range = lastDays(now.peek(), DAYS);
      const [byDay, byGroup] = await Promise.all([
        requiredClient().getUsage({ ...range, by: ['day'] }),
        requiredClient().getUsage({ ...range, by: [by] }),
      ]);
      days.value = byDay;
      groups.value = byGroup;
      problem.value = undefined;
    };
    read().catch((error: unknown) => {
      problem.value = messageOf(error);
    });
  }, [by]);
  return (
    <>
      <h2>Usage</h2>
      <Problem text={problem.value} />
      {days.value && <UsageChart usage={days.value} />}
      <label>
        By{' '}
        <select value={by} onInput={(event) => replaceInQuery('balance', 'by', event.currentTarget.value)}>
          {Object.entries(BY).map(([name, { head: text }]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      </label>
      {groups.value?.by[0] === by && (
        <Table
          name="Usage"
          columns={[
            { head, isName: true, cell: nameOf },
            { head: 'Requests', isNumber: true, cell: ({ requests }) => requests.toLocaleString('en') },
            { head: 'Debited', isNumber: true, cell: ({ debited }) => xTokensText(debited) },
            { head: 'Refunded', isNumber: true, cell: ({ refunded }) => xTokensText(refunded) },
            { head: 'xTokens', isNumber: true, cell: ({ xTokens }) => xTokensText(xTokens) },
          ]}
          rows={groups.value.items}
          keyOf={nameOf}
        />
      )}
    </>
  );
};

const UsageChart = ({ usage }: { usage: Usage }) => {
  const { from, items, total } = usage;
  const spent = spentByDay(usage, items);
  const axes = usageAxes(usage, spent);
  const label = `${xTokensText(total.xTokens)} xTokens for ${countText(total.requests, 'request')} in ${DAYS} days, ${from} to today, in UTC.`;
  return (
    <Plot axes={axes} label={label} timeText={(at) => new Date(at).toISOString().slice(0, 10)}>
      <path class="bars" d={barPath(spent, axes, WIDTH, HEIGHT)} />
    </Plot>
  );
};
