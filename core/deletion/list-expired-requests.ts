import * as z from 'zod/mini';
import { DuePosition, listDue } from '../requests/due-items.ts';
import { addSeconds, type Clock, type Instant, systemClock, toInstant } from '../time.ts';

/** Requests in a batch, which one run of a function handles: with one file each, a tenth of what S3 removes in a call. */
const BATCH_SIZE = 100;
/** Requests of each of the 4 partitions on a page: with all ids, some 60 % of what a state may hold (256 KB). */
const PER_PARTITION = 1_000;
/**
 * Pages of one execution. Each takes up to 400 of the 25,000 events that the history of an execution may have;
 * retries take more.
 */
const MAX_PAGES = 25;
/** Clocks differ by a second or two. Files are left alone for this long after `expiresAt`. */
const CLOCK_MARGIN_SECONDS = 5;

/** The progress of an execution: the number of finished pages, and the position of the next page. */
export const ExpiryCursor = z.object({ pages: z.number(), position: z.optional(DuePosition) });
export type ExpiryCursor = z.infer<typeof ExpiryCursor>;
/** The start of an execution. */
export const FIRST_PAGE: ExpiryCursor = { pages: 0 };

/** A page of expired requests, in batches, and what comes next: another page, or the end of the execution. */
export interface ExpiredPage {
  batches: { requestIds: string[] }[];
  cursor: ExpiryCursor;
  next: 'list' | 'stop';
}

/** Requests due by this instant have expired by every clock. */
const expiredBy = (clock: Clock): Instant => addSeconds(toInstant(clock.now()), -CLOCK_MARGIN_SECONDS);

/** Whether any request has expired whose files are left to remove. Eventually consistent. */
export const isAnyExpired = async (clock: Clock = systemClock): Promise<boolean> =>
  (await listDue('EXPIRE', expiredBy(clock), 1)).items.length > 0;

/**
 * The next page of requests that have expired and whose files are left to remove, longest expired first: up to
 * 1,000, in batches of 100. After 25 pages it stops; another execution goes on. Eventually consistent, so a
 * request may be listed that was just handled.
 */
export const listExpiredRequests = async (
  { pages, position }: ExpiryCursor,
  clock: Clock = systemClock,
): Promise<ExpiredPage> => {
  const { items, next } = await listDue('EXPIRE', expiredBy(clock), PER_PARTITION, position);
  const ids = items.flatMap(({ work }) => (work.kind === 'request' ? [work.requestId] : []));
  const batches = Array.from({ length: Math.ceil(ids.length / BATCH_SIZE) }, (_, index) => ({
    requestIds: ids.slice(index * BATCH_SIZE, (index + 1) * BATCH_SIZE),
  }));
  const hasMore = next.length > 0 && pages + 1 < MAX_PAGES;
  return { batches, cursor: { pages: pages + 1, position: next }, next: hasMore ? 'list' : 'stop' };
};
