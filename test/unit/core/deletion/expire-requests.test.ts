import { DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { expireRequests } from '../../../../core/deletion/expire-requests.ts';
import { outputObjectKey } from '../../../../core/object-keys.ts';
import { logger } from '../../../../core/observability.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { dueListing, requestKey } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import {
  anImageRequest,
  aStoredVideo,
  aVideoRequest,
  putRequest,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';
import { aRequestId } from '../../builders/request-ids.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { metricsCounted } from '../../fakes/metrics.ts';

const logged = jest.spyOn(logger, 'error');
let counted = metricsCounted();
const ANOTHER = 'outputs/another';
beforeEach(() => {
  logged.mockReset();
  counted = metricsCounted();
  bucket.put(ANOTHER);
});

const at = (seconds: number): string => atSeconds(seconds).toISOString();
const fileOf = (requestId: string, index = 0): string => outputObjectKey(requestId, index, 'png');
/** Puts a request with one file that expires 100 s after `NOW`, due at that time. */
const given = (requestId = REQUEST_ID, overrides: Partial<ImageRequest> = {}): string => {
  const outputs = [{ index: 0, objectKey: fileOf(requestId) }];
  const expiresAt = at(100);
  putRequest(memory, anImageRequest({ requestId, status: 'succeeded', outputs, expiresAt, ...overrides }));
  memory.patch(requestKey(requestId), dueListing('EXPIRE', requestId, expiresAt));
  bucket.put(fileOf(requestId));
  return requestId;
};
const expire = (seconds: number, ids = [REQUEST_ID]) =>
  expireRequests(ids, new StoppedClock(atSeconds(seconds)));
const record = (requestId = REQUEST_ID) => memory.get(requestKey(requestId));
const files = (): string[] => [...bucket.objects.keys()].filter((key) => key !== ANOTHER);
const removals = (): number[] =>
  bucket.client
    .commandCalls(DeleteObjectsCommand)
    .map(({ args }) => args[0].input.Delete?.Objects?.length ?? 0);
/** Refuses to remove these files, this many times. */
const keep = (keys: string[], times: number): void => {
  const refusing = bucket.client.on(DeleteObjectsCommand);
  for (let time = 0; time < times; time++)
    refusing.resolvesOnce({ Errors: keys.map((Key) => ({ Key, Code: 'InternalError' })) });
  refusing.resolves({});
};

describe('expiring a batch', () => {
  test('removes its files in one call, marks its records and takes them off the list', async () => {
    const ids = Array.from({ length: 100 }, (_, index) => given(aRequestId(atSeconds(index - 200))));
    const before = structuredClone(record(ids[7]));

    await expire(100, ids);

    expect(files()).toEqual([]);
    expect(bucket.objects.size).toBe(1);
    expect(removals()).toEqual([100]);
    for (const id of ids) expect(record(id)).toMatchObject({ status: 'succeeded', expiredAt: at(100) });
    const { GSI1PK: _, GSI1SK: __, ...rest } = before ?? {};
    expect(record(ids[7])).toEqual({ ...rest, expiredAt: at(100) });
  });

  test('reads each record and writes it once, and lists no files', async () => {
    given();

    await expire(100);

    expect(memory.calls()).toEqual({ GetCommand: 1, UpdateCommand: 1 });
    expect(bucket.client.commandCalls(ListObjectsV2Command)).toHaveLength(0);
  });

  test('removes files that an interrupted storing left unrecorded, under any name that they can have', async () => {
    given(REQUEST_ID, { images: 3 });
    for (const name of ['1.png', '1.webp', '2.jpg']) bucket.put(`outputs/${REQUEST_ID}/${name}`);
    putRequest(memory, aVideoRequest({ status: 'succeeded', outputs: [{ index: 0 }], expiresAt: at(100) }));
    memory.patch(requestKey(VIDEO_ID), dueListing('EXPIRE', VIDEO_ID, at(100)));
    for (const extension of ['mp4', 'mov', 'webm', 'mkv'])
      bucket.put(outputObjectKey(VIDEO_ID, 0, extension));

    await expire(100, [REQUEST_ID, VIDEO_ID]);

    expect(files()).toEqual([]);
  });

  test('removes no file more than that of a video whose file is recorded', async () => {
    putRequest(memory, aVideoRequest({ status: 'succeeded', outputs: [aStoredVideo()], expiresAt: at(100) }));
    memory.patch(requestKey(VIDEO_ID), dueListing('EXPIRE', VIDEO_ID, at(100)));

    await expire(100, [VIDEO_ID]);

    expect(removals()).toEqual([1]);
    expect(record(VIDEO_ID)).toHaveProperty('expiredAt');
  });

  test('twice, or beside itself, expires each request once', async () => {
    given();

    await Promise.all([expire(100), expire(101), expire(102)]);
    await expire(200);

    expect(record()?.expiredAt).toBe(at(100));
    expect(record()).not.toHaveProperty('GSI1PK');
  });

  test('goes on after it died between its files and its records', async () => {
    given();
    memory.client
      .on(UpdateCommand)
      .rejectsOnce(new Error('the function died'))
      .callsFake(async (input) => memory.update(input));
    await expire(100);
    expect(files()).toEqual([]);
    expect(record()).not.toHaveProperty('expiredAt');

    await expire(160);

    expect(record()).toMatchObject({ expiredAt: at(160) });
  });
});

describe('a request of a batch is left alone', () => {
  test.each<[string, number, Partial<ImageRequest>, object]>([
    ['a millisecond before its time, whatever the list said', 99.999, {}, {}],
    ['when it expired already', 200, { expiredAt: at(100) }, { GSI1PK: undefined, GSI1SK: undefined }],
    ['until its webhook is started', 200, {}, dueListing('CHECK', REQUEST_ID, at(60))],
    ['when it is queued', 200, { status: 'queued' }, {}],
    ['when it is processing', 200, { status: 'processing' }, {}],
    ['when it failed', 200, { status: 'failed' }, {}],
  ])('%s', async (_, seconds, overrides, dueKey) => {
    given(REQUEST_ID, overrides);
    memory.patch(requestKey(REQUEST_ID), dueKey);
    const before = structuredClone(record());

    await expire(seconds);

    expect(record()).toEqual(before);
    expect(files()).toEqual([fileOf(REQUEST_ID)]);
    expect(removals()).toEqual([]);
  });

  test('when it was deleted, also while this runs', async () => {
    bucket.put(fileOf(REQUEST_ID));
    await expire(200);
    expect(files()).toHaveLength(1);

    given();
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      memory.remove(requestKey(REQUEST_ID));
      return {};
    });
    await expire(200);
    expect(record()).toBeUndefined();
  });
});

