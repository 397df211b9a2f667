import type { FileFault } from '../guarded-http/http-files.ts';
import { addSeconds, type Instant } from '../time.ts';

/**
 * Seconds in which an output's file is fetched again, by the fault of the last attempt, counted from the request's first storing
 * run. File servers that copy files serve a new file within seconds, so an absent file is fetched for more than a minute. A last
 * run that begins just before 630 s, with 15 images, four at a time, or one video, ends within 15 min of the first run.
 */
const FETCHING_SECONDS = { absent: 75, 'cut-off': 10, 'out-of-order': 630 };

/** The end of the time in which an output's file is fetched again, by the fault of the last attempt; storing began at `since`. */
export const fetchingEndOf = (fault: FileFault, since: Instant): Instant =>
  fault === 'final' ? '' : addSeconds(since, FETCHING_SECONDS[fault]);
