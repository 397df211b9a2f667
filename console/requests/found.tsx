import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Problem } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { countText } from '../parts/texts.ts';
import { WindowedRows } from '../parts/window.tsx';
import { models } from '../state/account.ts';
import { now } from '../state/clock.ts';
import { useLive } from '../state/live.ts';
import type { AnyRecord } from '../state/record-rules.ts';
import { recordOf } from '../state/records.ts';
import { createRequestList, type RequestList } from '../state/request-lists.ts';
import { hrefOf } from '../state/route.ts';
import { BulkBar } from './bulk-bar.tsx';
import { RequestCard } from './request-card.tsx';
import { RequestsTable } from './requests-table.tsx';
import { type Filters, isAskedFor, queryOf } from './search-rules.ts';
import { select, selection } from './selection.ts';
import { type Sort, sorted } from './table-rules.ts';

const typeOfModel = (model: string): string | undefined => models.value?.find(({ id }) => id === model)?.type;

/** From the top up to here new requests are shown at once: nothing that is being read moves. */
const TOP_PIXELS = 200;
/** The height that a request takes on most screens, before it is drawn: three in a row. */
const CARD_PIXELS = 100;

interface FoundProps {
  filters: Filters;
  /** The order of the table; undefined: the gallery is shown, newest first. */
  sort: Sort | undefined;
}

/** The requests that answer the filters. */
export const Found = ({ filters, sort }: FoundProps) => {
  const query = queryOf(filters, typeOfModel);
  const list = useMemo(() => createRequestList(query), [JSON.stringify(query)]);
  const { records, unseen, showNew } = useShown(list, filters);
  const isFiltered = Object.values(filters).some((value) => value !== '');
  const shown = sort ? sorted(records, sort, now.peek()) : records;
  const ids = shown.map(({ requestId }) => requestId);
  const onSelect = (requestId: string, isRange: boolean) => select(requestId, isRange, ids);
  return (
    <>
      <Problem text={list.problem.value} />
      {unseen > 0 && (
        <p class="unread">
          <button type="button" class="primary" onClick={showNew}>
            {unseen} new: show
          </button>
        </p>
      )}
      {records.length > 0 && (
        <p class="quiet count">
          {countText(records.length, 'request')}
          {list.hasMore.value && ' so far'}
        </p>
      )}
      {records.length > 0 &&
        (sort ? (
          <RequestsTable records={shown} sort={sort} onSelect={onSelect} />
        ) : (
          <Gallery records={shown} onSelect={onSelect} />
        ))}
      {records.length === 0 && <Nothing list={list} isFiltered={isFiltered} />}
      {list.hasMore.value && <More list={list} text={records.length === 0 ? 'Search older' : 'Load more'} />}
      <BulkBar />
    </>
  );
};

/** The records of a list that are shown: new ones wait while the reader is further down. */
const useShown = (list: RequestList, filters: Filters) => {
  const newest = useRef<string | undefined>(undefined);
  const timesShown = useSignal(0);
  useEffect(() => {
    newest.current = undefined;
    list.refresh();
  }, [list]);
  useLive(list.refresh, [list]);
  const ids = list.ids.value;
  if (scrollY < TOP_PIXELS || newest.current === undefined) newest.current = ids[0];
  const shown = ids.slice(Math.max(0, ids.indexOf(newest.current ?? '')));
  const records = shown.flatMap((id) => recordOf(id) ?? []).filter((record) => isAskedFor(record, filters));
  timesShown.value;
  return {
    records,
    unseen: ids.length - shown.length,
    showNew: () => {
      newest.current = undefined;
      timesShown.value += 1;
      scrollTo({ top: 0 });
    },
  };
};

interface GalleryProps {
  records: readonly AnyRecord[];
  onSelect: (requestId: string, isRange: boolean) => void;
}

const Gallery = ({ records, onSelect }: GalleryProps) => (
  <WindowedRows
    as="ul"
    class={`cards gallery${selection.value.size > 0 ? ' choosing' : ''}`}
    rows={records}
    rowPixels={CARD_PIXELS}
  >
    {(rows) =>
      rows.map((record) => (
        <RequestCard
          key={record.requestId}
          record={record}
          onSelect={(isRange) => onSelect(record.requestId, isRange)}
        />
      ))
    }
  </WindowedRows>
);

/** Reads older requests, by itself once the reader comes near the end of a list. */
const More = ({ list, text }: { list: RequestList; text: string }) => {
  const button = useRef<HTMLButtonElement>(null);
  const isAutomatic = text === 'Load more';
  useEffect(() => {
    if (!isAutomatic) return;
    const observer = new IntersectionObserver(
      (entries) => {
        if (scrollY > 0 && entries.some(({ isIntersecting }) => isIntersecting)) list.loadMore();
      },
      { rootMargin: '800px 0px' },
    );
    if (button.current) observer.observe(button.current);
    return () => observer.disconnect();
  }, [list, isAutomatic, list.ids.value.length]);
  return (
    <button type="button" ref={button} onClick={list.loadMore}>
      {text}
    </button>
  );
};

const Nothing = ({ list, isFiltered }: { list: RequestList; isFiltered: boolean }) => {
  if (list.isLoading.value) return <Skeleton lines={2} isBlock />;
  if (list.hasMore.value)
    return <p class="quiet">No matches in the latest {countText(list.ids.value.length, 'request')}.</p>;
  if (isFiltered)
    return (
      <Empty icon="search">
        <p class="quiet">No matches</p>
        <a href={hrefOf('requests')}>Show all requests</a>
      </Empty>
    );
  return (
    <Empty icon="image">
      <p class="quiet">
        Nothing yet. <a href={hrefOf('make')}>Make an image or a video</a>.
      </p>
    </Empty>
  );
};
