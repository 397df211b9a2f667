import { useEffect } from 'preact/hooks';
import { Problem } from '../parts/parts.tsx';
import { Empty, Skeleton } from '../parts/placeholders.tsx';
import { useLive } from '../state/live.ts';
import { recordOf } from '../state/records.ts';
import { createRequestList, EVERYTHING } from '../state/request-lists.ts';
import { hrefOf } from '../state/route.ts';
import { RequestCard } from './request-card.tsx';

/** How many of the newest requests are beside the form. */
const SHOWN = 6;

/** The newest requests of the account, which the pages share. */
export const latest = createRequestList(EVERYTHING);

/** The newest requests, live. */
export const Latest = () => {
  useEffect(() => {
    latest.refresh();
  }, []);
  useLive(latest.refresh);
  const records = latest.ids.value.slice(0, SHOWN).flatMap((id) => recordOf(id) ?? []);
  return (
    <section aria-labelledby="latest-heading">
      <h2 id="latest-heading">Latest requests</h2>
      <Problem text={latest.problem.value} />
      {records.length > 0 ? (
        <ul class="cards">
          {records.map((record) => (
            <RequestCard key={record.requestId} record={record} />
          ))}
        </ul>
      ) : latest.isLoading.value ? (
        <Skeleton lines={1} isBlock />
      ) : (
        <Empty icon="image">
          <p>Nothing yet. Describe what you want to see, and what you make appears here.</p>
        </Empty>
      )}
      {latest.ids.value.length > SHOWN && <a href={hrefOf('requests')}>All requests</a>}
    </section>
  );
};
