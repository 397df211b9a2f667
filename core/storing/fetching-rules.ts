import type { FileFault } from '../guarded-http/http-files.ts';
import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import { addSeconds, type Instant } from '../time.ts';

/**
 * How long after the last call finished a file is fetched again, by its fault. File servers that copy files have a new one within
 * seconds: one that is absent is fetched for the 60 s promised, and what may pass before the first attempt. A run that began before the
 * end for a server out of order, with 15 images, four at a time, or one video, and the pause before that run end within 15 min.
 */
const FETCHING_SECONDS = { absent: 75, 'cut-off': 10, 'out-of-order': 630 };

/** Until when the file of an output is fetched again, by what went wrong. */
export const fetchingEndOf = (fault: FileFault, attempts: readonly ProviderAttempt[]): Instant => {
  if (fault === 'final') return '';
  const ends = attempts.map(({ startedAt, finishedAt = startedAt }) =>
    addSeconds(finishedAt, FETCHING_SECONDS[fault]),
  );
  return ends.sort().at(-1) ?? '';
};
