import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { dayText, instantText, xTokensText } from '../parts/texts.ts';
import { now } from '../state/clock.ts';
import { axesOf, type Period, stepPath, stepsIn } from './chart-rules.ts';
import { HEIGHT, Plot, WIDTH } from './plot.tsx';

/** Days are named in longer periods, times of day in shorter ones. */
const DAYS_FROM_MILLISECONDS = 3 * 86_400_000;

interface ChartProps {
  /** Newest first. */
  entries: readonly BalanceHistoryEntry[];
  period: Period;
}

/** The balance over a period. */
export const Chart = ({ entries, period }: ChartProps) => {
  const steps = stepsIn(entries.toReversed(), now.value, period);
  const axes = axesOf(steps, now.value);
  const amounts = steps.map(({ xTokens }) => xTokens);
  const isLong = axes.until - axes.from > DAYS_FROM_MILLISECONDS;
  const timeText = (milliseconds: number): string => {
    const at = new Date(milliseconds).toISOString();
    return isLong ? dayText(at) : instantText(at).slice(5, 16);
  };
  if (steps.length === 0) return <p class="quiet">No transactions in this period</p>;
  const label = `The balance over ${period}: from ${xTokensText(Math.min(...amounts))} to ${xTokensText(Math.max(...amounts))} xTokens.`;
  return (
    <Plot axes={axes} label={label} timeText={timeText}>
      <path class="line" d={stepPath(steps, axes, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
    </Plot>
  );
};
