import * as z from 'zod/mini';
import type { CountedList, ListView } from '../lists/counted-list.ts';
import { VISIBLE_AFTER_SECONDS } from '../lists/counted-ranges.ts';
import { matchingEntries } from '../lists/list-entries.ts';
import { batchGet } from '../table/batches.ts';
import { endUserKey, endUserListingPartition, LISTING_INDEX } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import type { StoredItem } from '../table/table.ts';
import { addSeconds, toInstant } from '../time.ts';
import { foldEmailPart } from './email-rules.ts';
import { END_USER_LIST, type EndUser, toEndUser, WHOLE_LIST } from './end-users.ts';

/** Limits a list of an account's end-users; absent fields do not limit it. */
export interface EndUserFilter {
  /** True for blocked end-users, false for all others. */
  blocked?: boolean | undefined;
  /** Part of the address, ignoring case. */
  email?: string | undefined;
}

/** An end-user in the index. */
const IndexEntry = z.object({
  PK: z.string(),
  SK: z.string(),
  GSI1SK: z.string(),
  blockedAt: z.optional(z.string()),
});
type IndexEntry = z.infer<typeof IndexEntry>;

type EndUserCounts = { blocked: number; active: number };

const matchingOf = ({ blocked, active }: EndUserCounts, isBlocked: boolean | undefined): number => {
  if (isBlocked === undefined) return blocked + active;
  return isBlocked ? blocked : active;
};

const emailOf = (sort: string): string => sort.slice(endUserKey('', '').SK.length);

/**
 * Access pattern 41: a page of an account's end-users, newest first. Reads an index up to the page's end, passing over what was
 * counted before unless the address decides, then the page's end-users by key: two sequential calls for an early page.
 * `hasMore` is exact. The index is eventually consistent.
 */
export const listEndUsers = async (
  accountId: string,
  { blocked, email }: EndUserFilter,
  page: PageRequest,
  now: Date,
): Promise<Page<EndUser>> => {
  const part = email === undefined ? undefined : foldEmailPart(email);
  const view: ListView<IndexEntry, EndUserCounts> = {
    oldest: OLDEST,
    matches: ({ SK, blockedAt }) =>
      (blocked === undefined || (blockedAt !== undefined) === blocked) &&
      (part === undefined || emailOf(SK).includes(part)),
    // One call suffices when half of the entries match.
    ...((blocked !== undefined || part !== undefined) && { entriesPerMatch: 2 }),
    ...(part === undefined && { matching: (counts) => matchingOf(counts, blocked) }),
  };
  const wanted = page.pageSize + 1;
  const wants = { skip: (page.page - 1) * page.pageSize, wanted };
  const found: IndexEntry[] = [];
  for await (const entry of matchingEntries(endUserList(accountId, now), view, wants, now)) {
    found.push(entry);
    if (found.length === wanted) break;
  }
  const items = await batchGet(found.slice(0, page.pageSize).map(({ PK, SK }) => ({ PK, SK })));
  const endUsers = items
    .filter((item): item is StoredItem => item !== undefined)
    .map(toEndUser)
    .filter(({ blockedAt }) => blocked === undefined || (blockedAt !== undefined) === blocked);
  return pageOf(endUsers, page, found.length === wanted);
};

/** Positions lie between these: they are instants. */
const [OLDEST, NEWEST] = ['0', '~'];

const endUserList = (accountId: string, now: Date): CountedList<IndexEntry, EndUserCounts> => {
  const settledUntil = addSeconds(toInstant(now), -VISIBLE_AFTER_SECONDS);
  return {
    accountId,
    name: END_USER_LIST,
    index: LISTING_INDEX,
    partition: endUserListingPartition(accountId),
    bottom: OLDEST,
    top: NEWEST,
    toEntry: (item) => IndexEntry.parse(item),
    positionOf: ({ GSI1SK }) => GSI1SK,
    isSettled: ({ GSI1SK }) => GSI1SK < settledUntil,
    count: (entries) => {
      const blocked = entries.filter(({ blockedAt }) => blockedAt !== undefined).length;
      return { blocked, active: entries.length - blocked };
    },
    kind: END_USER_LIST,
    partOf: () => WHOLE_LIST,
  };
};
