import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Choice, Heading, Problem } from '../parts/parts.tsx';
import { countText } from '../parts/texts.ts';
import { models, modelsProblem, readModels } from '../state/account.ts';
import { useLive } from '../state/live.ts';
import { fileProblem, messageOf, readOne, recordOf } from '../state/records.ts';
import { createRequestList, type RequestList } from '../state/request-lists.ts';
import { hrefOf, replaceInQuery, route } from '../state/route.ts';
import { RequestCard } from './request-card.tsx';
import { type Filters, holdsText, queryOf, readSearchText } from './search-rules.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
const TYPES = ['image', 'video'];
/** How long a search waits for the next letter. */
const TYPING_MILLISECONDS = 300;

const typeOfModel = (model: string): string | undefined => models.value?.find(({ id }) => id === model)?.type;

/** The gallery of all requests of the account, newest first. Its filters are in the address. */
export const RequestsPage = () => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  const { query } = route.value;
  const given = (name: string) => query.get(name) ?? '';
  const filters: Filters = {
    ...{ text: given('text'), status: given('status'), type: given('type') },
    ...{ model: given('model'), from: given('from'), to: given('to') },
  };
  const asked = useLater(filters);
  const search = readSearchText(asked.text);
  return (
    <>
      <Heading>Requests</Heading>
      <SearchForm filters={filters} />
      <Problem text={fileProblem.value ?? modelsProblem.value} />
      {search.kind === 'id' ? (
        <OneRequest key={search.requestId} requestId={search.requestId} />
      ) : (
        // A filter by model waits for the models: they tell which of the two lists has it.
        (asked.model === '' || models.value !== undefined) && <Found filters={asked} />
      )}
    </>
  );
};

/** The filters once no letter has been typed for a moment. */
const useLater = (filters: Filters): Filters => {
  const later = useSignal(filters);
  const text = JSON.stringify(filters);
  useEffect(() => {
    const isTyped = filters.text !== later.peek().text;
    const timer = setTimeout(
      () => {
        later.value = filters;
      },
      isTyped ? TYPING_MILLISECONDS : 0,
    );
    return () => clearTimeout(timer);
  }, [text]);
  return later.value;
};

const SearchForm = ({ filters }: { filters: Filters }) => {
  const set = (name: keyof Filters, value: string) => replaceInQuery('requests', name, value);
  const day = (name: 'from' | 'to', label: string) => (
    <label>
      {label}{' '}
      <input type="date" value={filters[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  return (
    <search class="filters">
      <label class="search">
        Search prompt, ID, user{' '}
        <input
          type="search"
          value={filters.text}
          onInput={(event) => set('text', event.currentTarget.value)}
        />
      </label>
      <Choice
        label="Status"
        value={filters.status}
        options={STATUSES}
        onValue={(value) => set('status', value)}
      />
      <Choice label="Type" value={filters.type} options={TYPES} onValue={(value) => set('type', value)} />
      <Choice
        label="Model"
        value={filters.model}
        options={models.value?.map(({ id }) => id) ?? []}
        onValue={(value) => set('model', value)}
      />
      {day('from', 'From')}
      {day('to', 'To')}
      {Object.values(filters).some((value) => value !== '') && <a href={hrefOf('requests')}>Clear filters</a>}
    </search>
  );
};

/** The request with an id, or that there is none. */
const OneRequest = ({ requestId }: { requestId: string }) => {
  const problem = useSignal<string | undefined>(undefined);
  const isRead = useSignal(false);
  const read = async () => {
    try {
      await readOne(requestId);
      problem.value = undefined;
    } catch (error) {
      problem.value = messageOf(error);
    }
    isRead.value = true;
  };
  useEffect(() => {
    read();
  }, []);
  useLive(read);
  const record = recordOf(requestId);
  return (
    <>
      <Problem text={problem.value} />
      {isRead.value && !problem.value && <p class="quiet count">{record ? '1 request' : 'No matches'}</p>}
      {record && (
        <ul class="cards gallery">
          <li>
            <RequestCard record={record} />
          </li>
        </ul>
      )}
    </>
  );
};

/** From the top up to here new requests are shown at once: nothing that is being read moves. */
const TOP_PIXELS = 200;

const Found = ({ filters }: { filters: Filters }) => {
  const query = queryOf(filters, typeOfModel);
  const list = useMemo(() => createRequestList(query), [JSON.stringify(query)]);
  const newest = useRef<string | undefined>(undefined);
  const timesShown = useSignal(0);
  useEffect(() => {
    newest.current = undefined;
    list.refresh();
  }, [list]);
  useLive(list.refresh, [list]);
  const search = readSearchText(filters.text);
  const ids = list.ids.value;
  if (scrollY < TOP_PIXELS || newest.current === undefined) newest.current = ids[0];
  const shown = ids.slice(Math.max(0, ids.indexOf(newest.current ?? '')));
  const records = shown
    .flatMap((id) => recordOf(id) ?? [])
    .filter((record) => search.kind !== 'text' || holdsText(record, search.text));
  const unseen = ids.length - shown.length;
  const isFiltered = Object.values(filters).some((value) => value !== '');
  timesShown.value;
  const showNew = () => {
    newest.current = undefined;
    timesShown.value += 1;
    scrollTo({ top: 0 });
  };
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
      <ul class="cards gallery">
        {records.map((record) => (
          <li key={record.requestId}>
            <RequestCard record={record} />
          </li>
        ))}
      </ul>
      {records.length === 0 && <Nothing list={list} isFiltered={isFiltered} />}
      {list.hasMore.value && (
        <button type="button" onClick={list.loadMore}>
          {records.length === 0 ? 'Search older' : 'Load more'}
        </button>
      )}
    </>
  );
};

const Nothing = ({ list, isFiltered }: { list: RequestList; isFiltered: boolean }) => {
  if (list.isLoading.value) return <p class="quiet">Loading …</p>;
  if (list.hasMore.value)
    return <p class="quiet">No matches in the latest {countText(list.ids.value.length, 'request')}.</p>;
  if (isFiltered) return <p class="quiet">No matches</p>;
  return (
    <p class="quiet">
      Nothing yet. <a href={hrefOf('make')}>Make an image or a video</a>.
    </p>
  );
};
