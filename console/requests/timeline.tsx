import type { StorySpan } from '../../ops/story-span.ts';
import { StatusDot, Time } from '../parts/parts.tsx';
import { capitalized, durationText, instantText } from '../parts/texts.ts';
import { layOut } from './timeline-rules.ts';

const endText = ({ from, until }: StorySpan, isOpen: boolean): string => {
  if (until === null) return ', ongoing';
  return isOpen ? ` until ${instantText(until)}` : `, ${durationText(Date.parse(until) - Date.parse(from))}`;
};

/** The story of a request: a list of what went on when, each with its bar on one scale. */
export const Timeline = ({ spans, now }: { spans: readonly StorySpan[]; now: Date }) => {
  const { bars, breaks, scaledMilliseconds } = layOut(spans, now);
  return (
    <section aria-labelledby="timeline-heading">
      <h2 id="timeline-heading">Timeline</h2>
      <p class="hint">
        {durationText(scaledMilliseconds)} to scale
        {breaks.length > 0 &&
          `; cut out, where the bars are hatched: ${breaks.map(({ milliseconds }) => durationText(milliseconds)).join(', ')}`}
        .
      </p>
      <ol class="timeline">
        {spans.map((span, index) => {
          const { left = 0, width = 0 } = bars[index] ?? {};
          // A planned end, such as that of the files, lies ahead.
          const isOpen = span.until === null || Date.parse(span.until) > now.getTime();
          return (
            <li key={index}>
              <div class="what">
                <StatusDot outcome={span.outcome} isOpen={isOpen} />
                <span>
                  {capitalized(span.label)}
                  {span.outcome !== undefined && `: ${span.outcome}`}
                </span>
              </div>
              <div class="track" aria-hidden="true">
                {breaks.map((one) => (
                  <span
                    key={one.left}
                    class="break"
                    style={{ left: `${one.left}%`, width: `${one.width}%` }}
                  />
                ))}
                <span
                  class={`bar ${span.kind}${isOpen ? ' open' : ''}`}
                  style={{ left: `min(${left}%, 100% - 2px)`, width: `max(${width}%, 2px)` }}
                />
              </div>
              <p class="when">
                <Time at={span.from} />
                {endText(span, isOpen)}
                {span.detail !== undefined && <span class="detail">{span.detail}</span>}
              </p>
            </li>
          );
        })}
      </ol>
    </section>
  );
};
