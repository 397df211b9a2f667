import { DeleteObjectsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { removeObjects } from '../../../../core/files/bucket.ts';
import { removeFilesOf } from '../../../../core/files/request-files.ts';
import * as objectKeys from '../../../../core/object-keys.ts';
import { logger } from '../../../../core/observability.ts';
import { FILE_KINDS, filesDeletedWith, possibleFilesOf } from '../../../../core/requests/file-kinds.ts';
import { anImageRequest, aVideoRequest, REQUEST_ID, VIDEO_ID } from '../../builders/entities.ts';
import { bucket } from '../../fakes/fresh-bucket.ts';

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

    expect(await removeObjects(keys(count))).toEqual([]);
    expect(bucket.objects.size).toBe(0);
    expect(sizes()).toEqual(expected);
  });

  test('goes on with the rest when one call fails, and returns what may be left', async () => {
    given(2500);
    const [last = ''] = keys(2500).slice(-1);
    bucket.client
      .on(DeleteObjectsCommand)
      .rejectsOnce(new Error('slow down'))
      .resolvesOnce({})
      .resolves({ Errors: [{ Key: last, Code: 'InternalError' }] });

    expect(await removeObjects(keys(2500))).toEqual([...keys(1000), last]);
    expect(sizes()).toEqual([1000, 1000, 500]);
  });
});

describe('removing every file of a request', () => {
  const remove = (recorded: string[] = []) => removeFilesOf({ requestId: REQUEST_ID }, recorded);
  const prefix = `outputs/${REQUEST_ID}/`;
  const left = () => [...bucket.objects.keys()];
  const warn = jest.spyOn(logger, 'warn').mockReturnValue(undefined);
  beforeEach(() => {
    warn.mockClear();
  });

  test('takes what its record names and what nobody recorded, and nothing beside it', async () => {
    const others = [`outputs/${REQUEST_ID}0/0.png`, `outputs/${REQUEST_ID}.png`];
    for (const key of [`${prefix}0.png`, `${prefix}1.webp`, ...others]) bucket.put(key);

    expect(await remove([`${prefix}0.png`])).toEqual({ removed: 2, complete: true });

    expect(left()).toEqual(others);
    expect(bucket.client.commandCalls(ListObjectsV2Command)[0]?.args[0].input).toEqual({
      Bucket: 'bucket',
      Prefix: prefix,
    });
  });

  test('takes what its record names although a listing does not have it', async () => {
    expect(await remove([`${prefix}0.png`])).toEqual({ removed: 1, complete: true });
    expect(sizes()).toEqual([1]);
  });

  test('deletes nothing where there is nothing', async () => {
    expect(await remove()).toEqual({ removed: 0, complete: true });
    bucket.client.on(ListObjectsV2Command).resolves({});
    expect(await remove()).toEqual({ removed: 0, complete: true });

    expect(sizes()).toEqual([]);
  });

  test('is not complete when what is stored cannot be listed, takes what its record names, and says so', async () => {
    bucket.put(`${prefix}0.png`);
    bucket.client.on(ListObjectsV2Command).rejects(new Error('no bucket'));

    expect(await remove([`${prefix}0.png`])).toEqual({ removed: 1, complete: false });
    expect(left()).toEqual([]);
    expect(warn.mock.calls).toEqual([
      ['files could not be listed', { requestId: REQUEST_ID, error: new Error('no bucket') }],
    ]);
  });

  test('is not complete when one of them cannot be removed', async () => {
    for (const key of [`${prefix}0.png`, `${prefix}1.png`]) bucket.put(key);
    bucket.client
      .on(DeleteObjectsCommand)
      .resolves({ Errors: [{ Key: `${prefix}1.png`, Code: 'AccessDenied' }] });

    expect(await remove()).toEqual({ removed: 1, complete: false });
  });
});

test('the files of a request include copies of its reference videos in every container', () => {
  const clips = ['mp4', 'webm'].map((extension, index) =>
    objectKeys.clipObjectKey(VIDEO_ID, index, extension),
  );

  const files = possibleFilesOf(aVideoRequest({ clips }));

  for (const extension of ['mp4', 'mov', 'webm', 'mkv'])
    for (const index of [0, 1]) expect(files).toContain(objectKeys.clipObjectKey(VIDEO_ID, index, extension));
});

describe('the list of kinds of files', () => {
  const upload = objectKeys.uploadObjectKey('owner', 'upl_1', 'png');

  test('has every kind that the bucket has', () => {
    const prefixes = Object.entries(objectKeys).flatMap(([name, value]) =>
      name.endsWith('_PREFIX') ? [value] : [],
    );

    expect(prefixes.length).toBeGreaterThanOrEqual(3);
    expect(FILE_KINDS.map(({ prefix }) => prefix).toSorted()).toEqual(prefixes.toSorted());
  });

  test('names the files of a request of each kind, which go when it is deleted', () => {
    const clips = [objectKeys.clipObjectKey(VIDEO_ID, 0, 'mp4')];
    const outputs = [{ index: 0, objectKey: objectKeys.outputObjectKey(VIDEO_ID, 0, 'mp4') }];
    const others = ['https://example.com/uploads/a.png', `outputs/${REQUEST_ID}/0.png`];
    const files = filesDeletedWith(aVideoRequest({ clips, outputs, image: upload, referenceImages: others }));

    for (const { prefix } of FILE_KINDS)
      expect(files.filter((key) => key.startsWith(prefix))).toHaveLength(1);
    expect(files).toHaveLength(FILE_KINDS.length);
  });

  test.each(['image', 'lastFrame'])('takes an upload out of %s', (field) => {
    expect(filesDeletedWith(aVideoRequest({ [field]: upload }))).toEqual([upload]);
  });

  test.each(['referenceImages', 'referenceVideos', 'referenceAudios'])('takes uploads out of %s', (field) => {
    expect(filesDeletedWith(aVideoRequest({ [field]: ['https://example.com/a', upload] }))).toEqual([upload]);
  });

  test('leaves uploads of a request that only ended or expired', () => {
    const request = anImageRequest({ references: [upload] });

    expect(possibleFilesOf(request)).not.toContain(upload);
    expect(filesDeletedWith(request)).toEqual([upload]);
  });
});
