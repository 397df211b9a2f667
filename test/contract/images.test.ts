import { beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyRecord, accepted, settled } from './support/client.ts';
import { fetchFile, measure } from './support/files.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

/** Fetches the files of a succeeded record. */
const fetchImages = (record: AnyRecord) =>
  Promise.all(
    (record.images ?? []).map(async ({ url, size }) => {
      const file = await fetchFile(url);
      const { size: stored, format } = await measure(file);
      return { size, stored, format, type: file.type };
    }),
  );

/**
 * A request of each model and kind. All are created at once, as they mostly wait. Sizes are tested in test/unit/core/creation and
 * test/unit/providers.
 */
const SINGLE: [model: string, body: Record<string, unknown>, size: string, type: string][] = [
  ['xSD4.5', {}, '2048x2048', 'image/jpeg'],
  ['xSD4.5', { size: '7680x480' }, '7680x480', 'image/jpeg'],
  ['xSD5Pro', { size: '1.5K', aspectRatio: 'landscape' }, '1920x1080', 'image/jpeg'],
  ['xQI3Pro', { size: '512x512' }, '512x512', 'image/png'],
  ['xZI1.0Pro', { size: '256x2560' }, '256x2560', 'image/png'],
];
const SEVERAL: [model: string, body: Record<string, unknown>, count: number][] = [
  ['xSD4.5', { n: 3 }, 3],
  ['xQI3Pro', { n: 4, size: '512x512' }, 4],
  ['xSD4.5', { sequential: 'auto', sequentialOptions: { maxImages: 4 } }, 4],
];

describe('An image is a file of the requested size', () => {
  const ids = new Map<unknown, string>();
  beforeAll(async () => {
    const create = async ([model, body]: [string, Record<string, unknown>, ...unknown[]]) => {
      ids.set(body, (await accepted(caller, { model, ...body })).requestId);
    };
    await Promise.all([...SINGLE, ...SEVERAL].map(create));
  });
  const recordOf = (body: unknown) => settled(caller, ids.get(body) ?? '');

  test.each(SINGLE)('%s with %j gives %s', async (_model, body, size, type) => {
    const record = await recordOf(body);

    expect(record.status).toBe('succeeded');
    const format = type.slice('image/'.length);
    expect(await fetchImages(record)).toEqual([{ size, stored: size, format, type }]);
  });

  test.each(SEVERAL)('%s with %j gives %i images', async (_model, body, count) => {
    const { requestId, ...record } = await recordOf(body);

    expect(record.images?.map(({ id }) => id)).toEqual(
      Array.from({ length: count }, (_, index) => `${requestId}_${index}`),
    );
    const files = await fetchImages({ requestId, ...record });
    expect(files.map(({ stored }) => stored)).toEqual(files.map(({ size }) => size));
  });
});

describe('The file of an image', () => {
  let record: AnyRecord;
  beforeAll(async () => {
    record = await settled(caller, (await accepted(caller, {})).requestId);
  });

  test('says that it is shown as its type, under the id of its item, and as nothing else', async () => {
    const { requestId, images } = record;

    const { disposition, typeOptions } = await fetchFile(images?.[0]?.url);

    expect(disposition).toMatch(new RegExp(`^inline; filename="${requestId}_0\\.(jpg|png)"$`));
    expect(typeOptions).toBe('nosniff');
  });

  test('has a signed URL that is signed afresh on every read, expires at expiresAt, to the second and never later, and cannot be altered', async () => {
    const { requestId, images = [], finishedAt = '' } = record;
    const [image] = images;
    const [again] = (await settled(caller, requestId)).images ?? [];

    expect(again?.expiresAt).toBe(image?.expiresAt);
    expect(again?.url).not.toBe(image?.url);

    const expiresAt = Date.parse(image?.expiresAt ?? '');
    expect(expiresAt - Date.parse(finishedAt)).toBe(82_800_000);
    expect(Number(new URL(image?.url ?? '').searchParams.get('Expires'))).toBe(Math.floor(expiresAt / 1000));
    // What the distribution checks is tested in packages/local-aws/test/gateway/delivery.test.ts.
    const url = new URL(image?.url ?? '');
    const later = new URL(url);
    later.searchParams.set('Expires', '4102444800');
    const unsigned = new URL(url);
    unsigned.searchParams.delete('Signature');
    const files = await Promise.all([url, later, unsigned].map(fetchFile));
    expect(files.map(({ status }) => status)).toEqual([200, 403, 403]);
  });
});
