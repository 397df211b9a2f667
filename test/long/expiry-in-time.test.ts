import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRecord, accepted, type Caller, eventually, read } from '../contract/support/client.ts';
import { fetchFile } from '../contract/support/files.ts';
import { entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import {
  bulkRemove,
  busy,
  type EndUser,
  endBusy,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
  remove,
  succeeded,
  uniqueEmail,
  withoutUrls,
} from '../contract/support/resources.ts';
import { useCaller } from '../contract/support/use-caller.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'];

const PURPOSES = ['deleted with its end-user', 'counted'] as const;
type Purpose = (typeof PURPOSES)[number];

const caller = useCaller(undefined, 'filtered');
/** A caller whose requests last. */
const lasting = useCaller();
/** Requests whose files expire, made at once: each by an end-user of its own, and another of the end-user to delete. */
const expiring = new Map<Purpose, { email: string; made: AnyRecord[] }>();
beforeAll(async () => {
  const make = async (purpose: Purpose) => {
    const email = uniqueEmail();
    const count = purpose === 'deleted with its end-user' ? 2 : 1;
    const made = Array.from({ length: count }, () => succeeded(caller, { endUserEmail: email }));
    expiring.set(purpose, { email, made: await Promise.all(made) });
  };
  await Promise.all(PURPOSES.map(make));
});

/** The request as a list shows it, if it does. */
const itemIn = async (
  caller: Caller,
  requestId: string,
  query: { status?: string; endUserEmail?: string },
): Promise<AnyRecord | undefined> => {
  const text = new URLSearchParams({ pageSize: '50', ...query });
  const { body } = await caller.get<ListPage<AnyRecord>>(`/v1/generations?${text}`);
  return body.items.find((item) => item.requestId === requestId);
};

/** A request's record and what each list shows of it, read while its status did not change. */
const snapshotOf = async (caller: Caller, requestId: string, endUserEmail: string) => {
  for (;;) {
    const before = await read(caller, requestId);
    const queries = STATUSES.flatMap((status) => [{ status }, { status, endUserEmail }]);
    const [plain, ...filtered] = await Promise.all([
      itemIn(caller, requestId, {}),
      ...queries.map((query) => itemIn(caller, requestId, query)),
    ]);
    const after = await read(caller, requestId);
    if (before.status !== after.status) continue;
    const holding = queries.filter((_query, index) => filtered[index]).map(({ status }) => status);
    return { record: after, plain, found: filtered.filter((item) => item !== undefined), holding };
  }
};

const expectAgreement = ({ record, plain, found, holding }: Awaited<ReturnType<typeof snapshotOf>>): void => {
  expect(holding).toEqual([record.status, record.status]);
  for (const item of [plain, ...found]) {
    expect(withoutUrls(item as AnyRecord)).toEqual(withoutUrls(record));
    expect(Object.keys(item as AnyRecord).sort()).toEqual(Object.keys(record).sort());
  }
};

describe('Lists and their status filters agree with reads', () => {
  test('from succeeded to expired', async () => {
    const endUserEmail = uniqueEmail();
    const { requestId } = await accepted(caller, { size: '512x512', endUserEmail });

    for (const status of ['succeeded', 'expired']) {
      await eventually(
        () => read(caller, requestId),
        (record) => record.status === status,
      );
      const moment = await snapshotOf(caller, requestId, endUserEmail);
      expectAgreement(moment);
      expect(moment.record.status).toBe(status);
    }
  });

  test('from processing to failed, which does not expire', async () => {
    const endUserEmail = uniqueEmail();
    const { requestId } = await busy(lasting, { endUserEmail });
    const working = await snapshotOf(lasting, requestId, endUserEmail);
    await endBusy(lasting, requestId);
    const ended = await snapshotOf(lasting, requestId, endUserEmail);

    expect([working.record.status, ended.record.status]).toEqual(['processing', 'failed']);
    expectAgreement(working);
    expectAgreement(ended);
  });
});

describe('An expired request', () => {
  /** Requests whose image has expired, and their end-user. */
  const expired = async (purpose: Purpose): Promise<{ email: string; ids: string[] }> => {
    const { email = '', made = [] } = expiring.get(purpose) ?? {};
    const ids = made.map(({ requestId }) => requestId);
    for (const requestId of ids) {
      await eventually(
        () => read(caller, requestId),
        ({ status }) => status === 'expired',
      );
    }
    return { email, ids };
  };

  test('is deleted in bulk or with its end-user, counted as a request but without a file', async () => {
    const {
      email,
      ids: [old],
    } = await expired('deleted with its end-user');
    const fresh = await failed(caller, { endUserEmail: email });
    expect((await bulkRemove(caller, [old, fresh.requestId])).body).toEqual({
      ...{ requested: 2, deleted: 2, removedObjects: 0, conflicts: [], notFound: [] },
    });
    await failed(caller, { endUserEmail: email });

    const { body } = await remove(caller, endUserPath(email));

    expect(body).toEqual({ email, deleted: true, removedRequests: 2, removedObjects: 0 });
    expect(await endUserOf(caller, email)).toBeUndefined();
  });

  test("stays paid and in its end-user's counters", async () => {
    const {
      email,
      ids: [requestId = ''],
    } = await expired('counted');

    expect(await entriesOf(caller, requestId)).toEqual([['generation', 1]]);
    const { totalRequests, totalXTokensSpent } = (await endUserOf(caller, email)) as EndUser;
    expect([totalRequests, totalXTokensSpent]).toEqual([1, 1]);
    await expectUnbrokenChain(caller);
  });

  test('has no readable file, even if it is still stored', async () => {
    await expired('counted');

    const [{ images = [] } = {}] = expiring.get('counted')?.made ?? [];
    expect((await fetchFile(images[0]?.url)).status).toBe(403);
  });
});
