import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { wrongFields } from '../contract/support/answers.ts';
import { type AnyRecord, eventually, unique } from '../contract/support/client.ts';
import { OWN_IMAGES, OWN_VIDEOS } from '../unit/builders/own-models.ts';
import { useOwnRun } from './own-run.ts';

/** A model of another provider, which needs a first frame. */
const ANIMATED = {
  ...{ id: 'acme-animator', type: 'video', resolutions: ['720p'], defaultResolution: '720p' },
  durationSec: { min: 2, max: 5, default: 2 },
  requiresImage: true,
  routes: { provider: 'fal', upstreamModel: 'fal-ai/wan/v2.7' },
  rate: { perSecond: { '720p': 3 } },
};
const run = useOwnRun({ context: { models: JSON.stringify([OWN_IMAGES, OWN_VIDEOS, ANIMATED]) } });

const PICTURE = 'https://example.com/picture.png';
const OWN_IDS = [OWN_IMAGES.id, OWN_VIDEOS.id, ANIMATED.id];

const asked = (model: string, more: Record<string, unknown> = {}) => ({
  ...{ model, prompt: unique('[delay=0]'), endUserEmail: 'ada@example.com' },
  ...more,
});

/** Creates at a route of the API, and returns the record once it has ended. */
const made = async (path: 'generations' | 'videos', body: Record<string, unknown>): Promise<AnyRecord> => {
  const created = await run.caller.post<AnyRecord>(`/v1/${path}`, body);
  expect([created.status, created.body]).toEqual([202, expect.anything()]);
  return eventually(
    async () => (await run.caller.get<AnyRecord>(`/v1/${path}/${created.body.requestId}`)).body,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
};

test('Models of the context are listed after those of the service, with their limits', async () => {
  const { body } = await run.caller.get<{ data: { id: string }[] }>('/v1/models');
  const { routes: _, rate: __, ...limits } = OWN_VIDEOS;

  expect(body.data.slice(-3).map(({ id }) => id)).toEqual(OWN_IDS);
  expect(body.data.at(-2)).toEqual({ ...limits, endpoint: 'POST /v1/videos', billing: 'per_second' });
});

test.each<[what: string, path: 'generations' | 'videos', body: Record<string, unknown>, cost: number]>([
  ['an image', 'generations', asked(OWN_IMAGES.id), 7],
  ['images with references', 'generations', asked(OWN_IMAGES.id, { n: 2, references: [PICTURE] }), 14],
  ['a video', 'videos', asked(OWN_VIDEOS.id, { durationSec: 4 }), 8],
  ['a video with a first frame', 'videos', asked(OWN_VIDEOS.id, { durationSec: 4, image: PICTURE }), 8],
  ['a video with references', 'videos', asked(OWN_VIDEOS.id, { referenceImages: [PICTURE] }), 10],
  ['a video that needs a first frame', 'videos', asked(ANIMATED.id, { image: PICTURE }), 6],
])('A model of the context makes %s, at its first rate', async (_what, path, body, cost) => {
  expect(await made(path, body)).toMatchObject({ status: 'succeeded', cost, model: body.model });
});

test('A limit of a model of the context refuses a creation by its field', async () => {
  const refused = async (path: string, body: unknown) => wrongFields(await run.caller.post(path, body));

  expect(await refused('/v1/generations', asked(OWN_IMAGES.id, { size: '4K', n: 5 }))).toEqual(['n', 'size']);
  expect(await refused('/v1/videos', asked(OWN_VIDEOS.id, { durationSec: 3, ratio: '1:1' }))).toEqual([
    'durationSec',
    'ratio',
  ]);
  expect(await refused('/v1/videos', asked(ANIMATED.id))).toEqual(['image']);
});

test("OpenAI's client finds a model of the context and makes an image with it", async () => {
  const openai = new OpenAI({ apiKey: run.caller.key, baseURL: `${run.service.baseUrl}/openai/v1` });
  const names = (await openai.models.list()).data.map(({ id }) => id);

  const { data } = await openai.images.generate({
    ...{ model: OWN_IMAGES.id, prompt: unique('[delay=0]'), user: 'ada@example.com' },
  });

  expect(names).toEqual(expect.arrayContaining(OWN_IDS));
  expect(data).toHaveLength(1);
});

test('The published document names the models of the context, and their limits', async () => {
  const [document] = await Promise.all([fetch(`${run.service.baseUrl}/openapi.json`)]);
  const { components } = (await document.json()) as {
    components: { schemas: Record<string, { anyOf: { enum?: string[] }[] }> };
  };

  expect(components.schemas.ImageModelId?.anyOf[0]?.enum).toContain(OWN_IMAGES.id);
  expect(components.schemas.VideoModelId?.anyOf[0]?.enum).toEqual(
    expect.arrayContaining([OWN_VIDEOS.id, ANIMATED.id]),
  );
});

test('Operators list a model of the context, price it and switch it off', async () => {
  const main = fileURLToPath(new URL('../../ops/main.ts', import.meta.url));
  const ops = async (...args: string[]) => {
    const all = [main, ...args, '--json', '--data-dir', run.service.dataDir];
    return JSON.parse((await promisify(execFile)(process.execPath, all)).stdout);
  };

  expect(await ops('models', 'list')).toContainEqual(
    expect.objectContaining({ id: OWN_VIDEOS.id, type: 'video', dispatchable: true }),
  );
  expect(await ops('rates', 'set', OWN_VIDEOS.id, '--value', '{"480p":3,"720p":5}')).toMatchObject({
    perSecond: { '480p': 3, '720p': 5 },
  });
  await ops('models', 'disable', ANIMATED.id);

  const refused = await eventually(
    () => run.caller.post('/v1/videos', asked(ANIMATED.id, { image: PICTURE })),
    ({ status }) => status === 400,
  );
  expect(wrongFields(refused)).toEqual(['model']);
});
