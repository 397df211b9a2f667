import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EndpointName } from '../../../core/routes.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { NOW } from '../builders/clocks.ts';
import {
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { type ApiEvent, CALLER_ROUTES, loadHandlers, RouteWorld } from '../builders/route-world.ts';
import { stopTime } from '../builders/stop-time.ts';

const world = new RouteWorld();
const { memory } = world;
const handlerOf = await loadHandlers();
beforeEach(() => {
  world.reset();
  stopTime(NOW);
});

const call = async (name: EndpointName, event: ApiEvent) => {
  const pathParameters = { email: EMAIL, requestId: REQUEST_ID };
  return world.call(handlerOf(name), { resource: name, pathParameters, ...event });
};

const TAKES_BODY = [
  'create-generation',
  'create-video',
  'create-quote',
  'create-upload',
  'bulk-delete-generations',
  'put-end-user-budget',
] as const;
const bodiesOf: Record<(typeof TAKES_BODY)[number], (fields: object) => Record<string, unknown>> = {
  'create-generation': (fields) => aGenerationBody({ ...fields }),
  'create-video': (fields) => aVideoBody({ ...fields }),
  'create-quote': (fields) => ({ kind: 'image', ...aGenerationBody({ ...fields }) }),
  'create-upload': (fields) => ({ contentType: 'image/png', bytes: 10, ...fields }),
  'bulk-delete-generations': (fields) => ({ requestIds: [], ...fields }),
  'put-end-user-budget': (fields) => ({ perDay: 10, ...fields }),
};
/** Fields whose lists hold this many of an item. */
const lists = (count: number, item: unknown) =>
  Object.fromEntries(
    ['references', 'referenceImages', 'referenceVideos', 'referenceAudios', 'requestIds'].map((name) => [
      name,
      Array.from({ length: count }, () => item),
    ]),
  );
const fieldsNamed = (count: number, name: (index: number) => string) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [name(index), index]));

/** Bodies just under the limit on bodies, each made to draw a long answer. */
const LARGE: [string, object][] = [
  ['lists of wrong items', lists(25_000, 0)],
  ['lists of wrong URLs', lists(9_000, 'x')],
  ['one list of wrong items', { references: Array.from({ length: 120_000 }, () => 0) }],
  ['unknown fields', fieldsNamed(14_000, (index) => `f${index}`)],
  ['an unknown field of a long name', { ['x'.repeat(250_000)]: 1 }],
  [
    'unknown fields of long names that JSON escapes',
    fieldsNamed(20, (index) => `${index}${'\u0001'.repeat(1_900)}`),
  ],
  [
    'unknown nested fields',
    { sequential: 'auto', sequentialOptions: fieldsNamed(14_000, (index) => `f${index}`) },
  ],
  [
    'a long text for every field',
    { prompt: 'x'.repeat(80_000), endUserEmail: 'x'.repeat(80_000), size: 'x'.repeat(80_000) },
  ],
];

describe.each(TAKES_BODY)('%s', (name) => {
  test.each(LARGE)('answers a few kilobytes to %s', async (_, fields) => {
    const body = JSON.stringify(bodiesOf[name](fields));
    expect(Buffer.byteLength(body)).toBeLessThan(256 * 1024);

    const answer = await call(name, { body });

    expect([answer.status, answer.body.error.code]).toEqual([400, 'validation_error']);
    expect(Object.keys(answer.body.error.fields).length).toBeLessThanOrEqual(20);
    expect(Buffer.byteLength(JSON.stringify(answer.body))).toBeLessThan(32 * 1024);
  });

  test('answers 400 to a field and a query parameter named __proto__', async () => {
    const body = JSON.stringify(bodiesOf[name]({})).replace('{', '{"__proto__":{"x":1},');

    expect(await call(name, { body })).toMatchObject({ status: 400 });
  });
});

test('a bulk deletion answers less than 64 KB to any ids, and refuses longer ones', async () => {
  const ids = Array.from({ length: 200 }, (_, index) => String(index).padEnd(50, '\u0001'));

  const accepted = await call('bulk-delete-generations', { body: { requestIds: ids } });
  expect([accepted.status, accepted.body.notFound]).toEqual([200, ids]);
  expect(Buffer.byteLength(JSON.stringify(accepted.body))).toBeLessThan(64 * 1024);

  const refused = await call('bulk-delete-generations', { body: { requestIds: ['a', `${ids[0]}x`] } });
  expect(refused.body.error.fields).toEqual({ 'requestIds[1]': 'must be at most 50 characters' });
});

test('a list that is too long is refused for its length, whatever its items', async () => {
  const { body } = await call('create-generation', { body: aGenerationBody(lists(11, 0)) });
  expect(body.error.fields).toMatchObject({ references: 'must hold at most 3 URLs' });
  expect(body.error.fields).not.toHaveProperty(['references[0]']);

  const deletion = await call('bulk-delete-generations', { body: { requestIds: Array(201).fill(0) } });
  expect(deletion.body.error.fields).toEqual({ requestIds: 'must hold at most 200 ids' });
});

describe.each(CALLER_ROUTES.filter((name) => !(TAKES_BODY as readonly string[]).includes(name)))(
  '%s',
  (name) => {
    test.each(['{', '[]', '{"page":1}', 'x'.repeat(300_000)])('ignores the body %.10s', async (body) => {
      const given = () => {
        memory.reset();
        putEndUser(memory, anEndUser({ activeRequests: 0 }));
        putRequest(memory, anImageRequest());
      };
      given();
      const without = await call(name, {});
      given();

      expect(await call(name, { body })).toEqual(without);
    });
  },
);