describe('a request whose files could not be removed', () => {
  test('is due again after 1 min, doubling to 1 h, until they are', async () => {
    given();
    keep([fileOf(REQUEST_ID)], 9);
    const pauses = [1, 2, 4, 8, 16, 32, 60, 60, 60];

    let now = 100;
    for (const [index, minutes] of pauses.entries()) {
      await expire(now);
      now += minutes * 60;
      expect(record()).toMatchObject({
        ...dueListing('EXPIRE', REQUEST_ID, at(now)),
        removalFailures: index + 1,
      });
      expect(record()).not.toHaveProperty('expiredAt');
    }
    await expire(now);

    expect(record()).toMatchObject({ expiredAt: at(now) });
    expect(record()).not.toHaveProperty('removalFailures');
  });

  test('is counted for operators from the sixth failure on, half an hour after the first', async () => {
    given();
    keep([fileOf(REQUEST_ID)], 6);

    for (const minutes of [0, 1, 3, 7, 15]) await expire(100 + minutes * 60);
    expect(counted()).toEqual([]);

    await expire(100 + 31 * 60);
    expect(counted()).toEqual([['FilesNotRemoved', {}]]);
  });

  test('holds up no other of its batch', async () => {
    const [stuck = '', free = ''] = [given(aRequestId(atSeconds(-2))), given(aRequestId(atSeconds(-1)))];
    keep([fileOf(stuck)], 1);

    await expire(100, [stuck, free]);

    expect(record(stuck)).toMatchObject({ removalFailures: 1 });
    expect(record(free)).toMatchObject({ expiredAt: at(100) });
  });

  test('because the call failed as a whole is due again with all others', async () => {
    const ids = [given(aRequestId(atSeconds(-2))), given(aRequestId(atSeconds(-1)))];
    bucket.client.on(DeleteObjectsCommand).rejects(new Error('no bucket'));

    await expire(100, ids);

    for (const id of ids) expect(record(id)).toMatchObject({ removalFailures: 1, GSI1SK: at(160) });
  });
});

test('a request that cannot be read, parsed or marked stays due, is logged, and holds up no other', async () => {
  const ids = [-4, -3, -2, -1].map((seconds) => given(aRequestId(atSeconds(seconds))));
  const [unread = '', malformed = '', unmarked = '', free = ''] = ids;
  memory.patch(requestKey(malformed), { kind: 'sound' });
  const stuck = () => [unread, malformed, unmarked].map((id) => structuredClone(record(id)));
  const before = stuck();
  const error = new Error('no table');
  memory.client.on(GetCommand, { Key: requestKey(unread) }, false).rejects(error);
  memory.client.on(UpdateCommand, { Key: requestKey(unmarked) }, false).rejects(error);

  await expire(100, ids);

  expect(stuck()).toEqual(before);
  expect(record(free)).toMatchObject({ expiredAt: at(100) });
  expect(logged.mock.calls).toEqual(
    [unread, malformed, unmarked].map((requestId) => [
      'an expired request could not be handled',
      { requestId, error: requestId === malformed ? expect.any(Error) : error },
    ]),
  );
});
