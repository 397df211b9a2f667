import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { type AnyRecord, type Caller, newCaller, read, sharedService } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { failed, type ListPage, succeeded, withoutUrls } from './support/resources.ts';

const ADA = 'ada@example.com';
const BOB = 'bob@example.com';

let caller: Caller;
let other: Caller;
/** Newest first. */
let all: AnyRecord[];

const ids = (records: AnyRecord[]) => records.map(({ requestId }) => requestId);
const timeOf = ({ createdAt = '' }: AnyRecord) => Date.parse(createdAt);
const withStatus = (status: string) => all.filter((record) => record.status === status);

beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service)]);
  const made: AnyRecord[] = [];
  // Created one after the other, so their creation times differ.
  for (const make of [succeeded, failed, failed, succeeded, failed]) {
    made.push(await make(caller, { endUserEmail: ADA }), await make(caller, { endUserEmail: BOB }));
  }
  all = made.toReversed();
  await Promise.all([failed(other, { endUserEmail: ADA }), succeeded(other, { endUserEmail: ADA })]);
});

const list = async (query: Record<string, string | number> = {}): Promise<ListPage<AnyRecord>> => {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, body } = await caller.get<ListPage<AnyRecord>>(`/v1/generations?${text}`);
  expect(status).toBe(200);
  return body;
};

/** The ids of a list that fits on one page. */
const listed = async (query: Record<string, string | number> = {}): Promise<string[]> => {
  const { items, hasMore } = await list({ pageSize: 50, ...query });
  expect(hasMore).toBe(false);
  return ids(items);
};

describe('The list of generations', () => {
  test('has all requests of the caller, newest first, on pages of 20', async () => {
    const page = await list();

    expect(page).toEqual({ items: expect.any(Array), page: 1, pageSize: 20, hasMore: false });
    expect(ids(page.items)).toEqual(ids(all));
  });

  test('shows each record as a read does, with working URLs', async () => {
    const { items } = await list();

    const reads = await Promise.all(items.map(({ requestId }) => read(caller, requestId)));
    expect(items.map(withoutUrls)).toEqual(reads.map(withoutUrls));
    expect(items.map((item) => Object.keys(item).sort())).toEqual(
      reads.map((record) => Object.keys(record).sort()),
    );
    const urls = items.flatMap(({ images = [] }) => images.map(({ url }) => url));
    expect(urls).toHaveLength(withStatus('succeeded').length);
    for (const url of urls) expect((await fetchFile(url)).status).toBe(200);
  });

  test('has no requests of another account', async () => {
    const mine = new Set(ids(all));

    const { body } = await other.get<ListPage<AnyRecord>>('/v1/generations');

    expect(body.items).toHaveLength(2);
    expect(body.items.filter(({ requestId }) => mine.has(requestId))).toEqual([]);
  });

  test('is empty for a new account', async () => {
    const { body } = await (await newCaller(caller.service, 0)).get('/v1/generations');

    expect(body).toEqual({ items: [], page: 1, pageSize: 20, hasMore: false });
  });
});

describe('A filter', () => {
  test.each([
    ['by end-user', { endUserEmail: ADA }, () => all.filter(({ endUserEmail }) => endUserEmail === ADA)],
    [
      'by end-user, in any case',
      { endUserEmail: ' Bob@Example.COM ' },
      () => all.filter(({ endUserEmail }) => endUserEmail === BOB),
    ],
    ['by status succeeded', { status: 'succeeded' }, () => withStatus('succeeded')],
    ['by status queued', { status: 'queued' }, () => []],
    [
      'by end-user and status',
      { endUserEmail: BOB, status: 'failed' },
      () => withStatus('failed').filter(({ endUserEmail }) => endUserEmail === BOB),
    ],
  ])('%s finds exactly the matching requests', async (_what, query, expected) => {
    expect(await listed(query as Record<string, string>)).toEqual(ids(expected()));
  });

  test('by createdAfter finds strictly newer requests', async () => {
    for (const { createdAt = '' } of all) {
      expect(await listed({ createdAfter: createdAt })).toEqual(
        ids(all.filter((record) => timeOf(record) > Date.parse(createdAt))),
      );
    }
  });

  test('can be combined with all others', async () => {
    const oldest = all.at(-1) as AnyRecord;

    for (const [endUserEmail, status] of [ADA, BOB].flatMap((email) =>
      ['succeeded', 'failed'].map((status) => [email, status] as const),
    )) {
      const expected = withStatus(status)
        .filter((record) => record.endUserEmail === endUserEmail)
        .filter((record) => timeOf(record) > timeOf(oldest));
      const query = { endUserEmail, status, createdAfter: oldest.createdAt ?? '' };
      expect(await listed(query)).toEqual(ids(expected));
    }
  });
});

