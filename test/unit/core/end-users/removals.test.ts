import { describe, expect, test } from '@jest/globals';
import {
  claimForRemoval,
  closeRemoval,
  type EndUserRemoval,
  findLastRemoval,
  findRemoval,
  listForNextPass,
  mayBeOfRemoved,
  nextPassAt,
  RECONCILER,
  removeClaimedEndUser,
} from '../../../../core/end-users/removals.ts';
import { NotFoundError } from '../../../../core/errors.ts';
import { dueListing, endUserKey, endUserPartition, endUserRemovalKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anEndUser, EMAIL, putEndUser } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const at = (seconds: number): string => atSeconds(seconds).toISOString();
const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
const mark = (removal: EndUserRemoval) => memory.get(endUserRemovalKey(removal));
/** Loses the answer of the transaction of this number, which was committed. */
const losingAnswer = (number: number): void => {
  memory.afterTransaction = (attempt) => {
    if (attempt === number)
      throw Object.assign(new Error('lost'), { name: 'TransactionInProgressException' });
  };
};
const claimed = async (overrides = {}): Promise<EndUserRemoval> => {
  putEndUser(memory, anEndUser({ activeRequests: 0, endUserId: 'own', ...overrides }));
  return (await claimForRemoval(id, NOW)) as EndUserRemoval;
};

describe('claiming an end-user for removal', () => {
  test('records the removal in the same transaction, due when the call must have ended', async () => {
    const removal = await claimed();

    expect(removal).toEqual({
      ...id,
      removalId: expect.stringMatching(/^rmv_/),
      endUserId: 'own',
    });
    expect(endUser()).toMatchObject({ deletingAt: at(0), removalId: removal.removalId });
    expect(mark(removal)).toEqual({
      ...{ ...endUserRemovalKey(removal), ...removal },
      ...dueListing('CHECK', removal.removalId, at(30)),
    });
    expect(memory.transactions).toHaveLength(1);
  });

  test('again, or by several at once, is the same removal', async () => {
    const first = await claimed();

    const others = await Promise.all([1, 2, 3].map(() => claimForRemoval(id, atSeconds(5))));

    for (const other of others) expect(other).toEqual(first);
    expect(endUser()).toMatchObject({ deletingAt: at(0) });
    expect(await findLastRemoval(id)).toEqual(first);
  });

  test('is recognized when its own answer was lost', async () => {
    losingAnswer(1);

    const removal = await claimed();

    expect(removal.removalId).toBe(endUser()?.removalId);
    expect(await findLastRemoval(id)).toEqual(removal);
  });

  test.each([1, 2, 40])('with %p of their requests under way changes nothing', async (activeRequests) => {
    expect(await claimed({ activeRequests })).toBeUndefined();
    expect(endUser()).not.toHaveProperty('deletingAt');
    expect(memory.transactions).toEqual([]);
  });

  test('is refused by a creation that comes first', async () => {
    memory.beforeTransaction = () =>
      memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { activeRequests: 1, lastActiveAt: at(1) });

    expect(await claimed()).toBeUndefined();
    expect(endUser()).not.toHaveProperty('deletingAt');
  });

  test('is not refused by a creation that came first and has ended already', async () => {
    memory.beforeTransaction = () => memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { lastActiveAt: at(1) });

    expect(await claimed()).toMatchObject({ endUserId: 'own' });
  });

  test('of another with the same address, who came meanwhile, is theirs', async () => {
    memory.beforeTransaction = () => memory.patch(endUserKey(ACCOUNT_ID, EMAIL), { endUserId: 'other' });

    expect(await claimed()).toMatchObject({ endUserId: 'other' });
  });

  test('by several at once for the first time is one removal', async () => {
    putEndUser(memory, anEndUser({ activeRequests: 0 }));

    const claims = await Promise.all([1, 2, 3].map((second) => claimForRemoval(id, atSeconds(second))));

    expect(new Set(claims.map((claim) => claim?.removalId))).toEqual(new Set([endUser()?.removalId]));
    expect(memory.partition(endUserPartition(ACCOUNT_ID))).toHaveLength(2);
  });

  test('who does not exist is not found', async () => {
    await expect(claimForRemoval(id, NOW)).rejects.toThrow(NotFoundError);
  });

  test('who is removed meanwhile is not found, and is not inserted', async () => {
    memory.beforeTransaction = () => memory.remove(endUserKey(ACCOUNT_ID, EMAIL));

    await expect(claimed()).rejects.toThrow(NotFoundError);
    expect(memory.partition(endUserPartition(ACCOUNT_ID))).toEqual([]);
  });

  test('whose removal is over is not found', async () => {
    await closeRemoval(await claimed());

    await expect(claimForRemoval(id, NOW)).rejects.toThrow(NotFoundError);
  });
});

