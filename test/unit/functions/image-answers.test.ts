import { describe, expect, jest, test } from '@jest/globals';
import type { ImageRequest, StoredOutput } from '../../../core/requests/request-rules.ts';
import { imageHeaders, imagesResponse } from '../../../functions/openai/answer.ts';
import { anImageRequest } from '../builders/entities.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { world, bucket } = useOpenAiCalls();

const output = (index: number, sizeBytes?: number): StoredOutput => {
  const objectKey = `outputs/${index}.png`;
  bucket.put(objectKey);
  return { index, objectKey, ...(sizeBytes !== undefined && { sizeBytes }) };
};
const answerOf = async (
  outputs: StoredOutput[],
  responseFormat?: 'b64_json' | 'url',
  more: Partial<ImageRequest> = {},
) => {
  const request = anImageRequest({
    ...{ status: 'succeeded', outputs, expiresAt: world.inSeconds(60), ...more },
  });
  const told = { responseFormat, ignored: [], endOfModel: {} };
  const { body } = await imagesResponse(request, told, world.now);
  return JSON.parse(body).data as { b64_json?: string; url?: string }[];
};
/** Which of the images came as bytes. */
const inBytes = async (...sizes: (number | undefined)[]): Promise<boolean[]> =>
  (await answerOf(sizes.map((size, index) => output(index, size)))).map((image) => 'b64_json' in image);

describe('an answer with images', () => {
  test.each<[(number | undefined)[], boolean[]]>([
    [[15_000_000], [true]],
    [[15_000_001], [false]],
    [
      [7_500_000, 7_500_000],
      [true, true],
    ],
    [
      [7_500_000, 7_500_001],
      [true, false],
    ],
    [
      [15_000_001, 3, 14_999_997],
      [false, true, true],
    ],
    [
      [undefined, 3],
      [false, true],
    ],
  ])('has room for 20,000,000 characters of base64: files of %j bytes', async (sizes, isIn) => {
    expect(await inBytes(...sizes)).toEqual(isIn);
  });

  test('has the form that was chosen, and each image by its URL where that is bytes and did not fit', async () => {
    const forms = async (format?: 'b64_json' | 'url') =>
      (await answerOf([output(0, 3), output(1, 20_000_000)], format)).map((image) => Object.keys(image));

    expect(await forms()).toEqual([['b64_json', 'url'], ['url']]);
    expect(await forms('b64_json')).toEqual([['b64_json'], ['url']]);
    expect(await forms('url')).toEqual([['url'], ['url']]);
  });

  test('leaves out what was not stored', async () => {
    expect(await answerOf([{ index: 0 }, output(1, 3)])).toHaveLength(1);
  });

  test.each([[{ expiresAt: undefined }], [{ expiresAt: '2020-01-01T00:00:00.000Z' }]])(
    'is none where its files are gone: %j',
    async (more) => {
      await expect(answerOf([output(0, 3)], 'url', more as Partial<ImageRequest>)).rejects.toMatchObject({
        code: 'not_found',
      });
    },
  );

  test('is none of a request that failed, which tells why', async () => {
    const failed = { status: 'failed' as const };
    const why = { code: 'provider_error' as const, message: 'why' };

    await expect(answerOf([], 'url', { ...failed, error: why })).rejects.toMatchObject(why);
    await expect(answerOf([], 'url', failed)).rejects.toMatchObject({ code: 'internal_error' });
  });

  test('waits 5 s for the file of an image', async () => {
    const limited = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());

    await expect(answerOf([output(0, 3)])).rejects.toThrow();
    expect(limited.mock.calls).toEqual([[5_000]]);
    limited.mockRestore();
  });
});

test('the headers of images name the parameters without effect, if there are any', () => {
  const Location = 'https://api.example.com/v1/generations/img_1';

  expect(imageHeaders('img_1', { ignored: [], endOfModel: { Sunset: 'soon' } })).toEqual({
    ...{ Sunset: 'soon', Location },
  });
  expect(imageHeaders('img_1', { ignored: ['quality', 'style'], endOfModel: {} })).toEqual({
    ...{ Location, 'X-Ignored-Parameters': 'quality, style' },
  });
});
