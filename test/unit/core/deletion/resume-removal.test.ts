import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deleteEndUser } from '../../../../core/deletion/delete-end-user.ts';
import { ConflictError, NotFoundError, ServiceError } from '../../../../core/errors.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import {
  endUserKey,
  endUserPartition,
  pauseKey,
  removalPrefix,
  requestKey,
} from '../../../../core/table/keys.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
} from '../../builders/entities.ts';
import { leadingTo } from '../../builders/providers.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { checkDueItems } from '../../builders/runs.ts';
import { answering } from '../../builders/waiting-request.ts';
import { memory } from '../../fakes/fresh-table.ts';
import '../../fakes/fresh-bucket.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);
beforeEach(() => {
  putEndUser(memory, anEndUser({ activeRequests: 0, endUserId: 'own' }));
});

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
const remove = (seconds = 0) => deleteEndUser(id, new StoppedClock(atSeconds(seconds)));
const reconcileAt = (seconds: number, keepGoing = () => true) =>
  checkDueItems(seconds, leadingTo(answering({ kind: 'waiting' })), keepGoing);
/** Puts a failed request of the end-user; returns its id. */
const given = (overrides: Partial<ImageRequest> = {}, createdAt = NOW): string => {
  const requestId = aRequestId(createdAt);
  const request = anImageRequest({ requestId, status: 'failed', endUserId: 'own', ...overrides });
  putRequest(memory, request);
  return requestId;
};
const isThere = (requestId: string): boolean => memory.get(requestKey(requestId)) !== undefined;
const hide = (requestId: string) => memory.unindexed.add(requestKey(requestId).PK);
const removals = () =>
  memory
    .partition(endUserPartition(ACCOUNT_ID))
    .filter(({ SK }) => String(SK).startsWith(removalPrefix(EMAIL)));

const DAY = 86_400;

describe('after an end-user was removed', () => {
  test.each([
    ['1 min', 60, []],
    ['15 min', 900, [60]],
    ['a day', DAY, [60, 900]],
  ])('a pass after %s removes what the index did not show before', async (_, seconds, earlier) => {
    const late = given();
    hide(late);

    expect(await remove()).toEqual({ removedRequests: 0, removedObjects: 0 });
    for (const before of earlier) await reconcileAt(before);
    memory.unindexed.clear();
    await reconcileAt(seconds - 0.001);
    expect(isThere(late)).toBe(true);
    await reconcileAt(seconds);

    expect(isThere(late)).toBe(false);
  });

  describe('while a request of theirs has ended in a status of another version', () => {
    let parked = '';
    const setStatus = (status: string) => memory.patch(requestKey(parked), { status });
    beforeEach(() => {
      parked = given({ refundThousandths: 4_000 });
      setStatus('parked');
    });

    test('they are kept, until that version is back', async () => {
      await expect(remove()).rejects.toThrow(ConflictError);
      await expect(reconcileAt(60)).rejects.toThrow(ConflictError);
      expect(endUser()).toBeDefined();

      setStatus('failed');
      await reconcileAt(DAY);
      expect([isThere(parked), endUser()]).toEqual([false, undefined]);
    });

    test('no pass over the removal is the last', async () => {
      hide(parked);
      await remove();
      memory.unindexed.clear();
      await expect(reconcileAt(DAY)).rejects.toThrow(ConflictError);
      expect(removals()).toHaveLength(1);

      setStatus('failed');
      await reconcileAt(2 * DAY);
      expect([isThere(parked), removals()]).toEqual([false, []]);
    });
  });

  test('the removal stays open until the last pass is complete', async () => {
    await remove();
    const open: number[] = [];
    for (const seconds of [60, 900, DAY - 1, DAY]) {
      await reconcileAt(seconds);
      open.push(removals().length);
    }

    expect(open).toEqual([1, 1, 1, 0]);
  });

  test('a pass that cannot delete a request is made again', async () => {
    const late = given();
    hide(late);
    await remove();
    memory.unindexed.clear();
    memory.beforeTransaction = () => {
      throw new Error('no table');
    };
    await reconcileAt(DAY);
    memory.beforeTransaction = () => undefined;
    expect(removals()).toHaveLength(1);
    await reconcileAt(DAY + 60);

    expect(isThere(late)).toBe(false);
    expect(removals()).toEqual([]);
  });

  test('requests of the next one with the address stay, even by a clock that runs behind', async () => {
    await remove();
    putEndUser(memory, anEndUser({ endUserId: 'next' }));
    const theirs = [-40, 10].map((seconds) => given({ endUserId: 'next' }, atSeconds(seconds)));

    for (const seconds of [60, 900, DAY]) await reconcileAt(seconds);

    expect(theirs.filter(isThere)).toEqual(theirs);
    expect(endUser()).toMatchObject({ endUserId: 'next' });
    expect(removals()).toEqual([]);
  });

  test('a pass reads none of the requests that the next one with the address made since', async () => {
    await remove();
    putEndUser(memory, anEndUser({ endUserId: 'next' }));
    for (let minutes = 6; minutes < 16; minutes++) given({ endUserId: 'next' }, atSeconds(minutes * 60));
    await reconcileAt(60);
    memory.client.resetHistory();
    await reconcileAt(DAY);

    expect(removals()).toEqual([]);
    expect(memory.calls().GetCommand ?? 0).toBe(0);
  });

  test('one that is removed twice within a minute gets the passes of both', async () => {
    const first = given();
    hide(first);
    await remove();
    putEndUser(memory, anEndUser({ activeRequests: 0, endUserId: 'next' }));
    const second = given({ endUserId: 'next' });
    hide(second);
    await remove(5);
    expect(removals()).toHaveLength(2);
    memory.unindexed.clear();

    await reconcileAt(60);
    expect([first, second].filter(isThere)).toEqual([second]);
    await reconcileAt(65);

    expect(isThere(second)).toBe(false);
  });
});

