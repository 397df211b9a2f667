import { describe, expect, test } from '@jest/globals';
import { refusal, wrongFields } from './support/answers.ts';
import { accepted, aGeneration, anUndrawnGeneration, newCaller, read, settled } from './support/client.ts';
import {
  type EndUser,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
  processing,
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
const unblock = (email: string, by = caller) =>
  by.post<BlockState>(`${endUserPath(email)}/unblock`, undefined);
const create = (endUserEmail: string, more: Record<string, unknown> = {}, by = caller) =>
  by.post('/v1/generations', anUndrawnGeneration({ endUserEmail, ...more }));

const list = async (query = '', by = caller): Promise<ListPage<EndUser>> => {
  const { status, body } = await by.get<ListPage<EndUser>>(`/v1/end-users?${query}`);
  expect(status).toBe(200);
  return body;
};
const emails = ({ items }: ListPage<EndUser>) => items.map(({ email }) => email);

describe('An end-user', () => {
  test('exists from the first accepted creation on', async () => {
    const email = uniqueEmail();
    expect(await endUserOf(caller, email)).toBeUndefined();

    const { createdAt, requestId } = await accepted(
      caller,
      anUndrawnGeneration({ endUserEmail: email, n: 1 }),
    );

    expect(await endUserOf(caller, email)).toEqual({
      ...{ email, createdAt, lastActiveAt: createdAt, totalRequests: 1, blockedAt: null },
      totalXTokensSpent: expect.any(Number),
    });
    await settled(caller, requestId);
  });

  test('counts each accepted creation, with spending net of refunds', async () => {
    const email = uniqueEmail();
    const first = await succeeded(caller, { endUserEmail: email });
    await failed(caller, { endUserEmail: email, model: 'xSD4.5' });
    await succeeded(caller, {
      endUserEmail: email,
      model: 'xSD4.5',
      n: 2,
      size: '2K',
      prompt: `[broken=1] ${email}`,
    });
    expect((await create(email, { size: '1x1' })).status).toBe(400);
    const last = await failed(caller, { endUserEmail: email });

    expect(await endUserOf(caller, email)).toEqual({
      email,
      createdAt: first.createdAt,
      lastActiveAt: last.createdAt,
      totalRequests: 4,
      totalXTokensSpent: 5,
      blockedAt: null,
    });
  });

  test('is charged at creation, and refunded when the request fails', async () => {
    const email = uniqueEmail();
    const { requestId } = await processing(caller, 4, { endUserEmail: email, model: 'xSD4.5' });
    expect((await endUserOf(caller, email))?.totalXTokensSpent).toBe(4);

    await settled(caller, requestId);

    expect((await endUserOf(caller, email))?.totalXTokensSpent).toBe(0);
  });

  test('is the same for every spelling of the address', async () => {
    const email = uniqueEmail();
    for (const spelling of [email, ` ${email} `, email.toUpperCase()]) {
      expect((await create(spelling)).body).toMatchObject({ endUserEmail: email });
    }

    expect((await endUserOf(caller, email))?.totalRequests).toBe(3);
    const { body } = await caller.post(`${endUserPath(` ${email.toUpperCase()} `)}/block`, undefined);
    expect(body).toMatchObject({ email });
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
    expect(emails(await list('', other))).toEqual([email]);
    expect((await list('', other)).items[0]?.blockedAt).toBeNull();
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
    expect(await endUserOf(caller, email)).toMatchObject({ blockedAt: body.blockedAt, totalRequests: 1 });
    expect(refusal(await create(email))).toEqual([403, 'forbidden']);
    expect(await endUserOf(caller, email)).toMatchObject({ totalRequests: 1 });

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
    ['with a plus sign, encoded', (mark: string) => `ada+${mark}@example.com`, encodeURIComponent],
    ['with a plus sign unencoded', (mark: string) => `ada+${mark}@example.com`, (email: string) => email],
    ['with letters beyond ASCII', (mark: string) => `zoë.${mark}@bücher.example`, encodeURIComponent],
    ['with other scripts', (mark: string) => `用户${mark}@例え.テスト`, encodeURIComponent],
    ['with a per cent sign', (mark: string) => `50%25${mark}@example.com`, encodeURIComponent],
    ['with a slash', (mark: string) => `a/b${mark}@example.com`, encodeURIComponent],
    ['in capitals', (mark: string) => `ada.${mark}@example.com`, (email: string) => email.toUpperCase()],
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

test('A request shows the normalized address', async () => {
  const email = uniqueEmail('Zoë+Tag');
  const { requestId } = await failed(caller, { endUserEmail: email });

  expect(await read(caller, requestId)).toMatchObject({ endUserEmail: email.toLowerCase() });
});
