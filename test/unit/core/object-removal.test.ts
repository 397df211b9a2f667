import '../builders/environment.ts';
import { DeleteObjectsCommand } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { removeObjects } from '../../../core/object-removal.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';

const bucket = new MemoryBucket();
beforeEach(() => bucket.reset());

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `outputs/${index}`);
const given = (count: number): void => {
  for (const key of keys(count)) bucket.put(key);
};
const sizes = () =>
  bucket.client.commandCalls(DeleteObjectsCommand).map(({ args }) => args[0].input.Delete?.Objects?.length);

describe('removing files', () => {
  test.each([
    [0, []],
    [1, [1]],
    [1000, [1000]],
    [1001, [1000, 1]],
    [2500, [1000, 1000, 500]],
  ])('of %p takes calls of %p keys', async (count, expected) => {
    given(count);

    expect(await removeObjects(keys(count))).toBe(count);
    expect(bucket.objects.size).toBe(0);
    expect(sizes()).toEqual(expected);
  });

  test('goes on with the rest when one call fails, and counts what is gone', async () => {
    given(2500);
    bucket.client.on(DeleteObjectsCommand).rejectsOnce(new Error('slow down')).resolves({});

    expect(await removeObjects(keys(2500))).toBe(1500);
    expect(sizes()).toEqual([1000, 1000, 500]);
  });
});