describe('a removal whose call died', () => {
  const dying = async () => {
    memory.client.on(BatchWriteCommand).rejectsOnce(new Error('the function died')).resolves({});
    await expect(remove()).rejects.toThrow('the function died');
  };

  test('is finished by the reconciler, then closed', async () => {
    const ids = [given(), given()];
    await dying();
    expect(endUser()).toHaveProperty('deletingAt');

    await reconcileAt(29.999);
    expect(endUser()).toBeDefined();
    await reconcileAt(30);
    expect(endUser()).toBeUndefined();
    expect(ids.filter(isThere)).toEqual([]);
    for (const seconds of [90, 930, 30 + DAY]) await reconcileAt(seconds);

    expect(removals()).toEqual([]);
  });

  test('leaves no pause to the next one with the address', async () => {
    const pause = pauseKey({ ...id, model: 'xQI3Pro' });
    memory.put(pause, { until: atSeconds(3_600).toISOString() });
    memory.afterTransaction = () => {
      memory.afterTransaction = () => undefined;
      throw new Error('the function died');
    };
    await expect(remove()).rejects.toThrow('the function died');
    expect(memory.get(pause)).toBeDefined();

    await reconcileAt(30);

    expect(endUser()).toBeUndefined();
    expect(memory.get(pause)).toBeUndefined();
  });

  test.each([
    ['by its repetition', () => remove()],
    ['by the reconciler', () => reconcileAt(30)],
  ])('has its pauses removed before the end-user: %s', async (_, finish) => {
    const pause = pauseKey({ ...id, model: 'xQI3Pro' });
    memory.put(pause, { until: atSeconds(3_600).toISOString() });
    memory.afterTransaction = () => {
      memory.afterTransaction = () => undefined;
      throw new Error('the function died');
    };
    await expect(remove()).rejects.toThrow('the function died');
    const atRemoval: boolean[] = [];
    memory.afterTransaction = () => {
      if (!endUser()) atRemoval.push(memory.get(pause) !== undefined);
    };

    await finish();

    expect(atRemoval).toEqual([false]);
  });

  test('is answered 200 when it is repeated within 2 min of the reconciler’s finish, and 404 later', async () => {
    await dying();
    await reconcileAt(30);

    expect(await remove(150)).toEqual({ removedRequests: 0, removedObjects: 0 });
    await expect(remove(150.001)).rejects.toThrow(NotFoundError);
  });

  test('is answered 404 when a later call removed the next one with the address', async () => {
    await dying();
    await reconcileAt(30);
    putEndUser(memory, anEndUser({ activeRequests: 0, endUserId: 'next' }));
    await remove(31);

    await expect(remove(32)).rejects.toThrow(NotFoundError);
  });

  test('is answered 200 with its counts when the reconciler finishes it meanwhile', async () => {
    given();
    await dying();
    given();
    const isPausesRemoval = (RequestItems: object = {}) => JSON.stringify(RequestItems).includes('PAUSE#');
    let reconciled = false;
    memory.client.on(BatchWriteCommand).callsFake(async ({ RequestItems }) => {
      if (!reconciled && isPausesRemoval(RequestItems)) {
        reconciled = true;
        await reconcileAt(30);
      }
      return {};
    });

    expect(await remove(20)).toEqual({ removedRequests: 1, removedObjects: 0 });
    expect(endUser()).toBeUndefined();
  });

  test('goes on in the next run when one run is too short', async () => {
    const ids = Array.from({ length: 40 }, () => given());
    const ticking = { now: () => atSeconds(0) };
    let reads = 0;
    const slow = { now: () => (++reads > 20 ? atSeconds(21) : ticking.now()) };
    await expect(deleteEndUser(id, slow)).rejects.toThrow(ServiceError);
    const left = ids.filter(isThere).length;
    expect(left).toBeGreaterThan(0);

    let asked = 0;
    await reconcileAt(60, () => ++asked <= 12);
    expect(ids.filter(isThere).length).toBeLessThan(left);
    expect(endUser()).toBeDefined();
    await reconcileAt(180);

    expect(ids.filter(isThere)).toEqual([]);
    expect(endUser()).toBeUndefined();
  });
});
