import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import {
  type AnyRecord,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  sharedService,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { balance, expectUnbrokenChain, history } from './support/ledger.ts';
import {
  busy,
  endBusy,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
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
  test('removes and counts their requests and files, keeps their debits, and leaves their address nowhere', async () => {
    const email = uniqueEmail();
    const theirs = await Promise.all([
      succeeded(caller, { endUserEmail: email }),
      succeeded(caller, { endUserEmail: email, model: 'xSD4.5', size: '2K', n: 2 }),
      failed(caller, { endUserEmail: email }),
    ]);
    // An address that starts with the same text.
    const bystander = await succeeded(caller, { endUserEmail: `${email}.au` });
    await caller.post(`${endUserPath(email)}/block`, undefined);
    const before = { balance: await balance(caller), entries: await history(caller) };

    const { status, body } = await remove(caller, endUserPath(email));

    expect(status).toBe(200);
    expect(body).toEqual({ email, deleted: true, removedRequests: 3, removedObjects: 3 });
    for (const { requestId, images = [] } of theirs) {
      expect(refusal(await caller.get(`/v1/generations/${requestId}`))).toEqual([404, 'not_found']);
      for (const { url } of images) expect((await fetchFile(url)).status).toBe(403);
    }
    expect((await leftOf(email)).filter((item) => !item.includes(`${email}.au`))).toEqual([]);
    const query = `endUserEmail=${encodeURIComponent(email)}`;
    expect((await caller.get<ListPage<AnyRecord>>(`/v1/generations?${query}`)).body.items).toEqual([]);
    expect((await fetchFile(bystander.images?.[0]?.url)).status).toBe(200);
    expect({ balance: await balance(caller), entries: await history(caller) }).toEqual(before);
    await expectUnbrokenChain(caller);
    // The next creation makes a new end-user, who is not blocked.
    expect((await create(email)).status).toBe(202);
    expect(await endUserOf(caller, email)).toMatchObject({ totalRequests: 1, blockedAt: null });
  });

  test('by concurrent calls succeeds once and counts each request at most once', async () => {
    const email = uniqueEmail();
    await Promise.all(Array.from({ length: 3 }, () => failed(caller, { endUserEmail: email })));

    const answers = await Promise.all(Array.from({ length: 4 }, () => remove(caller, endUserPath(email))));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    const counted = answers.reduce((sum, { body }) => sum + (body.removedRequests ?? 0), 0);
    expect(counted).toBeLessThanOrEqual(3);
    expect(await endUserOf(caller, email)).toBeUndefined();
    expect(await leftOf(email)).toEqual([]);
  });

  test('is refused with 409 while a request is processing, without effect', async () => {
    const email = uniqueEmail();
    const done = await succeeded(caller, { endUserEmail: email });
    const { requestId } = await busy(caller, { endUserEmail: email });
    const before = await endUserOf(caller, email);

    expect(refusal(await remove(caller, endUserPath(email)))).toEqual([409, 'conflict']);

    expect(await endUserOf(caller, email)).toEqual(before);
    expect((await fetchFile(done.images?.[0]?.url)).status).toBe(200);
    expect((await create(email)).status).toBe(202);
    await endBusy(caller, requestId);
  });

  test('works after blocking, waiting and repeating the call', async () => {
    const email = uniqueEmail();
    const { requestId } = await busy(caller, { endUserEmail: email });
    await caller.post(`${endUserPath(email)}/block`, undefined);
    expect(refusal(await remove(caller, endUserPath(email)))).toEqual([409, 'conflict']);
    await endBusy(caller, requestId);

    expect((await remove(caller, endUserPath(email))).body).toMatchObject({ email, removedRequests: 1 });
  });
});
