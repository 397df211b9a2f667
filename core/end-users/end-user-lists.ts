import * as z from 'zod/mini';
import { batchGet } from '../table/batches.ts';
import { endUserKey, endUserListingPartition } from '../table/keys.ts';
import { listingQuery } from '../table/listings.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { FILTERED_FIRST_LIMIT, queryAll } from '../table/queries.ts';
import type { StoredItem } from '../table/table.ts';
import { foldEmailPart } from './email-rules.ts';
import { type EndUser, toEndUser } from './end-users.ts';

/** Limits a list of an account's end-users; absent fields do not limit it. */
export interface EndUserFilter {
  /** True for blocked end-users, false for all others. */
  blocked?: boolean | undefined;
  /** Part of the address, ignoring case. */
  email?: string | undefined;
}

/** An end-user in the index. */
const IndexEntry = z.object({ PK: z.string(), SK: z.string(), blockedAt: z.optional(z.string()) });

const emailOf = (sort: string): string => sort.slice(endUserKey('', '').SK.length);

/**
 * Access pattern 41: a page of an account's end-users, newest first. Reads an index up to the page's end,
 * then the page's end-users by key: two sequential calls, one more for every further 1 MB of index. `hasMore`
 * is exact. The index is eventually consistent.
 */
export const listEndUsers = async (
  accountId: string,
  { blocked, email }: EndUserFilter,
  page: PageRequest,
): Promise<Page<EndUser>> => {
  const skipped = (page.page - 1) * page.pageSize;
  const end = skipped + page.pageSize;
  const part = email === undefined ? undefined : foldEmailPart(email);
  const found: z.infer<typeof IndexEntry>[] = [];
  const query = { ...listingQuery(endUserListingPartition(accountId)), ScanIndexForward: false };
  const filtered = blocked !== undefined || part !== undefined;
  // One call suffices when half of the entries match; a second call reads a whole 1 MB.
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
