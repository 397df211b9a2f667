import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import {
  type AnyRecord,
  anUndrawnGeneration,
  type Caller,
  newCaller,
  sharedService,
} from './support/client.ts';
import { balance } from './support/ledger.ts';
import { anUnfilmedVideo } from './support/videos.ts';

// The rule of each field is tested in test/unit/core/creation. Here: that the API asks them, of every field.
let caller: Caller;
let refused: Caller;
beforeAll(async () => {
  const service = await sharedService();
  [caller, refused] = await Promise.all([newCaller(service), newCaller(service, 100)]);
});

const ROUTES = {
  image: { path: '/v1/generations', bodyOf: anUndrawnGeneration },
  video: { path: '/v1/videos', bodyOf: anUnfilmedVideo },
};
type Kind = keyof typeof ROUTES;
const create = (kind: Kind, body: Record<string, unknown>) =>
  caller.post<AnyRecord & { referencesCount?: number }>(ROUTES[kind].path, ROUTES[kind].bodyOf(body));
const fieldsOf = async (kind: Kind, body: unknown, query = '', headers = {}) =>
  wrongFields(await refused.post(ROUTES[kind].path + query, body, headers));

const urls = (count: number) => Array.from({ length: count }, (_, i) => `https://example.com/${i}.png`);
const LOOPBACK = 'http://127.0.0.1:4999/a.png';
const NOT_HTTPS = 'http://10.0.0.1/a.png';

describe('A creation takes every field', () => {
  test.each<[Kind, Record<string, unknown>]>([
    ['image', { model: 'xSD4.5', size: '7680x480', aspectRatio: 'auto', n: 15, references: urls(10) }],
    [
      'image',
      { model: 'xSD4.5', sequential: 'auto', sequentialOptions: { maxImages: 5 }, references: urls(10) },
    ],
    ['image', { model: 'xQI3Pro', seed: 2_147_483_647, negativePrompt: 'fog', promptExtend: false }],
    ['video', { model: 'xW2.7S', durationSec: 15, resolution: '1080p' }],
    [
      'video',
      {
        ...{ model: 'xW3.0s', seed: 0, generateAudio: false, promptExtend: true },
        ...{ ratio: '9:16', image: urls(1)[0], lastFrame: urls(1)[0] },
      },
    ],
    ['video', { model: 'xW3.0sPro', referenceImages: urls(10), referenceAudios: urls(5) }],
    // A local run allows loopback targets, so that developers can use servers on their own machine.
    ['image', { model: 'xSD4.5', references: [LOOPBACK], webhookUrl: LOOPBACK }],
  ])('of an %s: %j', async (kind, body) => {
    const answer = await create(kind, body);

    expect(answer.status).toBe(202);
    const { references } = body as { references?: unknown[] };
    if (references) expect(answer.body.referencesCount).toBe(references.length);
  });

  test.each(['image', 'video'] as const)(
    'of an %s, and shows prompt and address normalized',
    async (kind) => {
      const { body } = await create(kind, {
        prompt: ' \n [fail=content_policy] a  pier\t ',
        endUserEmail: '  Ada.Lovelace+Test@Example.COM ',
      });

      expect(body).toMatchObject({
        prompt: '[fail=content_policy] a  pier',
        endUserEmail: 'ada.lovelace+test@example.com',
      });
    },
  );
});

describe('A creation names every wrong field at once, by its path', () => {
  const text = { prompt: ' ', endUserEmail: 'ada', webhookUrl: NOT_HTTPS };
  // A computed name: a literal one would set the prototype.
  const unknown = { mood: 1, ['__proto__']: 1, 'a.b[0]': 1 };
  const WRONG = [...Object.keys(text), ...Object.keys(unknown)];

  test.each<[Kind, Record<string, unknown>, string[]]>([
    [
      'image',
      {
        ...{ ...text, ...unknown, model: 'xSD4.5', size: '1x1', aspectRatio: 'round', n: 1.5 },
        references: [...urls(1), 'ftp://example.com/b.png', 3, NOT_HTTPS],
        sequential: 'always',
        sequentialOptions: { maxImages: 0, order: 'random' },
      },
      [
        ...WRONG,
        ...['size', 'aspectRatio', 'n'],
        ...['references[1]', 'references[2]', 'references[3]', 'sequential'],
        ...['sequentialOptions.maxImages', 'sequentialOptions.order'],
      ],
    ],
    [
      'video',
      {
        ...{ ...text, ...unknown, model: 'xW2.7S', durationSec: 16, resolution: '480p', ratio: '16:9', n: 1 },
        ...{ lastFrame: urls(1)[0], referenceImages: urls(1), referenceAudios: 7, size: '1K' },
      },
      [
        ...WRONG,
        ...['durationSec', 'resolution'],
        ...['ratio', 'n', 'image', 'lastFrame', 'referenceImages', 'referenceAudios', 'size'],
      ],
    ],
    [
      'video',
      {
        ...{ model: 'xW3.0s', prompt: 'x', endUserEmail: 'ada@example.com', image: NOT_HTTPS },
        referenceVideos: ['https://ada@example.com/a.mp4', NOT_HTTPS],
      },
      ['image', 'referenceVideos', 'referenceVideos[0]', 'referenceVideos[1]'],
    ],
    ['image', { prompt: null, model: null, endUserEmail: null }, ['endUserEmail', 'model', 'prompt']],
    ['video', {}, ['endUserEmail', 'model', 'prompt']],
    // Without a model of the route, no field that depends on it is checked.
    ['video', anUnfilmedVideo({ model: 'xSD4.5', durationSec: 99 }), ['model']],
  ])('for an %s: %j', async (kind, body, fields) => {
    expect(await fieldsOf(kind, body)).toEqual(fields.sort());
  });

  test.each<[Kind, string[]]>([
    ['image', ['size', 'aspectRatio', 'n', 'references', 'sequential', 'sequentialOptions', 'webhookUrl']],
    [
      'video',
      [
        ...['resolution', 'durationSec', 'image', 'lastFrame', 'ratio', 'webhookUrl'],
        ...['referenceImages', 'referenceVideos', 'referenceAudios'],
      ],
    ],
  ])('for an %s whose optional fields are null or of another type', async (kind, optional) => {
    for (const value of [null, true]) {
      const wrong = Object.fromEntries(optional.map((name) => [name, value]));

      expect(await fieldsOf(kind, ROUTES[kind].bodyOf(wrong))).toEqual(optional.toSorted());
    }
  });

  test.each(['image', 'video'] as const)('along with wrong parameters and headers of an %s', async (kind) => {
    const body = ROUTES[kind].bodyOf({ model: 'nope' });

    expect(await fieldsOf(kind, body, '?page=1', { 'idempotency-key': 'x'.repeat(256) })).toEqual([
      ...['Idempotency-Key', 'model', 'page'],
    ]);
  });

  test('and charges nothing', async () => {
    expect(await balance(refused)).toBe(100);
  });
});
