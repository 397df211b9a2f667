import type { ComponentChildren } from 'preact';
import { xTokensText } from '../parts/texts.ts';
import { type Axes, amountTicks, timeTicks } from './chart-rules.ts';

export const [WIDTH, HEIGHT] = [720, 200];
const TIME_PARTS = 4;

interface PlotProps {
  axes: Axes;
  /** A description of the drawing, for screen readers. */
  label: string;
  timeText: (milliseconds: number) => string;
  /** The drawing, of `WIDTH` by `HEIGHT`. */
  children: ComponentChildren;
}

/**
 * A drawing of xTokens over time, with its axes. Texts stand outside the scaled drawing and keep their size on every
 * screen.
 */
export const Plot = ({ axes, label, timeText, children }: PlotProps) => (
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
        {children}
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
