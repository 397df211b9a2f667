import * as z from 'zod/mini';
import { readable } from '../observability.ts';
import { endUserKey, endUserListingPartition } from '../table/keys.ts';
import { type Page, type PageRequest, pageOf } from '../table/pages.ts';
import { listingQuery, partitionQuery, queryAll, queryFrom, readItems } from '../table/table.ts';
import { foldEmailPart } from './email-rules.ts';
import { EndUser, toEndUser } from './end-users.ts';

/** Limits a list of an account's end-users; absent fields do not limit it. */
export interface EndUserFilter {
  /** True: only blocked end-users; false: only unblocked end-users. */
  blocked?: boolean | undefined;
  /** Part of the address, ignoring case. */
  email?: string | undefined;
}

/** An end-user in the index. */
const IndexEntry = z.object({ PK: z.string(), SK: z.string() });
type IndexEntry = z.infer<typeof IndexEntry>;

const emailOf = (sort: string): string => sort.slice(endUserKey('', '').SK.length);

/**
 * Access pattern 29: a page of an account's end-users, newest first. Skips the index entries before the page, and reads the
 * page's end-users by key: two sequential calls for an early page, three for a later one, and one more for each further 1 MB of
 * entries. `hasMore` is exact. The index is eventually consistent.
 */
export const listEndUsers = async (
  accountId: string,
  filter: EndUserFilter,
  page: PageRequest,
): Promise<Page<EndUser>> => {
  const { blocked } = filter;
  const wanted = page.pageSize + 1;
  const found: IndexEntry[] = [];
  for await (const entry of listedEndUsers(accountId, filter, (page.page - 1) * page.pageSize, wanted)) {
    found.push(entry);
    if (found.length === wanted) break;
  }
  const read = await readItems(found.slice(0, page.pageSize), toEndUser);
  const endUsers = read.filter(
    ({ blockedAt }) => blocked === undefined || (blockedAt !== undefined) === blocked,
  );
  return pageOf(endUsers, page, found.length === wanted);
};

const Address = z.pick(EndUser, { endUserId: true, email: true });

/** Access pattern 29: ids and addresses of an account's end-users, strongly consistent, read as they are consumed. Leaves out those that cannot be read. */
export const listEmailsOfEndUsers = async function* (
  accountId: string,
): AsyncGenerator<z.infer<typeof Address>> {
  const { PK, SK } = endUserKey(accountId, '');
  const query = { ...partitionQuery(PK, SK), ProjectionExpression: Object.keys(Address.shape).join() };
  for await (const item of queryAll(query)) {
    yield* readable(
      [item],
      (one) => Address.parse(one),
      ({ endUserId }) => `${accountId} ${endUserId}`,
    );
  }
};

/** The matching entries without the first `skip`, newest first, read as they are consumed; about `wanted` will be. */
const listedEndUsers = async function* (
  accountId: string,
  { blocked, email }: EndUserFilter,
  skip: number,
  wanted: number,
): AsyncGenerator<IndexEntry> {
  const part = email === undefined ? '' : foldEmailPart(email);
  const conditions = [
    ...(blocked === undefined ? [] : [`attribute_${blocked ? '' : 'not_'}exists(blockedAt)`]),
    ...(part === '' ? [] : ['contains(SK, :part)']),
  ];
  const isSparse = conditions.length > 0;
  const listing = listingQuery(endUserListingPartition(accountId));
  const query = {
    ...listing,
    ...(isSparse && { FilterExpression: conditions.join(' AND ') }),
    ExpressionAttributeValues: { ...listing.ExpressionAttributeValues, ...(part && { ':part': part }) },
    ScanIndexForward: false,
  };
  // The key begins with more than the address, where the table may find the part too: those entries are not counted but read.
  const counted = part === '' ? skip : 0;
  let left = skip - counted;
  for await (const item of queryFrom(query, { skip: counted, wanted: left + wanted, isSparse })) {
    const entry = IndexEntry.parse(item);
    if (!emailOf(entry.SK).includes(part)) continue;
    if (left > 0) left -= 1;
    else yield entry;
  }
};