describe('removing a claimed end-user', () => {
  test('is one transaction, which lists the removal for its next pass', async () => {
    const removal = await claimed();

    expect(await removeClaimedEndUser(removal, 'call', atSeconds(5))).toBe('call');

    expect(endUser()).toBeUndefined();
    expect(mark(removal)).toMatchObject({
      removedAt: at(5),
      removedBy: 'call',
      ...dueListing('CHECK', removal.removalId, at(65)),
    });
    expect(memory.transactions).toHaveLength(2);
  });

  test('tells several callers who did it', async () => {
    const removal = await claimed();

    const by = await Promise.all(
      ['a', 'b', RECONCILER].map((caller) => removeClaimedEndUser(removal, caller, NOW)),
    );

    expect(new Set(by).size).toBe(1);
    expect(mark(removal)?.removedBy).toBe(by[0]);
  });

  test('is recognized when its own answer was lost', async () => {
    const removal = await claimed();
    losingAnswer(2);

    expect(await removeClaimedEndUser(removal, 'call', NOW)).toBe('call');
  });

  test('leaves an end-user who was inserted again', async () => {
    const removal = await claimed();
    await removeClaimedEndUser(removal, 'call', NOW);
    putEndUser(memory, anEndUser());

    expect(await removeClaimedEndUser(removal, 'other', NOW)).toBe('call');
    expect(endUser()).toBeDefined();
  });
});

test('the last removal of an address is found until it is closed', async () => {
  const removal = await claimed();
  memory.put(endUserRemovalKey({ ...removal, email: `x#${EMAIL}` }), removal);
  memory.put(endUserRemovalKey({ ...removal, removalId: 'rmv_0' }), { ...removal, removalId: 'rmv_0' });

  expect(await findLastRemoval(id)).toEqual(removal);
  expect(await findRemoval(removal)).toEqual(removal);
  await closeRemoval(removal);
  await closeRemoval(removal);
  expect(await findRemoval(removal)).toBeUndefined();
  expect(await findLastRemoval(id)).toMatchObject({ removalId: 'rmv_0' });
  await closeRemoval({ ...id, removalId: 'rmv_0' });
  expect(await findLastRemoval(id)).toBeUndefined();
});

test.each<[number, number | undefined]>([
  [0, 60],
  [59.999, 60],
  [60, 900],
  [899.999, 900],
  [900, 86_400],
  [86_400, undefined],
])('the first pass later than %p s after an end-user was removed is due after %p s', (after, expected) => {
  expect(nextPassAt(at(0), at(after))).toBe(expected === undefined ? undefined : at(expected));
});

describe('listing a removal for its next pass', () => {
  const removed = async () => {
    const removal = await claimed();
    await removeClaimedEndUser(removal, 'call', NOW);
    return removal;
  };

  test('moves it on and never back', async () => {
    const removal = await removed();
    await listForNextPass(removal, at(86_400));
    await listForNextPass(removal, at(900));

    expect(mark(removal)).toMatchObject(dueListing('CHECK', removal.removalId, at(86_400)));
  });

  test('does not bring a closed one back', async () => {
    const removal = await removed();
    await closeRemoval(removal);
    await listForNextPass(removal, at(900));

    expect(mark(removal)).toBeUndefined();
  });
});

test.each<[string, string | undefined, number, boolean]>([
  ['while the end-user is there', undefined, 9_999, true],
  ['once they are gone, created before', at(0), -60, true],
  ['once they are gone, by a clock ahead', at(0), 300, true],
  ['once they are gone, created long after', at(0), 300.001, false],
])('a request may be of a removed end-user %s: %p, %p s, %p', (_, removedAt, seconds, expected) => {
  const removal = { ...id, removalId: 'rmv_1', endUserId: 'own', ...(removedAt && { removedAt }) };

  expect(mayBeOfRemoved(removal, aRequestId(atSeconds(seconds)))).toBe(expected);
});
