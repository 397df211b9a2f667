import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { StatusBadge, Time } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, lossText, statusAt } from '../state/record-rules.ts';
import { hrefOf } from '../state/route.ts';
import { Outputs } from './outputs.tsx';

/** The request whose card comes into view as soon as it is there. */
export const cardToShow = signal<string | undefined>(undefined);

/** A request in a list. */
export const RequestCard = ({ record }: { record: AnyRecord }) => {
  const card = useRef<HTMLElement>(null);
  const isToShow = cardToShow.value === record.requestId;
  useEffect(() => {
    if (!isToShow) return;
    card.current?.scrollIntoView({ block: 'nearest' });
    cardToShow.value = undefined;
  }, [isToShow]);
  const loss = lossText(record);
  return (
    <article class="card" ref={card} data-request={record.requestId}>
      <Outputs record={record} />
      <p class="facts">
        <StatusBadge status={statusAt(record, now.value)} /> {loss !== undefined && `${loss} · `}
        {record.model} · <Time at={record.createdAt} />
      </p>
      <p class="prompt">
        <a href={hrefOf(`requests/${record.requestId}`)}>{record.prompt}</a>
      </p>
      <p class="facts quiet">{record.endUserEmail}</p>
    </article>
  );
};
