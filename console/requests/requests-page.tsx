import { useEffect } from 'preact/hooks';
import { Heading, Problem } from '../parts/parts.tsx';
import { now } from '../state/clock.ts';
import { isVideoId, statusAt } from '../state/record-rules.ts';
import {
  hasMore,
  isLoading,
  listed,
  listProblem,
  loadMore,
  recordOf,
  refresh,
  unseen,
} from '../state/records.ts';
import { hrefOf, replaceQuery, route } from '../state/route.ts';
import { RequestCard } from './request-card.tsx';

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'];
const KINDS = ['image', 'video'];

/** The gallery of all requests of the account, newest first. Its filters are in the address. */
export const RequestsPage = () => {
  useEffect(() => {
    refresh();
  }, []);
  const { query } = route.value;
  const filters = {
    status: query.get('status') ?? '',
    kind: query.get('kind') ?? '',
    text: query.get('text') ?? '',
  };
  const set = (name: keyof typeof filters, value: string) =>
    replaceQuery('requests', { ...filters, [name]: value });
  const text = filters.text.toLowerCase();
  const records = listed.value
    .flatMap((id) => recordOf(id) ?? [])
    .filter(
      (record) =>
        (filters.status === '' || statusAt(record, now.value) === filters.status) &&
        (filters.kind === '' || isVideoId(record.requestId) === (filters.kind === 'video')) &&
        [record.prompt, record.model, record.endUserEmail, record.requestId].some((part) =>
          part.toLowerCase().includes(text),
        ),
    );
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return (
    <>
      <Heading>Requests</Heading>
      <search class="filters">
        <Choice
          label="Status"
          value={filters.status}
          options={STATUSES}
          onValue={(value) => set('status', value)}
        />
        <Choice label="Kind" value={filters.kind} options={KINDS} onValue={(value) => set('kind', value)} />
        <label>
          Text{' '}
          <input
            type="search"
            value={filters.text}
            onInput={(event) => set('text', event.currentTarget.value)}
          />
        </label>
        <button type="button" onClick={refresh}>
          Read again
        </button>
      </search>
      <Problem text={listProblem.value} />
      {unseen.value.length > 0 && (
        <p>
          <button type="button" class="primary" onClick={refresh}>
            {unseen.value.length} new: show
          </button>
        </p>
      )}
      {records.length > 0 && (
        <ul class="cards gallery">
          {records.map((record) => (
            <li key={record.requestId}>
              <RequestCard record={record} />
            </li>
          ))}
        </ul>
      )}
      {records.length === 0 && <Empty isFiltered={isFiltered} />}
      {hasMore.value && (
        <button type="button" onClick={loadMore}>
          Read older ones
        </button>
      )}
    </>
  );
};

const Empty = ({ isFiltered }: { isFiltered: boolean }) => {
  if (isLoading.value) return <p class="quiet">Reading …</p>;
  if (isFiltered) return <p class="quiet">None of the requests read so far is like that.</p>;
  return (
    <p class="quiet">
      Nothing yet. <a href={hrefOf('make')}>Make an image or a video</a>.
    </p>
  );
};

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly string[];
  onValue: (value: string) => void;
}

const Choice = ({ label, value, options, onValue }: ChoiceProps) => (
  <label>
    {label}{' '}
    <select value={value} onInput={(event) => onValue(event.currentTarget.value)}>
      <option value="">any</option>
      {options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  </label>
);
