import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { Choice, Heading, Problem } from '../parts/parts.tsx';
import { models, modelsProblem, readModels } from '../state/account.ts';
import { useLive } from '../state/live.ts';
import { fileProblem, messageOf, readOne, recordOf } from '../state/records.ts';
import { hrefOf, replaceInQuery, route } from '../state/route.ts';
import { Found } from './found.tsx';
import { RequestCard } from './request-card.tsx';
import { type Filters, readSearchText } from './search-rules.ts';
import { readSort } from './table-rules.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
const TYPES = ['image', 'video'];
/** How long a search waits for the next letter. */
const TYPING_MILLISECONDS = 300;

/** All requests of the account, as a gallery or a table. What is shown of them is in the address. */
export const RequestsPage = () => {
  useEffect(() => {
    if (!models.peek()) readModels();
  }, []);
  const { query } = route.value;
  const given = (name: string) => query.get(name) ?? '';
  const filters: Filters = {
    ...{ text: given('text'), status: given('status'), type: given('type'), user: given('user') },
    ...{ model: given('model'), from: given('from'), to: given('to') },
  };
  const asked = useLater(filters);
  const search = readSearchText(asked.text);
  const isTable = given('view') === 'table';
  return (
    <>
      <div class="page-head">
        <Heading>Requests</Heading>
        <div class="toolbar">
          <Views isTable={isTable} />
          <a class="button primary" href={hrefOf('make')}>
            <Icon name="make" />
            New<span class="word"> request</span>
          </a>
        </div>
      </div>
      <SearchForm filters={filters} isTable={isTable} />
      <Problem text={fileProblem.value ?? modelsProblem.value} />
      {search.kind === 'id' ? (
        <OneRequest key={search.requestId} requestId={search.requestId} />
      ) : (
        // A filter by model waits for the models: they tell which of the two lists has it.
        (asked.model === '' || models.value !== undefined) && (
          <Found filters={asked} sort={isTable ? readSort(given('sort')) : undefined} />
        )
      )}
    </>
  );
};

/** The choice between gallery and table. */
const Views = ({ isTable }: { isTable: boolean }) => (
  <fieldset class="choices">
    <legend class="unseen">View</legend>
    {(['gallery', 'table'] as const).map((name) => (
      <label key={name} class="tile row">
        <input
          type="radio"
          name="view"
          checked={isTable === (name === 'table')}
          onChange={() => replaceInQuery('requests', 'view', name === 'table' ? name : '')}
        />
        <span>
          <Icon name={name === 'table' ? 'table' : 'requests'} />
          <span class="word">{name === 'table' ? ' Table' : ' Gallery'}</span>
        </span>
      </label>
    ))}
  </fieldset>
);

/** The filters once no letter has been typed for a moment. */
const useLater = (filters: Filters): Filters => {
  const later = useSignal(filters);
  const text = JSON.stringify(filters);
  useEffect(() => {
    const { text: typed, user } = later.peek();
    const isTyped = filters.text !== typed || filters.user !== user;
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

const SearchForm = ({ filters, isTable }: { filters: Filters; isTable: boolean }) => {
  const set = (name: keyof Filters, value: string) => replaceInQuery('requests', name, value);
  const text = (name: 'text' | 'user', label: string) => (
    <label class={name === 'text' ? 'search' : undefined}>
      {label}
      <input type="search" value={filters[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  const choice = (name: 'status' | 'type' | 'model', label: string, options: readonly string[]) => (
    <Choice label={label} value={filters[name]} options={options} onValue={(value) => set(name, value)} />
  );
  const day = (name: 'from' | 'to', label: string) => (
    <label>
      {label}
      <input type="date" value={filters[name]} onInput={(event) => set(name, event.currentTarget.value)} />
    </label>
  );
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <search class="filters">
      {text('text', 'Search prompt, ID, user')}
      {text('user', 'End-user')}
      {choice('status', 'Status', STATUSES)}
      {choice('type', 'Type', TYPES)}
      {choice('model', 'Model', models.value?.map(({ id }) => id) ?? [])}
      {day('from', 'From')}
      {day('to', 'To')}
      {isFiltered && <a href={hrefOf('requests', isTable ? { view: 'table' } : {})}>Clear filters</a>}
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
          <RequestCard record={record} />
        </ul>
      )}
    </>
  );
};
