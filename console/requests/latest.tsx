import { useEffect } from 'preact/hooks';
import { isLoading, listed, recordOf, refresh } from '../state/records.ts';
import { hrefOf } from '../state/route.ts';
import { RequestCard } from './request-card.tsx';

/** How many of the newest requests are beside the form. */
const SHOWN = 4;

/** The newest requests, live. */
export const Latest = () => {
  useEffect(() => {
    if (isLoading.peek()) refresh();
  }, []);
  const records = listed.value.slice(0, SHOWN).flatMap((id) => recordOf(id) ?? []);
  return (
    <section aria-labelledby="latest-heading">
      <h2 id="latest-heading">Latest requests</h2>
      {records.length === 0 ? (
        <p class="quiet">{isLoading.value ? 'Reading …' : 'Nothing yet. What you make appears here.'}</p>
      ) : (
        <ul class="cards">
          {records.map((record) => (
            <li key={record.requestId}>
              <RequestCard record={record} />
            </li>
          ))}
        </ul>
      )}
      {listed.value.length > SHOWN && <a href={hrefOf('requests')}>All requests</a>}
    </section>
  );
};
