import type { BalanceHistoryEntry } from '../../packages/client/src/types.ts';
import { dayText, instantText, xTokensText } from '../parts/texts.ts';
import { now } from '../state/clock.ts';
import { amountTicks, axesOf, type Period, stepPath, stepsIn, timeTicks } from './chart-rules.ts';

const [WIDTH, HEIGHT] = [720, 200];
/** Days are named in longer periods, times of day in shorter ones. */
const DAYS_FROM_MILLISECONDS = 3 * 86_400_000;
const TIME_PARTS = 4;

interface ChartProps {
  /** Newest first. */
  entries: readonly BalanceHistoryEntry[];
  period: Period;
}

/** The balance over a period, with its axes. Texts are beside the drawing, so that they keep their size on every screen. */
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
    <figure class="chart">
      <div class="plot">
        <div class="amounts" aria-hidden="true">
          {amountTicks(axes).map(({ percent, value }) => (
            <span key={value} style={{ bottom: `${percent}%` }}>
              {xTokensText(value)}
            </span>
          ))}
        </div>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
          {amountTicks(axes).map(({ percent }) => (
            <path
              key={percent}
              class="grid"
              d={`M0,${HEIGHT - (percent / 100) * HEIGHT}H${WIDTH}`}
              vector-effect="non-scaling-stroke"
            />
          ))}
          <path class="line" d={stepPath(steps, axes, WIDTH, HEIGHT)} vector-effect="non-scaling-stroke" />
        </svg>
        <div class="times" aria-hidden="true">
          {timeTicks(axes, TIME_PARTS).map(({ percent, value }) => (
            <span key={percent} style={{ left: `${percent}%` }}>
              {timeText(value)}
            </span>
          ))}
        </div>
      </div>
      <figcaption>xTokens. {label}</figcaption>
    </figure>
  );
};
