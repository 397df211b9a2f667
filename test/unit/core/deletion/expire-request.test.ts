import '../../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  expireRequest,
  FilesRemainError,
  NotExpiredYetError,
} from '../../../../core/deletion/expire-request.ts';
import type { ImageRequest } from '../../../../core/requests/request-rules.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest, aStoredOutput, putRequest, REQUEST_ID } from '../../builders/entities.ts';
import { MemoryBucket } from '../../fakes/memory-bucket.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const bucket = new MemoryBucket();
beforeEach(() => {
  memory.reset();
  bucket.reset();
  given();
});

/** A request with two files that expire 100 s after `NOW`. */
const given = (overrides: Partial<ImageRequest> = {}): void => {
  const outputs = [aStoredOutput(0), { index: 1 }, aStoredOutput(2)];
  const expiresAt = atSeconds(100).toISOString();
  putRequest(memory, anImageRequest({ status: 'succeeded', outputs, expiresAt, ...overrides }));
  for (const { objectKey } of outputs) if (objectKey) bucket.put(objectKey);
  bucket.put('outputs/another');
};
const expire = (seconds: number) => expireRequest(REQUEST_ID, new StoppedClock(atSeconds(seconds)));
const record = () => memory.get(requestKey(REQUEST_ID));
const untouched = () => {
  expect(bucket.objects.size).toBe(3);
  expect(record()?.expiredAt).toBeUndefined();
};

describe('expiring a request', () => {
  test('removes its files and marks its record, which is otherwise unchanged', async () => {
    const before = structuredClone(record());

    await expire(100);

    expect([...bucket.objects.keys()]).toEqual(['outputs/another']);
    expect(record()).toEqual({ ...before, expiredAt: atSeconds(100).toISOString() });
  });

  test('is refused a millisecond too early', async () => {
    await expect(expire(99.999)).rejects.toThrow(NotExpiredYetError);
    untouched();
  });

  test('a second time does nothing', async () => {
    await expire(100);
    bucket.client.resetHistory();

    await expire(200);

    expect(bucket.client.calls()).toHaveLength(0);
    expect(record()).toMatchObject({ expiredAt: atSeconds(100).toISOString() });
  });

  test.each(['queued', 'processing', 'failed'] as const)('leaves one that is %s alone', async (status) => {
    given({ status });

    await expire(1000);

    untouched();
  });

  test('does nothing for one that was deleted', async () => {
    memory.reset();

    await expire(1000);

    expect(bucket.objects.size).toBe(3);
  });

  test('removes files that were not recorded, and marks a request without files', async () => {
    given({ outputs: [] });
    await expire(100);
    expect([...bucket.objects.keys()]).toEqual(['outputs/another']);
    expect(record()).toHaveProperty('expiredAt');

    given({ outputs: [] });
    bucket.reset();
    await expire(100);
    expect(record()).toHaveProperty('expiredAt');
  });

  test('throws while files remain, and succeeds once they are removed', async () => {
    const [failed] = [aStoredOutput(0).objectKey];
    bucket.client
      .on(DeleteObjectsCommand)
      .resolvesOnce({ Errors: [{ Key: failed, Code: 'InternalError' }] })
      .rejectsOnce(new Error('no bucket'))
      .resolves({});

    await expect(expire(100)).rejects.toThrow(FilesRemainError);
    await expect(expire(160)).rejects.toThrow(FilesRemainError);
    expect(record()?.expiredAt).toBeUndefined();
    await expire(280);
    expect(record()).toMatchObject({ expiredAt: atSeconds(280).toISOString() });
  });

  test('does not bring back one that was deleted', async () => {
    bucket.client.on(DeleteObjectsCommand).callsFake(async () => {
      memory.remove(requestKey(REQUEST_ID));
      return {};
    });

    await expire(100);

    expect(record()).toBeUndefined();
  });
});
