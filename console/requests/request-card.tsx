import { signal } from '@preact/signals';
import type { CSSProperties } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { StatusBadge, Time, TimeLeft } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, lossText, outputsOf, statusAt } from '../state/record-rules.ts';
import { hrefOf, open } from '../state/route.ts';
import { isLine, ratioOf } from './gallery-rules.ts';
import { Outputs } from './outputs.tsx';
import { selection } from './selection.ts';

/** The request whose card comes into view as soon as it is there. */
export const cardToShow = signal<string | undefined>(undefined);

interface RequestCardProps {
  record: AnyRecord;
  /** Called when it is selected, with whether a whole range is. Undefined: it cannot be. */
  onSelect?: (isRange: boolean) => void;
}

/** A request in a list: its outputs as they are, or a line where there is nothing to see. */
export const RequestCard = ({ record, onSelect }: RequestCardProps) => {
  const card = useRef<HTMLElement>(null);
  const { requestId } = record;
  const isToShow = cardToShow.value === requestId;
  useEffect(() => {
    if (!isToShow) return;
    card.current?.scrollIntoView({ block: 'nearest' });
    cardToShow.value = undefined;
  }, [isToShow]);
  const isSelected = onSelect !== undefined && selection.value.has(requestId);
  return (
    <li
      class={isLine(record, now.value) ? 'line' : undefined}
      style={{ '--ratio': ratioOf(record) } as CSSProperties}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: by keyboard there are the link and the box */}
      <article
        class={`card${isSelected ? ' chosen' : ''}`}
        ref={card}
        data-request={requestId}
        onClick={(event) => clicked(event, requestId, onSelect)}
      >
        {onSelect && (
          <input
            type="checkbox"
            class="choose"
            checked={isSelected}
            aria-label={`Select ${record.prompt}`}
            onClick={(event) => onSelect(event.shiftKey)}
          />
        )}
        <Outputs record={record} />
        <Caption record={record} />
      </article>
    </li>
  );
};

/** A click with Shift, Ctrl or Cmd selects; one on a picture opens its request. Links, buttons and players are their own. */
const clicked = (event: MouseEvent, requestId: string, onSelect: RequestCardProps['onSelect']): void => {
  const at = event.target as Element;
  if (at.closest('a, button, input, video, dialog')) return;
  if (event.shiftKey || event.ctrlKey || event.metaKey) onSelect?.(event.shiftKey);
  else if (at.closest('img')) open(`requests/${requestId}`);
};

const Caption = ({ record }: { record: AnyRecord }) => {
  const loss = lossText(record);
  const status = statusAt(record, now.value);
  const [output] = outputsOf(record);
  return (
    <>
      <p class="prompt">
        <a href={hrefOf(`requests/${record.requestId}`)}>{record.prompt}</a>
      </p>
      <p class="facts quiet">
        {status !== 'succeeded' && <StatusBadge status={status} />} {loss !== undefined && `${loss} · `}
        {record.model} · <Time at={record.createdAt} />
        {output && status === 'succeeded' && (
          <>
            {' '}
            · <TimeLeft until={output.expiresAt} />
          </>
        )}
      </p>
      <p class="facts quiet">{record.endUserEmail}</p>
    </>
  );
};
