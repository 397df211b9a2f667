import { setImmediate as turn } from 'node:timers/promises';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import {
  BatchWriteCommand,
  DeleteCommand,
  type DeleteCommandInput,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { deleteEndUser } from '../../../../core/deletion/delete-end-user.ts';
import { ConflictError, NotFoundError } from '../../../../core/errors.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { endUserKey, pauseKey, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, NOW, StoppedClock } from '../../builders/clocks.ts';
import {
  ACCOUNT_ID,
  anEndUser,
  anImageRequest,
  aStoredOutput,
  EMAIL,
  putEndUser,
  putRequest,
} from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { tableError } from '../../builders/table-errors.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { memory } from '../../fakes/fresh-table.ts';

let clock = new StoppedClock();
beforeEach(() => {
  clock = new StoppedClock();
  putEndUser(memory, anEndUser({ activeRequests: 0 }));
});

const id = { accountId: ACCOUNT_ID, email: EMAIL };
const endUser = () => memory.get(endUserKey(ACCOUNT_ID, EMAIL));
const remove = () => deleteEndUser(id, clock);

/** Puts a terminal request with one file; returns its id. */
const given = (overrides: Partial<ImageRequest> = {}): string => {
  const requestId = aRequestId(NOW);
  const objectKey = `outputs/${requestId}`;
  bucket.put(objectKey);
  putRequest(
    memory,
    anImageRequest({
      requestId,
      status: 'succeeded',
      outputs: [aStoredOutput(0, { objectKey })],
      expiresAt: atSeconds(100).toISOString(),
      ttl: NOW.getTime() / 1000 + 1000,
      ...overrides,
    }),
  );
  return requestId;
};
const many = (count: number): string[] => Array.from({ length: count }, () => given());
const left = (ids: readonly string[]): string[] => ids.filter((each) => memory.get(requestKey(each)));
/** Advances the clock with each request whose files are removed. */
const takingSeconds = (seconds: number): void => {
  bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
    clock.advance(seconds);
    return {};
  });
};

describe('removing an end-user', () => {
  test('removes all of their requests and files, and counts them', async () => {
    const ids = [
      given(),
      given({ status: 'failed', outputs: [] }),
      given({ expiresAt: NOW.toISOString() }),
      given({
        outputs: [aStoredOutput(0, { objectKey: 'outputs/a' }), aStoredOutput(1, { objectKey: 'outputs/b' })],
      }),
    ];

    const pauses = [EMAIL, 'other@example.com'].map((email) => pauseKey({ ...id, email, model: 'xQI3Pro' }));
    for (const pause of pauses) memory.put(pause, { until: 'x' });

    expect(await remove()).toEqual({ removedRequests: 4, removedObjects: 3 });
    expect(left(ids)).toEqual([]);
    expect(endUser()).toBeUndefined();
    expect(pauses.map((pause) => memory.get(pause) !== undefined)).toEqual([false, true]);
  });

  test('leaves other end-users of the account alone, and the same address in another account', async () => {
    const other = 'acc_01JD4KXQ8M0000000000000009';
    const others = [given({ endUserEmail: 'ada@example.com.au' }), given({ accountId: other })];
    putEndUser(memory, anEndUser({ email: 'ada@example.com.au' }));
    putEndUser(memory, anEndUser({ accountId: other }));

    expect(await remove()).toEqual({ removedRequests: 0, removedObjects: 0 });
    expect(left(others)).toEqual(others);
    expect(memory.get(endUserKey(ACCOUNT_ID, 'ada@example.com.au'))).toBeDefined();
    expect(memory.get(endUserKey(other, EMAIL))).toBeDefined();
  });

  test('claims them first, and removes them last', async () => {
    given();
    let deletingAt: unknown;
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      deletingAt = endUser()?.deletingAt;
      return {};
    });

    await remove();

    expect(deletingAt).toBe(NOW.toISOString());
    const deletions = memory.client.calls().flatMap(({ args }) => {
      const { TransactItems, Key } = args[0].input as TransactWriteCommandInput & DeleteCommandInput;
      const deleted = args[0] instanceof DeleteCommand ? Key : TransactItems?.[0]?.Delete?.Key;
      return deleted?.SK ?? [];
    });
    expect(deletions).toEqual(['REQUEST', `END_USER#${EMAIL}`]);
  });

  test('while one request is unfinished is a conflict and changes nothing', async () => {
    const ids = [given(), given({ status: 'queued' })];
    putEndUser(memory, anEndUser({ activeRequests: 1 }));

    await expect(remove()).rejects.toThrow(ConflictError);
    expect(left(ids)).toEqual(ids);
    expect(bucket.objects.size).toBe(2);
    expect(endUser()).not.toHaveProperty('deletingAt');
  });

  test('who does not exist, or is removed already, is not found', async () => {
    await remove();
    await expect(remove()).rejects.toThrow(NotFoundError);
    await expect(deleteEndUser({ ...id, email: 'nobody@example.com' })).rejects.toThrow(NotFoundError);
  });

  test('works for a blocked end-user', async () => {
    putEndUser(memory, anEndUser({ activeRequests: 0, blockedAt: NOW.toISOString() }));

    expect(await remove()).toEqual({ removedRequests: 0, removedObjects: 0 });
  });

  test('several times at once succeeds once, and counts each request once', async () => {
    const ids = many(30);

    const settled = await Promise.allSettled([remove(), remove(), remove()]);

    const done = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    const reasons = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : []));
    expect([done.length, reasons]).toEqual([1, ['not_found', 'not_found']]);
    expect(done[0]?.removedRequests).toBeLessThanOrEqual(30);
    expect(left(ids)).toEqual([]);
  });
});

