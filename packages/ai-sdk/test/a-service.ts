import { afterAll, beforeAll } from '@jest/globals';
import { type Behavior, FaultyServer, json } from '../../client/test/server.ts';
import { createGenerationService, type GenerationServiceSettings } from '../src/index.ts';

const IMAGE_MODEL = {
  type: 'image',
  sizePresets: ['1K', '2K'],
  defaultSize: '1K',
  explicitSize: {
    ...{ minTotalPixels: 65_536, maxTotalPixels: 6_553_600, minAspectRatio: 0.1, maxAspectRatio: 10 },
    ...{ minSide: 256, maxSide: 2560 },
  },
  maxReferences: 10,
  maxImagesPerRequest: 2,
};
const VIDEO_MODEL = {
  type: 'video',
  resolutions: ['480p', '1080p', '4k'],
  defaultResolution: '1080p',
  requiresImage: false,
  inputModes: ['first_frame', 'last_frame', 'reference_images', 'reference_videos'],
  maxReferenceImages: 10,
  maxReferenceVideos: 5,
  ratios: ['adaptive', '16:9', '1:1', '9:16'],
};

/** Models on offer: of images and of videos, a model with every option and models with fewer options. */
const MODELS = [
  { id: 'xSD4.5', ...IMAGE_MODEL },
  { id: 'xZI1.0Pro', ...IMAGE_MODEL, maxReferences: 0, maxImagesPerRequest: 1 },
  { id: 'seeded', ...IMAGE_MODEL, parameters: [{ name: 'seed', min: 0, max: 9999 }] },
  { id: 'xW3.0s', ...VIDEO_MODEL },
  { id: 'with-sound', ...VIDEO_MODEL, parameters: [{ name: 'seed' }, { name: 'generateAudio' }] },
  { ...VIDEO_MODEL, id: 'xW2.7S', requiresImage: true, ratios: undefined, inputModes: undefined },
  {
    ...{ ...VIDEO_MODEL, id: 'text-only', inputModes: undefined },
    ...{ maxReferenceImages: undefined, maxReferenceVideos: undefined },
  },
];

const expiresAt = '2999-01-01T00:00:00.000Z';
export const PNG = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1]);

/** A service on loopback for the tests of a file. Each route answers as the last `answer` said, or as one that works. */
export const startService = () => {
  const server = new FaultyServer();
  const routes = new Map<string, Behavior>();
  const usual = (): Record<string, Behavior> => ({
    'GET /v1/models': json(200, { data: MODELS }),
    'POST /v1/generations': json(202, { requestId: 'img_1', status: 'queued', referencesCount: 0 }),
    'GET /v1/generations/img_1': json(200, {
      ...{ requestId: 'img_1', status: 'succeeded', cost: 12 },
      images: [{ id: 'img_1_0', size: '1024x1024', expiresAt, url: `${server.url}/img_1_0` }],
    }),
    'POST /v1/videos': json(202, { requestId: 'vid_1', status: 'queued' }),
    'GET /v1/videos/vid_1': json(200, {
      ...{ requestId: 'vid_1', status: 'succeeded', cost: 40 },
      videos: [{ id: 'vid_1_0', duration: 2, resolution: '480p', expiresAt, url: `${server.url}/vid_1_0` }],
    }),
    'POST /v1/uploads': json(201, {
      url: `https://files.example.com/upload-${server.seen.filter(({ path }) => path === '/v1/uploads').length}`,
      upload: { url: `${server.url}/bucket`, fields: {} },
    }),
    'POST /bucket': (_seen, response) => void response.writeHead(204).end(),
    'GET /img_1_0': (_seen, response) =>
      void response.writeHead(200, { 'content-type': 'image/png' }).end(PNG),
    'GET /vid_1_0': (_seen, response) => void response.writeHead(200).end('a video'),
  });
  beforeAll(async () => {
    globalThis.AI_SDK_LOG_WARNINGS = false;
    await server.start();
  });
  afterAll(() => server.close());
  return {
    server,
    /** Begins a test: forgets the requests seen, and answers some routes otherwise. */
    answer: (others: Record<string, Behavior> = {}) => {
      routes.clear();
      for (const [route, behavior] of Object.entries(others)) routes.set(route, behavior);
      server.answer((seen, response) => {
        const route = `${seen.method} ${seen.path}`;
        const behavior = routes.get(route) ?? usual()[route];
        return behavior ? behavior(seen, response) : void response.writeHead(404).end('{}');
      });
    },
    provider: (settings: GenerationServiceSettings = {}) =>
      createGenerationService({
        ...{ baseURL: server.url, apiKey: 'gsk_test', endUserEmail: 'ada@example.com' },
        ...settings,
      }),
    /** The creations that arrived. */
    creations: () =>
      server.seen.filter(
        ({ method, path }) => method === 'POST' && /^\/v1\/(generations|videos)$/.test(path),
      ),
    /** The body of the last creation. */
    created: () => {
      const last = server.seen.findLast(({ path }) => /^\/v1\/(generations|videos)$/.test(path));
      return JSON.parse(last?.body ?? '{}');
    },
  };
};

/** What a call throws. */
export const thrownBy = async (call: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await call;
  } catch (error) {
    return error;
  }
  throw new Error('The call did not fail.');
};
