import { beforeAll, describe, expect, test } from '@jest/globals';
import { anImage } from '../../packages/media/test/images.ts';
import { aVideo as aClip } from '../../packages/media/test/videos.ts';
import { type Answer, wrongFields } from './support/answers.ts';
import { aGeneration, type Caller, newCaller, sharedService } from './support/client.ts';
import { fetchFile } from './support/files.ts';
import { entriesOf } from './support/ledger.ts';
import { anUnfilmedVideo, createVideo } from './support/videos.ts';

interface Upload {
  uploadId: string;
  url: string;
  upload: { url: string; fields: Record<string, string> };
  expiresAt: string;
}

let caller: Caller;
let stranger: Caller;
let picture: Buffer;
beforeAll(async () => {
  const service = await sharedService();
  [caller, stranger, picture] = await Promise.all([
    newCaller(service),
    newCaller(service),
    anImage(300, 300, 'png'),
  ]);
});

const announce = (body: unknown, by = caller): Promise<Answer<Upload>> => by.post('/v1/uploads', body);
const sendForm = async ({ upload }: Upload, bytes: Buffer, change?: (form: FormData) => void) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(upload.fields)) form.append(name, value);
  change?.(form);
  form.append('file', new Blob([new Uint8Array(bytes)]));
  const response = await fetch(upload.url, { method: 'POST', body: form });
  await response.arrayBuffer();
  return response.status;
};
/** An upload whose file is there. */
const uploaded = async (contentType: string, bytes: Buffer, by = caller): Promise<Upload> => {
  const { status, body } = await announce({ contentType, bytes: bytes.length }, by);
  expect(status).toBe(201);
  expect(await sendForm(body, bytes)).toBe(204);
  return body;
};

describe('An uploaded file', () => {
  test('is named by its URL for two days, at which nobody can fetch it', async () => {
    const before = Date.now();
    const upload = await uploaded('image/png', picture);

    expect((await fetchFile(upload.url)).status).toBe(403);
    expect(new URL(upload.url).search).toBe('');
    const livesMs = Date.parse(upload.expiresAt) - before;
    expect(Math.abs(livesMs - 2 * 86_400_000)).toBeLessThan(60_000);
    expect(upload.uploadId).toMatch(/^upl_/);
    expect(upload.url).not.toContain(caller.accountId);
  });

  test('is a reference of an image, a frame and a clip of a video', async () => {
    const image = await uploaded('image/png', picture);
    const clip = await uploaded('video/mp4', await aClip({ seconds: 3, framesPerSecond: 20 }));

    const generation = await caller.post(
      '/v1/generations',
      aGeneration({ model: 'xSD4.5', size: '2K', references: [image.url] }),
    );
    const filmed = await createVideo(caller, anUnfilmedVideo({ model: 'xW2.7S', image: image.url }));
    const measured = await createVideo(
      caller,
      anUnfilmedVideo({ model: 'xW3.0s', resolution: '480p', durationSec: 2, referenceVideos: [clip.url] }),
    );

    expect([generation.status, filmed.status, measured.status]).toEqual([202, 202, 202]);
    // 2 s of output and 3 s of the clip, at 3 xTokens a second.
    expect((await entriesOf(caller, measured.body.requestId)).at(-1)).toEqual(['generation', 15]);
  });

  test('is taken with any signature and by each name of this machine, and read back without one', async () => {
    const { url } = await uploaded('image/png', picture);
    const references = [`${url}?Expires=1&Signature=x`, url.replace('127.0.0.1', 'localhost'), `${url}#x`];
    const said = aGeneration({ model: 'xSD4.5', size: '2K', references });

    const { status, body } = await caller.post<{ requestId: string }>('/v1/generations', said);

    expect(status).toBe(202);
    const read = await caller.get<{ input: { references: string[] } }>(
      `/v1/generations/${body.requestId}?include=input`,
    );
    expect(read.body.input.references).toEqual([url, url, url]);
  });

  test('is of no use to another account, which is debited nothing', async () => {
    const { url } = await uploaded('image/png', picture);
    const create = (reference: string) =>
      stranger.post('/v1/generations', aGeneration({ model: 'xSD4.5', size: '2K', references: [reference] }));

    expect(wrongFields(await create(url))).toEqual(['references[0]']);
    expect(wrongFields(await create(url.replace('/uploads/', '/%75ploads//')))).toEqual(['references[0]']);
    const video = await createVideo(
      stranger,
      anUnfilmedVideo({ model: 'xW3.0s', referenceVideos: [url], referenceImages: [url] }),
    );
    expect(wrongFields(video)).toEqual(['referenceImages[0]', 'referenceVideos[0]']);
    expect((await stranger.get<{ xTokens: number }>('/v1/balance')).body.xTokens).toBe(10_000);
  });
});

describe('A form takes only the file it was made for', () => {
  test.each([
    ['another size', Buffer.alloc(10), undefined, 400],
    ['a longer file', Buffer.alloc(4096), undefined, 400],
    ['another key', undefined, (form: FormData) => form.set('key', 'outputs/x/0.png'), 403],
    ['another type', undefined, (form: FormData) => form.set('Content-Type', 'text/html'), 403],
  ])('%s is refused', async (_, bytes, change, status) => {
    const { body } = await announce({ contentType: 'image/png', bytes: picture.length });

    expect(await sendForm(body, bytes ?? picture, change)).toBe(status);
    expect((await fetchFile(body.url)).status).toBe(403);
  });
});

// The rule of each field is tested in test/unit/functions/create-upload.test.ts.
describe('An upload is refused', () => {
  test.each([
    [{}, ['bytes', 'contentType']],
    [{ contentType: 'video/webm', bytes: 10 }, ['contentType']],
    [{ contentType: 'image/svg+xml', bytes: '10' }, ['bytes', 'contentType']],
    [{ contentType: 'video/mp4', bytes: 100 * 1024 * 1024 + 1 }, ['bytes']],
    [{ contentType: 'video/mp4', bytes: 10, name: 'a.mp4' }, ['name']],
  ])('for %j', async (body, fields) => {
    expect(wrongFields(await announce(body))).toEqual(fields);
  });
});
