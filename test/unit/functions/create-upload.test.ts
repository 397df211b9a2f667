import '../builders/environment.ts';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { inFlightKey } from '../../../core/table/keys.ts';
import { ownerOf } from '../../../core/uploads/upload-urls.ts';
import { handler } from '../../../functions/api/create-upload.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID } from '../builders/entities.ts';
import { RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';

const world = new RouteWorld();
beforeEach(() => {
  world.reset();
  stopTime(NOW);
});
afterEach(() => void jest.useRealTimers());

interface Answer {
  uploadId: string;
  url: string;
  upload: { url: string; fields: Record<string, string> };
  expiresAt: string;
}
const upload = async (body: Record<string, unknown>): Promise<Answer> => {
  const answer = await world.call(handler, { body });
  expect(answer.status).toBe(201);
  return answer.body as unknown as Answer;
};

describe('POST /v1/uploads', () => {
  test.each([
    ['image/jpeg', 'jpg', 30 * 1024 * 1024],
    ['image/png', 'png', 1],
    ['image/webp', 'webp', 10],
    ['video/mp4', 'mp4', 100 * 1024 * 1024],
    ['video/quicktime', 'mov', 10],
    ['video/webm', 'webm', 10],
  ])('signs a form for %s, its key and its exact size', async (contentType, extension, bytes) => {
    const { uploadId, url, upload: form, expiresAt } = await upload({ contentType, bytes });

    const key = `uploads/${ownerOf(ACCOUNT_ID)}/${uploadId}.${extension}`;
    expect(form.fields).toMatchObject({ key, 'Content-Type': contentType });
    const policy = JSON.parse(Buffer.from(form.fields.Policy ?? '', 'base64').toString());
    expect(policy.conditions).toEqual(
      expect.arrayContaining([
        { key },
        { bucket: 'bucket' },
        { 'Content-Type': contentType },
        ['content-length-range', bytes, bytes],
      ]),
    );
    expect(Date.parse(policy.expiration) - NOW.getTime()).toBe(15 * 60 * 1000);
    expect(Date.parse(expiresAt) - NOW.getTime()).toBe(2 * 86_400_000);
    expect(url.startsWith(`https://files.example.com/${key}?Expires=${Date.parse(expiresAt) / 1000}&`)).toBe(
      true,
    );
  });

  test('leaves nothing in the table but the count of the hour', async () => {
    await upload({ contentType: 'image/png', bytes: 10 });

    const places = inFlightKey('uploads', `ACCOUNT#${ACCOUNT_ID}`);
    expect(world.memory.get(places)).toMatchObject({ spent: 1 });
  });
});
