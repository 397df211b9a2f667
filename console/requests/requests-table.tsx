import { StatusBadge, Time } from '../parts/parts.tsx';
import { xTokensText } from '../parts/texts.ts';
import { WindowedRows } from '../parts/window.tsx';
import { now } from '../state/clock.ts';
import { type AnyRecord, statusAt } from '../state/record-rules.ts';
import { hrefOf, replaceInQuery } from '../state/route.ts';
import { selection, selectOnly } from './selection.ts';
import { costOfRecord, type Sort, type SortKey, secondsOf, sortAfter } from './table-rules.ts';

/** The height of a row on most screens. */
const ROW_PIXELS = 34;

interface RequestsTableProps {
  /** In the order that is shown. */
  records: readonly AnyRecord[];
  sort: Sort;
  onSelect: (requestId: string, isRange: boolean) => void;
}

/** Requests, a row each. */
export const RequestsTable = ({ records, sort, onSelect }: RequestsTableProps) => {
  const isAll = records.length > 0 && records.every(({ requestId }) => selection.value.has(requestId));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scrolls panel" aria-label="Requests as a table" tabIndex={0}>
      <table class="dense" aria-label="Requests" aria-rowcount={records.length + 1}>
        <thead>
          <tr>
            <th scope="col">
              <input
                type="checkbox"
                aria-label="Select all that are shown"
                checked={isAll}
                onClick={() => selectOnly(isAll ? [] : records.map(({ requestId }) => requestId))}
              />
            </th>
            <Head column="time" sort={sort} text="Time" />
            <th scope="col">Prompt</th>
            <Head column="model" sort={sort} text="Model" />
            <Head column="user" sort={sort} text="End-user" />
            <Head column="status" sort={sort} text="Status" />
            <Head column="seconds" sort={sort} text="Seconds" isNumber />
            <Head column="cost" sort={sort} text="xTokens" isNumber />
          </tr>
        </thead>
        <WindowedRows as="tbody" rows={records} rowPixels={ROW_PIXELS}>
          {(rows) =>
            rows.map((record) => (
              <Row
                key={record.requestId}
                record={record}
                onSelect={(isRange) => onSelect(record.requestId, isRange)}
              />
            ))
          }
        </WindowedRows>
      </table>
    </section>
  );
};

interface HeadProps {
  column: SortKey;
  sort: Sort;
  text: string;
  isNumber?: boolean;
}

/** The head of a column, which sorts by it. */
const Head = ({ column, sort, text, isNumber = false }: HeadProps) => {
  const isSorted = sort.key === column;
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : undefined}
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        class="quiet"
        onClick={() => replaceInQuery('requests', 'sort', sortAfter(sort, column))}
      >
        {text}
        {isSorted && <span aria-hidden="true">{sort.isDescending ? '↓' : '↑'}</span>}
      </button>
    </th>
  );
};

interface RowProps {
  record: AnyRecord;
  onSelect: (isRange: boolean) => void;
}

const Row = ({ record, onSelect }: RowProps) => {
  const { requestId, prompt, model, endUserEmail, createdAt } = record;
  const isSelected = selection.value.has(requestId);
  const [seconds, cost] = [secondsOf(record), costOfRecord(record)];
  const click = (event: MouseEvent) => {
    if ((event.target as Element).closest('a, input')) return;
    if (event.shiftKey || event.ctrlKey || event.metaKey) onSelect(event.shiftKey);
  };
  return (
    <tr class={isSelected ? 'chosen' : undefined} data-request={requestId} onClick={click}>
      <td>
        <input
          type="checkbox"
          aria-label={`Select ${prompt}`}
          checked={isSelected}
          onClick={(event) => onSelect(event.shiftKey)}
        />
      </td>
      <td>
        <Time at={createdAt} />
      </td>
      <td class="wide">
        <a href={hrefOf(`requests/${requestId}`)} title={prompt}>
          {prompt}
        </a>
      </td>
      <td>{model}</td>
      <td>{endUserEmail}</td>
      <td>
        <StatusBadge status={statusAt(record, now.value)} />
      </td>
      <td class="number">{seconds?.toFixed(1) ?? '–'}</td>
      <td class="number">{cost === undefined ? '–' : xTokensText(cost)}</td>
    </tr>
  );
};
