import type { FileFault } from '../guarded-http/http-files.ts';
import { addSeconds, type Instant } from '../time.ts';

/**
 * How long a file is fetched again, by its fault, from the first run that stores outputs of its request. File servers that copy files have a
 * new one within seconds: an absent file is fetched for more than a minute. A run that began before the end for a server out of order, with 15 images, four at a time, or one video, and the pause before that run end within 15 min.
 */
const FETCHING_SECONDS = { absent: 75, 'cut-off': 10, 'out-of-order': 630 };

/** Until when the file of an output is fetched again, by what went wrong, when storing began at `since`. */
export const fetchingEndOf = (fault: FileFault, since: Instant): Instant =>
  fault === 'final' ? '' : addSeconds(since, FETCHING_SECONDS[fault]);
