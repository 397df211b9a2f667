import { describe, expect, test } from '@jest/globals';
import { anImage } from '../../packages/media/test/images.ts';
import { wrongFields } from './support/answers.ts';
import { aGeneration, settled } from './support/client.ts';
import { bulkRemove, endUserPath, remove, uniqueEmail } from './support/resources.ts';
import { storedKeys } from './support/stored.ts';
import { useCaller } from './support/use-caller.ts';
import { aVideo } from './support/videos.ts';

const caller = useCaller();

interface Upload {
  uploadId: string;
  url: string;
  upload: { url: string; fields: Record<string, string> };
}

/** An upload that a finished request of an end-user names. */
const namedUpload = async (
  endUserEmail: string,
): Promise<{ requestId: string; uploadId: string; url: string }> => {
  const picture = await anImage(300, 300);
  const { body } = await caller.post<Upload>('/v1/uploads', {
    contentType: 'image/png',
    bytes: picture.length,
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(body.upload.fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(picture)]));
  await fetch(body.upload.url, { method: 'POST', body: form });
  const created = await caller.post<{ requestId: string }>(
    '/v1/generations',
    aGeneration({ model: 'xSD4.5', size: '2K', references: [body.url], endUserEmail }),
  );
  await settled(caller, created.body.requestId);
  return { requestId: created.body.requestId, uploadId: body.uploadId, url: body.url };
};

/** The fields that later creations are refused for when they name a file. */
const refusedWith = async (url: string): Promise<string[][]> => {
  const spent = (await caller.get('/v1/balance')).body;
  const answers = [
    await caller.post(
      '/v1/generations',
      aGeneration({ model: 'xSD4.5', size: '2K', references: ['https://example.com/a.png', url] }),
    ),
    await caller.post('/v1/videos', aVideo({ model: 'xW2.7S', image: url })),
    await caller.post('/v1/videos', aVideo({ model: 'xW3.0s', referenceImages: [url] })),
  ];
  expect((await caller.get('/v1/balance')).body).toEqual(spent);
  return answers.map(wrongFields);
};

describe('An upload that a request named is removed', () => {
  test.each<[string, (requestId: string, email: string) => Promise<unknown>]>([
    ['the request', (requestId) => remove(caller, `/v1/generations/${requestId}`)],
    ['many requests', (requestId) => bulkRemove(caller, [requestId])],
    ['their end-user', (_, email) => remove(caller, endUserPath(email))],
  ])('with %s, and not before', async (_, removed) => {
    const email = uniqueEmail();
    const { requestId, uploadId, url } = await namedUpload(email);
    expect(await storedKeys(caller.service, uploadId)).toHaveLength(1);

    await removed(requestId, email);

    expect(await storedKeys(caller.service, uploadId)).toEqual([]);
    expect(await storedKeys(caller.service, requestId)).toEqual([]);
    expect(await refusedWith(url)).toEqual([['references[1]'], ['image'], ['referenceImages[0]']]);
  });
});
