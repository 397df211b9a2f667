import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { inFlightKey } from '../../../core/table/keys.ts';
import { ownerOf } from '../../../core/uploads/own-inputs.ts';
import { handler } from '../../../functions/api/create-upload.ts';
import { NOW } from '../builders/clocks.ts';
import { ACCOUNT_ID } from '../builders/entities.ts';
import { withEnvironment } from '../builders/environment.ts';
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
    ['audio/mpeg', 'mp3', 15 * 1024 * 1024],
    ['audio/wav', 'wav', 10],
    ['image/gif', 'gif', 10],
    ['image/heic', 'heic', 10],
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
    // A handle: nothing can be fetched without a signature.
    expect(url).toBe(`https://files.example.com/${key}`);
  });

  test.each([
    ['no type', { bytes: 10 }, { contentType: 'is required' }],
    ['no size', { contentType: 'image/png' }, { bytes: 'is required' }],
    [
      'a size that is not whole',
      { contentType: 'image/png', bytes: 1.5 },
      { bytes: 'must be a whole number' },
    ],
    ['an empty file', { contentType: 'image/png', bytes: 0 }, { bytes: 'must be at least 1' }],
    [
      'a larger image than is taken',
      { contentType: 'image/png', bytes: 30 * 1024 * 1024 + 1 },
      { bytes: 'must be at most 31457280 for image/png' },
    ],
  ])('refuses %s on its field', async (_, body, fields) => {
    const answer = await world.call(handler, { body });

    expect([answer.status, answer.body.error.fields]).toEqual([400, expect.objectContaining(fields)]);
  });

  const OFFERED = (routes: unknown) => ({ MODEL_ROUTES: JSON.stringify(routes) });
  const WAN = { provider: 'modelstudio', upstreamModel: 'wan3.0-video' };
  const SEEDREAM = { provider: 'modelark', upstreamModel: 'seedream-4-5-251128' };
  test.each([
    ['video/webm', {}, 400],
    ['image/avif', {}, 400],
    ['audio/mpeg', OFFERED({ 'xSD4.5': SEEDREAM }), 400],
    ['video/mp4', OFFERED({ 'xSD4.5': SEEDREAM }), 400],
    ['image/gif', OFFERED({ 'xSD4.5': SEEDREAM }), 201],
    ['image/gif', OFFERED({ 'xW3.0s': WAN }), 400],
    ['audio/mpeg', OFFERED({ 'xW3.0s': WAN }), 201],
    ['image/gif', OFFERED({ 'xW3.0s': [WAN, { ...WAN, upstreamModel: 'unknown' }] }), 201],
    ['image/png', OFFERED({ 'xZI1.0Pro': SEEDREAM }), 400],
  ])(
    'takes a type that a configured route takes, and no other: %s with %j: %p',
    async (contentType, routes, status) => {
      await withEnvironment(routes, async () => {
        const answer = await world.call(handler, { body: { contentType, bytes: 10 } });

        expect(answer.status).toBe(status);
        if (status === 400) expect(answer.body.error.fields.contentType).toMatch(/^must be one of/);
      });
    },
  );

  test('is 402 with a balance of 0, and signs nothing', async () => {
    const send = (balanceThousandths: number) =>
      world.call(
        handler,
        { body: { contentType: 'image/png', bytes: 10 } },
        { account: { balanceThousandths } },
      );

    const refused = await send(0);
    expect([refused.status, refused.body.error.code]).toEqual([402, 'payment_required']);
    expect((await send(1)).status).toBe(201);
  });

  const SLOTS = inFlightKey('uploads', `ACCOUNT#${ACCOUNT_ID}`);
  const hour = Math.floor(NOW.getTime() / 3_600_000);
  test.each([
    ['60 in an hour', undefined, 60],
    ['16 more for each creation accepted in it', { hour, clips: 2, filter: 2 }, 92],
    ['60, whatever was created an hour ago', { hour: hour - 1, clips: 2, filter: 2 }, 60],
  ])('signs %s, then answers 429', async (_, earnedWork, most) => {
    const send = () =>
      world.call(
        handler,
        { body: { contentType: 'image/png', bytes: 10 } },
        { account: earnedWork && { earnedWork } },
      );
    world.memory.put(SLOTS, { spentHour: hour, spent: most - 1 });

    expect((await send()).status).toBe(201);
    expect((await send()).status).toBe(429);
  });

  test('has the slot of a process that died again after 30 s', async () => {
    const held = { holder: 'x', heldUntil: NOW.getTime() + 1 };
    const slots = Array.from({ length: 10 }, (_, index) => [`slot${index}`, held]);
    world.memory.put(SLOTS, Object.fromEntries(slots));
    const send = () => world.call(handler, { body: { contentType: 'image/png', bytes: 10 } });
    expect((await send()).status).toBe(429);

    const seen: unknown[] = [];
    world.memory.patch(SLOTS, { slot3: { ...held, heldUntil: NOW.getTime() } });
    world.memory.beforeCall = () => seen.push(world.memory.get(SLOTS)?.slot3);
    expect((await send()).status).toBe(201);
    expect(seen).toContainEqual({ holder: expect.any(String), heldUntil: NOW.getTime() + 30_000 });
  });

  test('leaves nothing in the table but the count of the hour', async () => {
    await upload({ contentType: 'image/png', bytes: 10 });

    const slots = inFlightKey('uploads', `ACCOUNT#${ACCOUNT_ID}`);
    expect(world.memory.get(slots)).toMatchObject({ spent: 1 });
  });
});