describe('createdAfter', () => {
  /** A record in the middle of the list, and the newer ones. */
  const middle = () => all[4] as AnyRecord;
  const newer = () => ids(all.slice(0, 4));
  const orSame = () => ids(all.slice(0, 5));
  const isoOf = (time: number) => new Date(time).toISOString();
  const shifted = (time: number, hours: number, offset: string) =>
    isoOf(time + hours * 3_600_000).replace('Z', offset);

  // Every form of an instant is tested in test/unit/core/time.test.ts, the bounds in request-lists.test.ts.
  test.each<[string, (time: number) => string, () => string[]]>([
    ['an offset to the east', (time) => shifted(time, 2, '+02:00'), newer],
    ['an offset to the west', (time) => shifted(time - 1, -5.5, '-05:30'), orSame],
    ['a fraction of the millisecond before', (time) => isoOf(time - 1).replace('Z', '999Z'), orSame],
  ])('of %s is exact', async (_what, at, expected) => {
    expect(await listed({ createdAfter: at(timeOf(middle())) })).toEqual(expected());
  });

  test('without a fraction means the start of the second', async () => {
    const second = Math.floor(timeOf(middle()) / 1000) * 1000;
    const createdAfter = isoOf(second).replace('.000Z', 'Z');

    expect(await listed({ createdAfter })).toEqual(ids(all.filter((record) => timeOf(record) > second)));
  });
});

describe('Pages', () => {
  // Every size and place is tested in test/unit/core/requests/request-lists.test.ts.
  test.each([1, 4, 50])('of %d have no gaps and no repeats', async (pageSize) => {
    const pages: ListPage<AnyRecord>[] = [];
    for (let page = 1; page <= Math.ceil(10 / pageSize) + 1; page++)
      pages.push(await list({ page, pageSize }));

    expect(pages.flatMap(({ items }) => ids(items))).toEqual(ids(all));
    pages.forEach(({ hasMore, page, items, ...rest }, index) => {
      expect({ ...rest, page }).toEqual({ page: index + 1, pageSize });
      expect(hasMore).toBe(page * pageSize < 10);
      expect(items.length).toBe(Math.max(0, Math.min(pageSize, 10 - index * pageSize)));
    });
  });

  test.each([2, 1_000_000])('past the end are empty: page %d', async (page) => {
    expect(await list({ page })).toEqual({ items: [], page, pageSize: 20, hasMore: false });
  });
});

// The rule of each parameter is tested in test/unit/functions.
test.each([
  ['createdAfter=2026-01-01T00:00:00+02:00', ['createdAfter']], // An unencoded plus sign is a space.
  ['__proto__=1&constructor=2&status=failed&status=succeeded', ['__proto__', 'constructor', 'status']],
  [
    'page=0&pageSize=51&status=x&endUserEmail=x&createdAfter=x&sort=asc',
    [...['createdAfter', 'endUserEmail', 'page', 'pageSize', 'sort', 'status']],
  ],
])('A list with %s is refused, and every wrong parameter is named', async (query, fields) => {
  expect(wrongFields(await caller.get(`/v1/generations?${query}`))).toEqual(fields);
});
