import { describe, expect, test } from '@jest/globals';
import { requestKey } from '../../../core/table/keys.ts';
import { handler as edit } from '../../../functions/api/edit-openai-image.ts';
import { anImage } from '../../../packages/media/test/images.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { BODY, useOpenAiCalls } from './openai-calls.ts';

const { memory, bucket, calls } = useOpenAiCalls();

const URL_1 = 'https://images.example.com/1.png';
const headers = { 'content-type': 'application/json; charset=utf-8' };
const dataUrl = (bytes: Buffer, type = 'image/png') => `data:${type};base64,${bytes.toString('base64')}`;

describe('POST /openai/v1/images/edits with JSON', () => {
  test('takes URLs, and the files of data URLs, in their order', async () => {
    const png = await anImage(300, 300, 'png');
    const images = [{ image_url: URL_1 }, { image_url: dataUrl(png) }];
    const { status, requestId } = await calls.edit(
      { headers, body: { ...BODY, images } },
      { endsAfterSeconds: 1 },
    );

    expect(status).toBe(200);
    const { references } = memory.get(requestKey(requestId)) as { references: string[] };
    const uploads = [...bucket.objects].filter(([key]) => key.startsWith('uploads/'));
    expect(uploads).toEqual([
      [expect.stringMatching(/\.png$/), expect.objectContaining({ bytes: png, contentType: 'image/png' })],
    ]);
    expect(references).toEqual([URL_1, expect.stringContaining(uploads[0]?.[0] ?? '')]);
  });

  test('takes a file of 3 MiB', async () => {
    const file = Buffer.concat([await anImage(300, 300, 'png'), Buffer.alloc(3 * 1024 * 1024)]);
    const body = { ...BODY, images: [{ image_url: dataUrl(file) }] };

    expect((await calls.edit({ headers, body }, { endsAfterSeconds: 1 })).status).toBe(200);
  });

  test.each<[string, object, string]>([
    ['no images', {}, 'images'],
    ['an empty list', { images: [] }, 'images'],
    ['a text in place of the list', { images: URL_1 }, 'images'],
    ['a text in place of an image', { images: [URL_1] }, 'images'],
    ['a file of theirs', { images: [{ file_id: 'file-1' }] }, 'images'],
    ['more images than any model takes', { images: Array(17).fill({ image_url: URL_1 }) }, 'images'],
    ['more images than the model takes', { images: Array(4).fill({ image_url: URL_1 }) }, 'image'],
    ['a data URL of text', { images: [{ image_url: dataUrl(Buffer.from('hello')) }] }, 'image'],
    ['an empty data URL', { images: [{ image_url: 'data:image/png;base64,' }] }, 'image'],
    ['a URL of another kind', { images: [{ image_url: 'ftp://images.example.com/1.png' }] }, 'image'],
    ['a mask', { images: [{ image_url: URL_1 }], mask: { image_url: URL_1 } }, 'mask'],
  ])('refuses %s, and stores nothing', async (_, more, param) => {
    const { headers: ofCaller } = await aCaller(memory);
    const event = anApiEvent({ headers: { ...headers, ...ofCaller }, body: { ...BODY, ...more } });
    const { status, body } = read(await edit(event, aLambdaContext()));

    expect([status, body.error.param]).toEqual([400, param]);
    expect([memory.transactions, bucket.objects.size]).toEqual([[], 0]);
  });
});
