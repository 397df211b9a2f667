import { StatusBadge, Time } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, lossText, statusAt } from '../state/record-rules.ts';
import { hrefOf } from '../state/route.ts';
import { Outputs } from './outputs.tsx';

/** A request in a list. */
export const RequestCard = ({ record }: { record: AnyRecord }) => {
  const loss = lossText(record);
  return (
    <article class="card" id={`card-${record.requestId}`}>
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