describe('a cascade too large for one call', () => {
  const refusal = { code: 'temporarily_unavailable', retryAfterSeconds: 1 };

  test('asks to be repeated after 24 s when S3 is silent', async () => {
    many(3);
    bucket.client.on(DeleteObjectsCommand).callsFake(() => new Promise(() => undefined));
    jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });

    const refused = expect(remove()).rejects.toMatchObject(refusal);
    await jest.advanceTimersByTimeAsync(24_000);
    await refused;

    jest.useRealTimers();
  });

  test('leaves no timer behind once it is done', async () => {
    many(3);
    jest.useFakeTimers({ now: NOW, doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });

    await remove();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  test('stops after 20 s and asks to be repeated, continues where it stopped, and counts by call', async () => {
    const ids = many(100);
    takingSeconds(1);
    const calls: { deleted: number; answer: unknown }[] = [];

    while (endUser() && calls.length < 10) {
      const before = left(ids).length;
      const answer = await remove().catch((error: Error) => error);
      calls.push({ deleted: before - left(ids).length, answer });
      // Until the last call they cannot create.
      if (answer instanceof Error) expect(endUser()).toMatchObject({ deletingAt: NOW.toISOString() });
    }

    const { deleted, answer } = calls.pop() ?? {};
    expect(answer).toEqual({ removedRequests: deleted, removedObjects: deleted });
    expect(left(ids)).toEqual([]);
    expect(calls.length).toBeGreaterThan(1);
    for (const stopped of calls) {
      expect(stopped.answer).toMatchObject(refusal);
      // Deletions in progress when the time is up are finished.
      expect(stopped.deleted).toBeGreaterThanOrEqual(20);
      expect(stopped.deleted).toBeLessThanOrEqual(20 + 16);
    }
  });

  test.each([
    [19.999, { removedRequests: 17, removedObjects: 17 }, 0],
    [20, refusal.code, 1],
  ])('starts another deletion %p s after it began, or not', async (seconds, expected, count) => {
    const ids = many(17);
    let isPast = false;
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      // The first 16 begin at once.
      await turn();
      if (!isPast) clock.advance(seconds);
      isPast = true;
      return {};
    });

    expect(await remove().catch(({ code }) => code)).toEqual(expected);
    expect(left(ids)).toEqual(count === 0 ? [] : [ids[0]]);
  });

  test('answers 503 while a request of theirs could not be deleted, and can be repeated', async () => {
    const ids = many(3);
    memory.beforeTransaction = () => {
      const [item] = memory.transactions.at(-1)?.TransactItems ?? [];
      if (item?.Delete?.Key?.PK === requestKey(ids[1] ?? '').PK) throw tableError('TimeoutError');
    };

    expect(await remove().catch(({ code }) => code)).toBe(refusal.code);
    expect(left(ids)).toEqual([ids[1]]);
    expect(endUser()).toHaveProperty('deletingAt');

    memory.beforeTransaction = () => undefined;
    expect(await remove()).toEqual({ removedRequests: 1, removedObjects: 1 });
    expect(endUser()).toBeUndefined();
  });

  test('can be repeated after an error of the table', async () => {
    const ids = many(5);
    memory.client.on(BatchWriteCommand).rejectsOnce(new Error('no table')).resolves({});

    await expect(remove()).rejects.toThrow('no table');
    expect(left(ids)).toEqual([]);
    expect(endUser()).toHaveProperty('deletingAt');

    expect(await remove()).toEqual({ removedRequests: 0, removedObjects: 0 });
    expect(endUser()).toBeUndefined();
  });
});
