import * as z from 'zod/mini';
import { batchGet } from '../table/batches.ts';
import { endUserKey, endUserListingPartition } from '../table/keys.ts';
import { listingQuery } from '../table/listings.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { FILTERED_FIRST_LIMIT, queryAll } from '../table/queries.ts';
import type { StoredItem } from '../table/table.ts';
import { type EndUser, toEndUser } from './end-users.ts';

/** Which end-users of an account are wanted. */
export interface EndUserFilter {
  /** True for the blocked ones, false for the active ones. */
  blocked?: boolean | undefined;
  /** Part of the address, in any case. */
  email?: string | undefined;
}

/** What the index holds of an end-user. */
const IndexEntry = z.object({ PK: z.string(), SK: z.string(), blockedAt: z.optional(z.string()) });

const emailOf = (sort: string): string => sort.slice(endUserKey('', '').SK.length);

/**
 * Access pattern 12: a page of an account's end-users, newest first. An index of keys is read up to the
 * page's end, then the end-users of the page by key: two sequential calls, one more for every further 1 MB
 * of keys. `hasMore` is exact. The index follows within a fraction of a second.
 */
export const listEndUsers = async (
  accountId: string,
  { blocked, email }: EndUserFilter,
  page: PageRequest,
): Promise<Page<EndUser>> => {
  const skipped = (page.page - 1) * page.pageSize;
  const end = skipped + page.pageSize;
  const part = email?.toLowerCase();
  const found: z.infer<typeof IndexEntry>[] = [];
  const query = { ...listingQuery(endUserListingPartition(accountId)), ScanIndexForward: false };
  const filtered = blocked !== undefined || part !== undefined;
  // A filter that half of them pass is met by one call: a second one takes a whole 1 MB.
  const expected = filtered ? Math.max(2 * (end + 1), FILTERED_FIRST_LIMIT) : end + 1;
  for await (const item of queryAll(query, expected)) {
    const entry = IndexEntry.parse(item);
    if (blocked !== undefined && (entry.blockedAt !== undefined) !== blocked) continue;
    if (part !== undefined && !emailOf(entry.SK).includes(part)) continue;
    found.push(entry);
    if (found.length > end) break;
  }
  const items = await batchGet(found.slice(skipped, end).map(({ PK, SK }) => ({ PK, SK })));
  const endUsers = items
    .filter((item): item is StoredItem => item !== undefined)
    .map(toEndUser)
    .filter(({ blockedAt }) => blocked === undefined || (blockedAt !== undefined) === blocked);
  return pageOf(endUsers, page, found.length > end);
};
