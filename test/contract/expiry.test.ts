import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  accepted,
  type Caller,
  callerWith,
  eventually,
  read,
  setLimits,
  settled,
  unique,
} from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { entriesOf, expectUnbrokenChain } from './support/ledger.ts';
import { discard, newDataDir, type RunningService, startLocalService } from './support/local-service.ts';
import {
  bulkRemove,
  type EndUser,
  endUserOf,
  endUserPath,
  failed,
  type ListPage,
  remove,
  succeeded,
  uniqueEmail,
  withoutUrls,
} from './support/resources.ts';

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'expired'];

let service: RunningService;
let caller: Caller;
beforeAll(async () => {
  service = await startLocalService(await newDataDir(), { context: { outputTtlSeconds: 4 } });
  caller = callerWith(service, service.accountId, service.apiKey);
  await setLimits(caller, 10_000, 100_000);
});
afterAll(() => discard(service));

/** The request as a list shows it, if it does. */
const itemIn = async (
  requestId: string,
  query: { status?: string; endUserEmail?: string },
): Promise<AnyRecord | undefined> => {
  const text = new URLSearchParams({ pageSize: '50', ...query });
  const { body } = await caller.get<ListPage<AnyRecord>>(`/v1/generations?${text}`);
  return body.items.find((item) => item.requestId === requestId);
};

/** A request's record and what each list shows of it, read while its status did not change. */
const snapshotOf = async (requestId: string, endUserEmail: string) => {
  for (;;) {
    const before = await read(caller, requestId);
    const queries = STATUSES.flatMap((status) => [{ status }, { status, endUserEmail }]);
    const [plain, ...filtered] = await Promise.all([
      itemIn(requestId, {}),
      ...queries.map((query) => itemIn(requestId, query)),
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
  test('from processing through succeeded to expired', async () => {
    const endUserEmail = uniqueEmail();
    const { requestId } = await accepted(caller, {
      size: '256x256',
      prompt: unique('[delay=3]'),
      endUserEmail,
    });
    const seen = new Set<string>();

    await eventually(
      async () => {
        const moment = await snapshotOf(requestId, endUserEmail);
        expectAgreement(moment);
        seen.add(moment.record.status);
        return moment.record.status;
      },
      (status) => status === 'expired',
    );

    expect([...seen].filter((status) => status !== 'queued')).toEqual(['processing', 'succeeded', 'expired']);
  });

  test('for a failed request, which does not expire', async () => {
    const endUserEmail = uniqueEmail();
    const { requestId } = await failed(caller, { endUserEmail });

    expectAgreement(await snapshotOf(requestId, endUserEmail));
  });
});

describe('An expired request', () => {
  /** Requests whose image has expired. */
  const expired = async (count: number, endUserEmail: string): Promise<AnyRecord[]> => {
    const made = await Promise.all(Array.from({ length: count }, () => succeeded(caller, { endUserEmail })));
    for (const { requestId } of made) {
      await eventually(
        () => read(caller, requestId),
        ({ status }) => status === 'expired',
      );
    }
    return made;
  };

  test('can be deleted, counting no file', async () => {
    const [one] = await expired(1, uniqueEmail());
    const requestId = one?.requestId ?? '';

    const answer = await remove(caller, `/v1/generations/${requestId}`);

    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ requestId, deleted: true, removedObjects: 0 });
    expect((await caller.get(`/v1/generations/${requestId}`)).status).toBe(404);
  });

  test('adds nothing to removedObjects in a bulk delete', async () => {
    const [old] = await expired(1, uniqueEmail());
    const fresh = await failed(caller);

    const { body } = await bulkRemove(caller, [old?.requestId, fresh.requestId]);

    expect(body).toEqual({ requested: 2, deleted: 2, removedObjects: 0, conflicts: [], notFound: [] });
  });

  test('is deleted with its end-user, counted as a request but without a file', async () => {
    const email = uniqueEmail();
    await expired(2, email);
    await failed(caller, { endUserEmail: email });

    const { body } = await remove(caller, endUserPath(email));

    expect(body).toEqual({ email, deleted: true, removedRequests: 3, removedObjects: 0 });
    expect(await endUserOf(caller, email)).toBeUndefined();
  });

  test("stays paid and in its end-user's counters", async () => {
    const email = uniqueEmail();
    const [one] = await expired(1, email);

    expect(await entriesOf(caller, one?.requestId ?? '')).toEqual([['generation', 1]]);
    const { totalRequests, totalXTokensSpent } = (await endUserOf(caller, email)) as EndUser;
    expect([totalRequests, totalXTokensSpent]).toEqual([1, 1]);
    await expectUnbrokenChain(caller);
  });

  test('has no readable file, even if it is still stored', async () => {
    const { requestId } = await accepted(caller, { size: '256x256' });
    const { images = [] } = await settled(caller, requestId);

    await eventually(
      () => read(caller, requestId),
      ({ status }) => status === 'expired',
    );

    expect((await fetchFile(images[0]?.url)).status).toBe(403);
  });
});
