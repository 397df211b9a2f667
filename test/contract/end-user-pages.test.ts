import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { accepted, anUndrawnGeneration, type Caller, newCaller, sharedService } from './support/client.ts';
import { type EndUser, endUserPath, failed, type ListPage } from './support/resources.ts';

/** Oldest first. */
const EMAILS = [
  'ada@example.com',
  'ada+shop@example.com',
  'bob@example.com',
  'zoë@bücher.example',
  'eve_100%25@example.org',
  'mallory@ada.example',
];
const BLOCKED = ['bob@example.com', 'mallory@ada.example'];

let caller: Caller;
let newestFirst: string[];
beforeAll(async () => {
  const service = await sharedService();
  const [own, other] = await Promise.all([newCaller(service), newCaller(service)]);
  caller = own;
  for (const endUserEmail of EMAILS) await failed(caller, { endUserEmail });
  for (const email of BLOCKED) await caller.post(`${endUserPath(email)}/block`, undefined);
  // A second creation does not move an end-user up the list.
  await failed(caller, { endUserEmail: 'ada@example.com' });
  await accepted(other, anUndrawnGeneration({ endUserEmail: 'ada@other.example' }));
  newestFirst = EMAILS.toReversed();
});

const list = async (query: Record<string, string | number> = {}): Promise<ListPage<EndUser>> => {
  const text = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const { status, body } = await caller.get<ListPage<EndUser>>(`/v1/end-users?${text}`);
  expect(status).toBe(200);
  return body;
};
const emailsOf = async (query: Record<string, string | number>) =>
  (await list(query)).items.map(({ email }) => email);

describe('The list of end-users', () => {
  test('has all end-users of the account, newest first, on pages of 20', async () => {
    const page = await list();

    expect(page).toEqual({ items: expect.any(Array), page: 1, pageSize: 20, hasMore: false });
    expect(page.items.map(({ email }) => email)).toEqual(newestFirst);
    const times = page.items.map(({ createdAt }) => createdAt);
    expect(times.toSorted().reverse()).toEqual(times);
  });

  // Each filter and all pages are tested in test/unit/core/end-users/end-user-lists.test.ts.
  test.each<[Record<string, string>, () => string[]]>([
    [{ blocked: 'false' }, () => newestFirst.filter((email) => !BLOCKED.includes(email))],
    [{ email: 'BÜCHER' }, () => ['zoë@bücher.example']],
    [{ email: '%' }, () => ['eve_100%25@example.org']],
    [{ email: 'ada', blocked: 'true' }, () => ['mallory@ada.example']],
  ])('filtered by %j has exactly the matching end-users', async (query, expected) => {
    expect(await emailsOf(query)).toEqual(expected());
  });

  test('follows a block and an unblock', async () => {
    const email = 'ada+shop@example.com';
    const blockedOnes = () => emailsOf({ blocked: 'true', email });

    await caller.post(`${endUserPath(email)}/block`, undefined);
    expect(await blockedOnes()).toEqual([email]);
    await caller.post(`${endUserPath(email)}/unblock`, undefined);
    expect(await blockedOnes()).toEqual([]);
    expect(await emailsOf({ blocked: 'false', email })).toEqual([email]);
  });
});

describe('Pages of end-users', () => {
  test.each([1, 4])('of %d have no gaps, no repeats and an exact hasMore', async (pageSize) => {
    const found: string[] = [];
    for (let page = 1; page <= Math.ceil(6 / pageSize) + 1; page++) {
      const { items, hasMore, ...rest } = await list({ page, pageSize });
      found.push(...items.map(({ email }) => email));
      expect(rest).toEqual({ page, pageSize });
      expect(hasMore).toBe(page * pageSize < 6);
    }

    expect(found).toEqual(newestFirst);
  });

  test('past the end are empty', async () => {
    expect(await list({ page: 1_000_000 })).toEqual({
      ...{ items: [], page: 1_000_000, pageSize: 20, hasMore: false },
    });
  });
});

test('A list with wrong parameters is refused, and each is named', async () => {
  const query = `page=0&pageSize=51&blocked=x&sort=asc&email=${'x'.repeat(255)}&Email=a`;

  expect(wrongFields(await caller.get(`/v1/end-users?${query}`))).toEqual([
    ...['Email', 'blocked', 'email', 'page', 'pageSize', 'sort'],
  ]);
});
