import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  settled,
  sharedService,
} from '../contract/support/client.ts';
import { entriesOf, expectUnbrokenChain } from '../contract/support/ledger.ts';
import {
  type EndUser,
  endUserOf,
  endUserPath,
  failed,
  outcome,
  remove,
  uniqueEmail,
} from '../contract/support/resources.ts';

const ROUNDS = Array.from({ length: 20 }, (_, index) => index);

let caller: Caller;
/** End-users with one request that has failed. */
let endUsers: { email: string; first: string }[];
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const newEndUsers = () =>
  Promise.all(
    ROUNDS.map(async () => {
      const email = uniqueEmail();
      return { email, first: (await failed(caller, { endUserEmail: email })).requestId };
    }),
  );

const create = (endUserEmail: string) =>
  caller.post<AnyRecord>('/v1/generations', anUndrawnGeneration({ endUserEmail }));
const statusOf = async (requestId: string) => (await caller.get(`/v1/generations/${requestId}`)).status;

describe('A creation and a DELETE of its end-user at the same time', () => {
  beforeAll(async () => {
    endUsers = await newEndUsers();
  });

  test.each(ROUNDS)('have one winner and leave nothing partial: round %d', async (round) => {
    const { email, first } = endUsers[round] ?? { email: '', first: '' };
    // In every other round the DELETE is sent first.
    const sentFirst = round % 2 === 0 ? undefined : remove(caller, endUserPath(email));
    const [creation, deletion] = await Promise.all([
      create(email),
      sentFirst ?? remove(caller, endUserPath(email)),
    ]);

    const { requestId = '', createdAt } = creation.body;
    const [created, deleted] = [outcome(creation), outcome(deletion)];
    const deletedToo = deleted[0] === 200 && deletion.body.removedRequests === 2;
    if (created[0] === 202 && !deletedToo) await settled(caller, requestId);
    const endUser = await endUserOf(caller, email);

    if (deleted[0] === 409) {
      // The creation came first, and its request remains.
      expect([created, deleted]).toEqual([[202], [409, 'conflict']]);
      expect(endUser).toMatchObject({ email, totalRequests: 2, totalXTokensSpent: 0 });
      expect([await statusOf(first), await statusOf(requestId)]).toEqual([200, 200]);
      return;
    }
    expect(deleted).toEqual([200]);
    expect(await statusOf(first)).toBe(404);
    const { removedRequests } = deletion.body;
    if (created[0] === 202 && removedRequests === 1) {
      // The creation came after the deletion and made a new end-user.
      expect(endUser).toMatchObject({
        createdAt,
        lastActiveAt: createdAt,
        totalRequests: 1,
        totalXTokensSpent: 0,
      });
      expect(await statusOf(requestId)).toBe(200);
    } else {
      // The creation was refused, or its request ended before the DELETE and was deleted too.
      expect(created).toEqual(removedRequests === 2 ? [202] : [409, 'conflict']);
      expect(endUser).toBeUndefined();
      if (requestId) expect(await statusOf(requestId)).toBe(404);
    }
    if (created[0] === 202) {
      expect(await entriesOf(caller, requestId)).toEqual([
        ['refund', 1],
        ['generation', 1],
      ]);
    }
  });

  test('leave the ledger unbroken', () => expectUnbrokenChain(caller));

  test('leave every address usable for a new end-user', async () => {
    await Promise.all(
      endUsers.map(async ({ email }) => {
        const { status, body } = await create(email);
        expect(status).toBe(202);
        await settled(caller, body.requestId);
        expect((await remove(caller, endUserPath(email))).status).toBe(200);
        expect(await endUserOf(caller, email)).toBeUndefined();
      }),
    );
  });
});

describe('Concurrent first creations for one address', () => {
  test('make one end-user that counts them all', async () => {
    const email = uniqueEmail();

    const answers = await Promise.all(Array.from({ length: 10 }, () => create(email)));
    await Promise.all(answers.map(({ body }) => settled(caller, body.requestId)));

    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(202));
    const { createdAt, lastActiveAt, ...counters } = (await endUserOf(caller, email)) as EndUser;
    expect(counters).toEqual({ email, totalRequests: 10, totalXTokensSpent: 0, blockedAt: null });
    const times = answers.map(({ body }) => body.createdAt);
    expect(times).toContain(createdAt);
    expect(times).toContain(lastActiveAt);
    expect((await remove(caller, endUserPath(email))).body).toMatchObject({ removedRequests: 10 });
  });
});
