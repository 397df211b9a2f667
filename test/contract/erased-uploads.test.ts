import { describe, expect, test } from '@jest/globals';
import { anImage } from '../../packages/media/test/images.ts';
import { aGeneration, settled } from './support/client.ts';
import { bulkRemove, endUserPath, remove, uniqueEmail } from './support/resources.ts';
import { storedKeys } from './support/stored.ts';
import { useCaller } from './support/use-caller.ts';

const caller = useCaller();

interface Upload {
  uploadId: string;
  url: string;
  upload: { url: string; fields: Record<string, string> };
}

/** An upload that a finished request of an end-user names. */
const namedUpload = async (endUserEmail: string): Promise<{ requestId: string; uploadId: string }> => {
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
  return { requestId: created.body.requestId, uploadId: body.uploadId };
};

describe('An upload that a request named is removed', () => {
  test.each<[string, (requestId: string, email: string) => Promise<unknown>]>([
    ['the request', (requestId) => remove(caller, `/v1/generations/${requestId}`)],
    ['many requests', (requestId) => bulkRemove(caller, [requestId])],
    ['their end-user', (_, email) => remove(caller, endUserPath(email))],
  ])('with %s, and not before', async (_, removed) => {
    const email = uniqueEmail();
    const { requestId, uploadId } = await namedUpload(email);
    expect(await storedKeys(caller.service, uploadId)).toHaveLength(1);

    await removed(requestId, email);

    expect(await storedKeys(caller.service, uploadId)).toEqual([]);
    expect(await storedKeys(caller.service, requestId)).toEqual([]);
  });
});
