import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { itemsNaming } from './support/aws.ts';
import { type AnyRecord, type Caller, newCaller, settled, sharedService } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { expectUnbrokenChain, history } from './support/ledger.ts';
import {
  bulkRemove,
  busy,
  endBusy,
  endUserOf,
  failed,
  type ListPage,
  remove,
  succeeded,
  uniqueEmail,
} from './support/resources.ts';

const UNKNOWN = 'img_01ARZ3NDEKTSV4RRFFQ69G5FAV';
const UNKNOWN_VIDEO = 'vid_01ARZ3NDEKTSV4RRFFQ69G5FAV';

let caller: Caller;
let other: Caller;
beforeAll(async () => {
  const service = await sharedService();
  [caller, other] = await Promise.all([newCaller(service), newCaller(service)]);
});

const pathOf = (requestId: string) => `/v1/generations/${requestId}`;
const removeOne = (requestId: string) => remove(caller, pathOf(requestId));

/** Expects that no route, list or file URL returns anything of deleted requests. */
const expectGone = async (records: AnyRecord[]): Promise<void> => {
  const ids = records.map(({ requestId }) => requestId);
  const emails = [...new Set(records.map(({ endUserEmail = '' }) => encodeURIComponent(endUserEmail)))];
  for (const query of ['', '&status=succeeded', ...emails.map((email) => `&endUserEmail=${email}`)]) {
    const { body } = await caller.get<ListPage<AnyRecord>>(`/v1/generations?pageSize=50${query}`);
    expect(body.items.filter(({ requestId }) => ids.includes(requestId))).toEqual([]);
  }
  for (const { requestId, images = [] } of records) {
    expect(refusal(await caller.get(pathOf(requestId)))).toEqual([404, 'not_found']);
    for (const { url } of images) if (url !== undefined) expect((await fetchFile(url)).status).toBe(403);
  }
};

// Every item of a request and every failure is tested in test/unit/core/deletion.
describe('Deleting one request', () => {
  test("removes it with its files and counts them, and keeps its ledger entries and its end-user's counters", async () => {
    const email = uniqueEmail();
    const [paid, refunded] = await Promise.all([
      succeeded(caller, { endUserEmail: email, model: 'xSD4.5', size: '2K', n: 2 }),
      failed(caller, { endUserEmail: email }),
    ]);
    for (const { url } of paid.images ?? []) expect((await fetchFile(url)).status).toBe(200);
    const before = { entries: await history(caller), endUser: await endUserOf(caller, email) };

    const answers = await Promise.all([paid, refunded].map(({ requestId }) => removeOne(requestId)));

    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, { requestId: paid.requestId, deleted: true, removedObjects: 2 }],
      [200, { requestId: refunded.requestId, deleted: true, removedObjects: 0 }],
    ]);
    await expectGone([paid, refunded]);
    expect({ entries: await history(caller), endUser: await endUserOf(caller, email) }).toEqual(before);
    await expectUnbrokenChain(caller);
    const left = await itemsNaming(caller.service, refunded.requestId);
    expect(left.filter((item) => !/LEDGER#|DELETED#/.test(item))).toEqual([]);
  });

  test('works once; after that it is 404', async () => {
    const { requestId } = await failed(caller);

    const answers = await Promise.all(Array.from({ length: 5 }, () => removeOne(requestId)));

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404]);
    expect(refusal(await removeOne(requestId))).toEqual([404, 'not_found']);
  });

  test('is refused with 409 while it is processing, without effect', async () => {
    const { requestId } = await busy(caller);

    expect(refusal(await removeOne(requestId))).toEqual([409, 'conflict']);

    await endBusy(caller, requestId);
    expect((await settled(caller, requestId)).status).toBe('failed');
    expect((await removeOne(requestId)).status).toBe(200);
  });
});

describe('Deleting several requests', () => {
  test('reports the outcome of each', async () => {
    const [made, refused, working, others] = await Promise.all([
      succeeded(caller),
      failed(caller),
      busy(caller),
      failed(other),
    ]);
    const missing = [UNKNOWN, UNKNOWN_VIDEO, 'latest', '', others.requestId, '__proto__'];
    const distinct = [made.requestId, ...missing, working.requestId, refused.requestId];
    const ids = [...distinct, made.requestId, UNKNOWN];

    const { status, body } = await bulkRemove(caller, ids);

    expect(status).toBe(200);
    expect(body).toEqual({
      requested: distinct.length,
      deleted: 2,
      removedObjects: 1,
      conflicts: [working.requestId],
      notFound: missing,
    });
    await expectGone([made, refused]);
    expect((await other.get(pathOf(others.requestId))).status).toBe(200);
    await endBusy(caller, working.requestId);
  });

  test('by concurrent calls counts each request once in total', async () => {
    const records = await Promise.all([
      ...Array.from({ length: 3 }, () => failed(caller)),
      ...Array.from({ length: 2 }, () => succeeded(caller)),
    ]);
    const ids = records.map(({ requestId }) => requestId);

    const answers = await Promise.all([
      ...Array.from({ length: 3 }, () => bulkRemove(caller, ids)),
      bulkRemove(caller, ids.toReversed()),
    ]);

    const total = (count: (body: (typeof answers)[number]['body']) => number) =>
      answers.reduce((sum, { body }) => sum + count(body), 0);
    expect(total(({ deleted }) => deleted)).toBe(5);
    expect(total(({ removedObjects }) => removedObjects)).toBe(2);
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body).toMatchObject({ requested: 5, conflicts: [] });
      expect(body.deleted + body.notFound.length).toBe(5);
    }
    await expectGone(records);
    await expectUnbrokenChain(caller);
  });
});
