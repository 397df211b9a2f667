import * as z from 'zod/mini';
import { optionalEmail } from '../../core/end-users/email-rules.ts';
import type { RequestKind } from '../../core/ids.ts';
import { findImageModel, findVideoModel } from '../../core/models/catalog.ts';
import { RECORD_STATUSES } from '../../core/requests/request-rules.ts';
import { addSeconds, type Instant, parseIso8601 } from '../../core/time.ts';
import { PAGE_QUERY, withPluses } from './queries.ts';
import { RECORD_QUERY } from './record-read.ts';

/** Fractions of a millisecond: the instant is after everything created in the millisecond. */
const WITHIN_MILLISECOND = /\.\d{3}\d*[1-9]/;

/** As `parseIso8601`, but rounded up to the millisecond. */
const parseRoundedUp = (text: string): Instant | undefined => {
  const instant = parseIso8601(text);
  return instant !== undefined && WITHIN_MILLISECOND.test(text) ? addSeconds(instant, 0.001) : instant;
};

/** The problem of a text that is no instant. A raw `+` in a query means a blank. */
const instantProblem = (text: string): string =>
  parseIso8601(withPluses(text)) === undefined
    ? 'must be an ISO 8601 date, or date-time with a time zone'
    : 'must have the + of its time zone written as %2B';

const optionalInstant = (parse: typeof parseIso8601) =>
  z.optional(
    z.pipe(
      z.string().check(
        z.refine((text) => parseIso8601(text) !== undefined, {
          error: ({ input }) => instantProblem(String(input)),
        }),
      ),
      z.transform(parse),
    ),
  );

const requestsQuery = (isModel: (id: string) => boolean, noModel: string) => ({
  ...PAGE_QUERY,
  endUserEmail: optionalEmail(z.string().check(z.trim(), z.overwrite(withPluses))),
  status: z.optional(z.enum(RECORD_STATUSES, { error: `must be one of ${RECORD_STATUSES.join(', ')}` })),
  model: z.optional(z.string().check(z.refine(isModel, { error: noModel }))),
  createdAfter: optionalInstant(parseIso8601),
  createdBefore: optionalInstant(parseRoundedUp),
  ...RECORD_QUERY,
});

/** The queries of the lists of requests, by kind. */
export const REQUESTS_QUERIES = {
  image: requestsQuery((id) => findImageModel(id) !== undefined, 'is not an image model'),
  video: requestsQuery((id) => findVideoModel(id) !== undefined, 'is not a video model'),
} satisfies Record<RequestKind, unknown>;
