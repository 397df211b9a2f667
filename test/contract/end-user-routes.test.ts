import { describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import { accepted, aGeneration, anUndrawnGeneration, newCaller, settled } from './support/client.ts';
import {
  type EndUser,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
  remove,
  succeeded,
  uniqueEmail,
} from './support/resources.ts';
import { useCaller } from './support/use-caller.ts';

interface BlockState {
  email: string;
  blockedAt: string | null;
}

const caller = useCaller();

const block = (email: string, by = caller) => by.post<BlockState>(`${endUserPath(email)}/block`, undefined);
const unblock = (email: string) => caller.post<BlockState>(`${endUserPath(email)}/unblock`, undefined);
const create = (endUserEmail: string, more: Record<string, unknown> = {}, by = caller) =>
  by.post('/v1/generations', anUndrawnGeneration({ endUserEmail, ...more }));

describe('An end-user', () => {
  test('exists from the first accepted creation on, and counts each, with spending net of refunds', async () => {
    const email = uniqueEmail();
    expect((await create(email, { size: '1x1' })).status).toBe(400);
    expect(await endUserOf(caller, email)).toBeUndefined();

    const first = await succeeded(caller, { endUserEmail: email });
    await failed(caller, { endUserEmail: email.toUpperCase(), model: 'xSD4.5' });
    const broken = { model: 'xSD4.5', n: 2, size: '2K', prompt: `[broken=1] ${email}` };
    await succeeded(caller, { endUserEmail: email, ...broken });
    const last = await failed(caller, { endUserEmail: ` ${email} ` });

    expect(last.endUserEmail).toBe(email);
    expect(await endUserOf(caller, email)).toEqual({
      ...{ email, createdAt: first.createdAt, lastActiveAt: last.createdAt },
      ...{ totalRequests: 4, totalXTokensSpent: 5, blockedAt: null },
    });
  });

  test('belongs to one account: the same address in another is another end-user', async () => {
    const email = uniqueEmail();
    const other = await newCaller(caller.service);
    await create(email);
    expect(refusal(await block(email, other))).toEqual([404, 'not_found']);
    await create(email, {}, other);

    await block(email);

    expect((await create(email)).status).toBe(403);
    expect((await create(email, {}, other)).status).toBe(202);
    expect((await endUserOf(other, email))?.blockedAt).toBeNull();
  });
});

describe('Blocking', () => {
  test('refuses creations with 403 until the end-user is unblocked', async () => {
    const email = uniqueEmail();
    await create(email);
    const before = Date.now();

    const { status, body } = await block(email);

    expect(status).toBe(200);
    expect(body).toEqual({ email, blockedAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/) });
    expect(Date.parse(body.blockedAt ?? '')).toBeGreaterThanOrEqual(before);
    expect(refusal(await create(email))).toEqual([403, 'forbidden']);
    expect(await endUserOf(caller, email)).toMatchObject({ blockedAt: body.blockedAt, totalRequests: 1 });

    expect((await unblock(email)).body).toEqual({ email, blockedAt: null });
    expect((await create(email)).status).toBe(202);
  });

  test('does not stop unfinished requests', async () => {
    const email = uniqueEmail();
    const { requestId } = await accepted(
      caller,
      aGeneration({ endUserEmail: email, size: '512x512', prompt: `[delay=1] ${email}` }),
    );

    await block(email);

    expect((await settled(caller, requestId)).status).toBe('succeeded');
    expect(await endUserOf(caller, email)).toMatchObject({ totalRequests: 1, totalXTokensSpent: 1 });
  });
});

// Wrong, unknown and encoded addresses of each route are tested in test/unit/functions.
describe('An address in a path', () => {
  test.each([
    ['with a plus sign unencoded', (mark: string) => `ada+${mark}@example.com`, (email: string) => email],
    ['with other scripts', (mark: string) => `用户${mark}@例え.テスト`, encodeURIComponent],
    ['with a slash and a per cent sign', (mark: string) => `a/b%25${mark}@example.com`, encodeURIComponent],
  ])('%s is understood by every route', async (_what, emailWith, encode) => {
    const email = emailWith(Math.random().toString(36).slice(2));
    await failed(caller, { endUserEmail: email });
    const path = `/v1/end-users/${encode(email)}`;

    for (const act of [
      () => caller.post(`${path}/block`, undefined),
      () => caller.post(`${path}/unblock`, undefined),
      () => remove(caller, path),
    ])
      expect(await act()).toMatchObject({ status: 200, body: { email } });
  });

  test('that is invalid is refused by name, and one of no end-user is not found', async () => {
    for (const invalid of ['nobody', '%00@example.com', '%E0%A4%A', '%20'])
      expect(wrongFields(await caller.post(`/v1/end-users/${invalid}/block`, undefined))).toEqual(['email']);
    expect(refusal(await block('ada+nobody@example.com'))).toEqual([404, 'not_found']);
  });
});

describe('The list of end-users', () => {
  // Each filter and all pages are tested in test/unit/core/end-users/end-user-lists.test.ts.
  test('has those of the account, newest first, by filters and page by page', async () => {
    const own = await newCaller(caller.service);
    const oldestFirst = ['ada@example.com', 'zoë@bücher.example', 'mallory@ada.example'];
    for (const endUserEmail of oldestFirst) await create(endUserEmail, {}, own);
    await block('mallory@ada.example', own);
    // A second creation does not move an end-user up the list.
    await create('ada@example.com', {}, own);
    const list = async (query: Record<string, string> = {}) => {
      const page = await own.get<ListPage<EndUser>>(`/v1/end-users?${new URLSearchParams(query)}`);
      const { items, ...rest } = page.body;
      return { ...rest, emails: items.map(({ email }) => email) };
    };

    const all = { page: 1, pageSize: 20, hasMore: false, emails: oldestFirst.toReversed() };
    expect(await list()).toEqual(all);
    expect((await list({ email: 'BÜCHER' })).emails).toEqual(['zoë@bücher.example']);
    expect((await list({ email: 'ada', blocked: 'true' })).emails).toEqual(['mallory@ada.example']);
    expect((await list({ blocked: 'false' })).emails).toEqual(['zoë@bücher.example', 'ada@example.com']);
    expect(await list({ pageSize: '2' })).toMatchObject({ hasMore: true, emails: all.emails.slice(0, 2) });
    expect(await list({ pageSize: '2', page: '2' })).toMatchObject({
      ...{ hasMore: false, emails: ['ada@example.com'] },
    });
  });

  test('with wrong parameters is refused, and each is named', async () => {
    const query = `page=0&pageSize=51&blocked=x&sort=asc&email=${'x'.repeat(255)}&Email=a`;

    expect(wrongFields(await caller.get(`/v1/end-users?${query}`))).toEqual([
      ...['Email', 'blocked', 'email', 'page', 'pageSize', 'sort'],
    ]);
  });
});
