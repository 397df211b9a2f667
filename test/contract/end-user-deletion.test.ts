import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import {
  type AnyRecord,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  settled,
  sharedService,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { balance, entriesOf, expectUnbrokenChain, history } from './support/ledger.ts';
import {
  bulkRemove,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
  processing,
  remove,
  succeeded,
  uniqueEmail,
} from './support/resources.ts';

let caller: Caller;
/** The table's items about an address, except its removal, which is closed once the index has caught up. */
const leftOf = async (email: string): Promise<string[]> =>
  (await itemsNaming(caller.service, email)).filter((item) => !item.includes(`REMOVAL#${email}#`));
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const create = (endUserEmail: string) =>
  caller.post<AnyRecord>('/v1/generations', anUndrawnGeneration({ endUserEmail }));

describe('Deleting an end-user', () => {
  test('removes and counts their requests and files', async () => {
    const email = uniqueEmail();
    const theirs = await Promise.all([
      succeeded(caller, { endUserEmail: email }),
      succeeded(caller, { endUserEmail: email, model: 'xSD4.5', size: '2K', n: 2 }),
      failed(caller, { endUserEmail: email }),
    ]);
    const bystander = await succeeded(caller, { endUserEmail: uniqueEmail() });

    const { status, body } = await remove(caller, endUserPath(email));

    expect(status).toBe(200);
    expect(body).toEqual({ email, deleted: true, removedRequests: 3, removedObjects: 3 });
    for (const { requestId, images = [] } of theirs) {
      expect(refusal(await caller.get(`/v1/generations/${requestId}`))).toEqual([404, 'not_found']);
      for (const { url } of images) expect((await fetchFile(url)).status).toBe(403);
    }
    expect(await endUserOf(caller, email)).toBeUndefined();
    const query = `endUserEmail=${encodeURIComponent(email)}`;
    expect((await caller.get<ListPage<AnyRecord>>(`/v1/generations?${query}`)).body.items).toEqual([]);
    expect((await caller.get(`/v1/generations/${bystander.requestId}`)).status).toBe(200);
    expect((await fetchFile(bystander.images?.[0]?.url)).status).toBe(200);
  });

  test('leaves their address nowhere in the table but in the removal, until it is closed', async () => {
    const email = uniqueEmail();
    await failed(caller, { endUserEmail: email });

    await remove(caller, endUserPath(email));

    expect(await leftOf(email)).toEqual([]);
  });

  test('keeps their debits in the ledger', async () => {
    const email = uniqueEmail();
    const [paid] = await Promise.all([
      succeeded(caller, { endUserEmail: email }),
      failed(caller, { endUserEmail: email }),
    ]);
    const before = { balance: await balance(caller), entries: await history(caller) };

    await remove(caller, endUserPath(email));

    expect({ balance: await balance(caller), entries: await history(caller) }).toEqual(before);
    expect(await entriesOf(caller, paid.requestId)).toEqual([['generation', 1]]);
    await expectUnbrokenChain(caller);
  });

  test('works once; after that it is 404', async () => {
    const email = uniqueEmail();
    await failed(caller, { endUserEmail: email });
    await remove(caller, endUserPath(email));

    const answers = [
      await remove(caller, endUserPath(email)),
      await caller.post(`${endUserPath(email)}/block`, undefined),
      await caller.post(`${endUserPath(email)}/unblock`, undefined),
    ];

    expect(answers.map(refusal)).toEqual(Array(3).fill([404, 'not_found']));
  });

  test('by concurrent calls succeeds once and counts each request at most once', async () => {
    const email = uniqueEmail();
    await Promise.all(Array.from({ length: 6 }, () => failed(caller, { endUserEmail: email })));

    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(caller, endUserPath(email))));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const counted = answers.reduce((sum, { body }) => sum + (body.removedRequests ?? 0), 0);
    expect(counted).toBeLessThanOrEqual(6);
    expect(await endUserOf(caller, email)).toBeUndefined();
    expect(await leftOf(email)).toEqual([]);
  });

  test('does not count requests that were deleted before', async () => {
    const email = uniqueEmail();
    const [one, two] = await Promise.all([
      succeeded(caller, { endUserEmail: email }),
      failed(caller, { endUserEmail: email }),
    ]);
    expect((await bulkRemove(caller, [one.requestId, two.requestId])).body.deleted).toBe(2);

    expect((await remove(caller, endUserPath(email))).body).toEqual({
      ...{ email, deleted: true, removedRequests: 0, removedObjects: 0 },
    });
  });

  test('is refused with 409 while a request is processing, without effect', async () => {
    const email = uniqueEmail();
    const done = await succeeded(caller, { endUserEmail: email });
    const { requestId } = await processing(caller, 4, { endUserEmail: email });
    const before = await endUserOf(caller, email);

    expect(refusal(await remove(caller, endUserPath(email)))).toEqual([409, 'conflict']);

    expect(await endUserOf(caller, email)).toEqual(before);
    expect((await fetchFile(done.images?.[0]?.url)).status).toBe(200);
    expect((await create(email)).status).toBe(202);
    await settled(caller, requestId);
  });

  test('works after blocking, waiting and repeating the call', async () => {
    const email = uniqueEmail();
    const { requestId } = await processing(caller, 3, { endUserEmail: email });
    await caller.post(`${endUserPath(email)}/block`, undefined);
    expect(refusal(await remove(caller, endUserPath(email)))).toEqual([409, 'conflict']);
    await settled(caller, requestId);

    expect((await remove(caller, endUserPath(email))).body).toMatchObject({ email, removedRequests: 1 });
  });

  test('lets the next creation with the address make a new end-user, even if the old one was blocked', async () => {
    const email = uniqueEmail();
    await failed(caller, { endUserEmail: email });
    await succeeded(caller, { endUserEmail: email });
    await caller.post(`${endUserPath(email)}/block`, undefined);
    await remove(caller, endUserPath(email));

    const { requestId, createdAt } = await failed(caller, { endUserEmail: email });

    expect(await endUserOf(caller, email)).toEqual({
      ...{
        email,
        createdAt,
        lastActiveAt: createdAt,
        totalRequests: 1,
        totalXTokensSpent: 0,
        blockedAt: null,
      },
    });
    const query = `endUserEmail=${encodeURIComponent(email)}`;
    const { body } = await caller.get<ListPage<AnyRecord>>(`/v1/generations?${query}`);
    expect(body.items.map((item) => item.requestId)).toEqual([requestId]);
  });

  test("keeps another account's end-user with the same address", async () => {
    const email = uniqueEmail();
    const other = await newCaller(caller.service);
    const [, theirs] = await Promise.all([
      failed(caller, { endUserEmail: email }),
      succeeded(other, { endUserEmail: email }),
    ]);

    await remove(caller, endUserPath(email));

    expect(await endUserOf(other, email)).toMatchObject({ email, totalRequests: 1 });
    expect((await fetchFile(theirs.images?.[0]?.url)).status).toBe(200);
  });

  test('keeps an end-user whose address starts with the same text', async () => {
    const email = uniqueEmail();
    const longer = `${email}.au`;
    await Promise.all([failed(caller, { endUserEmail: email }), failed(caller, { endUserEmail: longer })]);

    expect((await remove(caller, endUserPath(email))).body.removedRequests).toBe(1);

    expect(await endUserOf(caller, longer)).toMatchObject({ totalRequests: 1 });
  });
});
