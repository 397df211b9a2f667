import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import * as collection from '../../../../core/creation/collection.ts';
import { idempotencyKey, idempotencyPartition, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest } from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { memory } from '../../fakes/fresh-table.ts';

type State = 'open' | 'released' | 'answered';
/** An entry of an equal call: its state, its count of retries, its age in seconds, and the status of its request. */
type Given = [state: State, retry: number, ageSeconds?: number, status?: string];

const call = (retry: number): collection.LongCall => ({
  ...{ accountId: ACCOUNT_ID, kind: 'image', digest: 'd', isKeyed: false, retry, waiter: 'own' },
});
const keyOf = (requestId: string) => idempotencyKey(ACCOUNT_ID, `d#${requestId}`);
const entryOf = (requestId: string) => memory.get(keyOf(requestId));
/** Stores entries, and returns the ids of their requests: each is older than the next. */
const given = (...entries: Given[]): string[] =>
  entries.map(([state, retry, ageSeconds = 1, status = 'queued']) => {
    const requestId = aRequestId(NOW);
    const at = atSeconds(-ageSeconds).toISOString();
    memory.put(keyOf(requestId), { requestId, state, waiter: 'another', retry, at });
    memory.put(requestKey(requestId), { ...anImageRequest(), requestId, status });
    return requestId;
  });
const take = (retry: number) => collection.takeRequest(call(retry), NOW);

describe('the request of equal calls that a call takes', () => {
  /** The order in which calls of this count take the entries, by their places; those that no call takes are absent. */
  const order = async (retry: number, ...entries: Given[]): Promise<number[]> => {
    const ids = given(...entries);
    const taken: number[] = [];
    for (let held = await take(retry); held; held = await take(retry)) {
      taken.push(ids.indexOf(held.requestId));
      memory.remove(held.key);
    }
    return taken;
  };
  // The newest is listed first: each order is one that the ids do not have by chance.
  const ofRetry: Given[] = [
    ['released', 2, 1, 'succeeded'],
    ['released', 2],
    ['open', 2],
    ['released', 0, 1, 'succeeded'],
    ['released', 1, 1, 'processing'],
    ['open', 1],
    ['open', 0],
    ['answered', 2, 1],
    ['answered', 2, 9],
    ['answered', 1, 1],
    ['answered', 3, 1],
    ['answered', 4, 1],
  ];

  test('is for a retry that of its own last attempt first, and an answered one last, the nearest count and the latest first', async () => {
    expect(await order(3, ...ofRetry)).toEqual(ofRetry.map((_, place) => place));
  });

  test.each(['succeeded', 'failed'])(
    'is for a first call one that was released, %s before running',
    async (ended) => {
      const entries: Given[] = [
        ['released', 1, 1, ended],
        ['released', 0, 1, ended],
        ['released', 0],
        ['open', 0],
        ['answered', 0],
      ];

      expect(await order(0, ...entries)).toEqual([1, 0, 2]);
    },
  );

  test('is of lower counts only where another call still waits', async () => {
    expect(await order(2, ['open', 1], ['open', 2], ['open', 3])).toEqual([0]);
  });

  test('is no answered one that failed: it was refunded', async () => {
    expect(await order(1, ['answered', 0, 1, 'failed'], ['answered', 0, 1, 'succeeded'])).toEqual([1]);
  });

  test('is released also where it was deleted, so that its caller is told', async () => {
    const [requestId = ''] = given(['released', 0]);
    memory.remove(requestKey(requestId));

    expect(await take(0)).toMatchObject({ requestId });
  });

  test.each<[State, number]>([
    ['released', 600],
    ['open', 600],
    ['answered', 10],
  ])('is %s within %i s', async (state, seconds) => {
    expect(await order(1, [state, 0, seconds - 0.001], [state, 0, seconds])).toEqual([0]);
  });

  test('is of the last hour, however late it was released', async () => {
    const [hour, longer] = [3_600, 3_601].map((seconds) => {
      const requestId = aRequestId(atSeconds(-seconds));
      memory.put(keyOf(requestId), {
        ...{ requestId, state: 'released', waiter: 'another', retry: 0, at: atSeconds(-1).toISOString() },
      });
      return requestId;
    });

    expect((await take(0))?.requestId).toBe(hour);
    memory.remove(keyOf(hour ?? ''));
    expect(await take(0)).toBeUndefined();
    expect(entryOf(longer ?? '')).toMatchObject({ waiter: 'another' });
  });

  test('is held by the call alone from then on, for a day', async () => {
    const [requestId = ''] = given(['released', 0]);

    expect(await take(2)).toEqual({ key: keyOf(requestId), requestId, waiter: 'own', retry: 2 });
    expect(entryOf(requestId)).toEqual({
      ...{ ...keyOf(requestId), requestId, state: 'open', waiter: 'own', retry: 2 },
      ...{ at: NOW.toISOString(), ttl: NOW.getTime() / 1000 + 86_400 },
    });
  });

  test('was answered when it was, though it is given again', async () => {
    const [requestId = ''] = given(['answered', 0, 4, 'succeeded']);

    expect(await take(1)).toMatchObject({ requestId, isGiven: true });
    expect(entryOf(requestId)).toMatchObject({
      ...{ state: 'answered', waiter: 'own', retry: 1, at: atSeconds(-4).toISOString() },
    });
  });
});

describe('a call that takes a request while another call moves it', () => {
  /** Moves the entry just before the first update of the call. */
  const meanwhile = (requestId: string, change: object) =>
    memory.client.on(UpdateCommand).callsFake((input) => {
      if (entryOf(requestId)?.waiter === 'another') memory.patch(keyOf(requestId), change);
      memory.client.on(UpdateCommand).callsFake((later) => memory.update(later));
      return memory.update(input);
    });

  test('is given the images where that one was answered with them', async () => {
    const [requestId = ''] = given(['open', 0, 1, 'succeeded']);
    meanwhile(requestId, { state: 'answered' });

    expect(await take(1)).toMatchObject({ requestId, isGiven: true });
  });

  test.each<[State, number]>([
    ['open', 1],
    ['released', 0],
    ['answered', 1],
  ])('takes nothing of a faster one: %s', async (state, retry) => {
    const [requestId = ''] = given([state, 0, 1, 'succeeded']);
    meanwhile(requestId, { state: 'open', waiter: 'faster', retry: 1 });

    expect(await take(retry)).toBeUndefined();
    expect(entryOf(requestId)).toMatchObject({ waiter: 'faster' });
  });

  test.each<[State, number]>([
    ['open', 1],
    ['released', 0],
    ['answered', 1],
  ])('gives up after ten faster ones: %s', async (state, retry) => {
    const [requestId = ''] = given([state, 0, 1, 'succeeded']);
    let faster = 0;
    memory.client.on(UpdateCommand).callsFake((input) => {
      memory.patch(keyOf(requestId), { waiter: `faster ${++faster}` });
      return memory.update(input);
    });

    await expect(take(retry)).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    expect(faster).toBe(10);
  });
});

describe('the entry of a call', () => {
  const requestId = aRequestId(NOW);
  const held = collection.heldBy(call(0), requestId);
  const other = { ...held, waiter: 'another' };
  beforeEach(() => memory.put(held.key, { state: 'open', waiter: 'own', retry: 0, at: NOW.toISOString() }));

  test('is opened once', async () => {
    memory.reset();
    await collection.openEntry(held, NOW);
    await collection.openEntry(other, NOW);

    expect(entryOf(requestId)).toMatchObject({ state: 'open', waiter: 'own', retry: 0 });
  });

  test('is dropped before its request is written, and not after', async () => {
    expect(await collection.dropEntry(held)).toBe('dropped');
    expect(await collection.dropEntry(held)).toBe('taken');
    memory.put(held.key, { state: 'open', waiter: 'own', retry: 0, requestId });
    expect(await collection.dropEntry(held)).toBe('written');
    expect(entryOf(requestId)).toMatchObject({ requestId });
  });

  test('is answered or released by the call that holds it, while that waits', async () => {
    for (const state of ['answered', 'released'] as const) {
      memory.patch(held.key, { state: 'open' });
      expect(await collection.endWait(other, state, NOW)).toBe(false);
      expect(entryOf(requestId)).toMatchObject({ state: 'open', waiter: 'own' });
      expect(await collection.endWait(held, state, NOW)).toBe(true);
      expect(await collection.endWait(other, state, NOW)).toBe(false);
      // As the SDK repeats an update whose answer was lost.
      expect(await collection.endWait(held, state, NOW)).toBe(true);
      expect(await collection.endWait(held, state === 'answered' ? 'released' : 'answered', NOW)).toBe(false);
      expect(entryOf(requestId)).toMatchObject({ state, waiter: 'own' });
    }
  });
});

describe('the request of an Idempotency-Key', () => {
  const keyed = { ...call(1), isKeyed: true };
  const key = idempotencyKey(ACCOUNT_ID, 'd');
  const record = { requestId: 'img_1', waiter: 'another', retry: 0 };

  test.each<[State, boolean]>([
    ['open', false],
    ['released', false],
    ['answered', true],
  ])('is taken over from any call, and given where it was answered: %s', async (state, isGiven) => {
    memory.put(key, { ...record, state });

    expect(await collection.takeKeyed(keyed, 'img_1', NOW)).toEqual({
      ...{ key, requestId: 'img_1', waiter: 'own', retry: 1, isGiven },
    });
    expect(memory.get(key)).toMatchObject(
      isGiven ? { ...record, state } : { state: 'open', waiter: 'own', retry: 1 },
    );
  });

  test('writes no record where that has gone', async () => {
    expect(await collection.takeKeyed(keyed, 'img_1', NOW)).toMatchObject({ isGiven: true });
    expect(memory.partition(idempotencyPartition(ACCOUNT_ID))).toEqual([]);
  });
});
