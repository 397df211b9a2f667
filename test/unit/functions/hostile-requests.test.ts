import '../builders/environment.ts';
import { clearCaches } from '@aws-lambda-powertools/parameters';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { type EndpointName, ROUTES } from '../../../core/routes.ts';
import { table } from '../../../core/table/table.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aGenerationBody, aVideoBody } from '../builders/bodies.ts';
import { aCaller } from '../builders/callers.ts';
import { NOW } from '../builders/clocks.ts';
import {
  anEndUser,
  anImageRequest,
  EMAIL,
  putEndUser,
  putRequest,
  REQUEST_ID,
} from '../builders/entities.ts';
import { aSigningKey } from '../builders/signing-key.ts';
import { stopTime } from '../builders/stop-time.ts';
import { MemoryExecutions } from '../fakes/memory-executions.ts';
import { MemorySecrets } from '../fakes/memory-secrets.ts';
import { MemoryTable } from '../fakes/memory-table.ts';

const memory = new MemoryTable(table);
const secrets = new MemorySecrets();
const executions = new MemoryExecutions();
beforeEach(() => {
  clearCaches();
  memory.reset();
  executions.reset();
  secrets.reset();
  for (const name of ['delivery-key', 'modelark-key', 'modelstudio-key'])
    secrets.set(`arn:${name}`, name === 'delivery-key' ? aSigningKey().privateKeyPem : 'key');
  stopTime(NOW);
});

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;
const names = (Object.keys(ROUTES) as EndpointName[]).filter((name) => name !== 'receive-callback');
const handlers = new Map<EndpointName, Handler>();
for (const name of names) handlers.set(name, (await import(`../../../functions/api/${name}.ts`)).handler);

const call = async (name: EndpointName, event: Parameters<typeof anApiEvent>[0]) => {
  const handler = handlers.get(name);
  if (!handler) throw new Error(`${name} has no handler.`);
  const { headers } = await aCaller(memory);
  const pathParameters = { email: EMAIL, requestId: REQUEST_ID };
  const answer = await handler(
    anApiEvent({ resource: name, headers, pathParameters, ...event }),
    aLambdaContext(),
  );
  return { ...read(answer), bytes: Buffer.byteLength(answer.body) };
};

const TAKES_BODY = ['create-generation', 'create-video', 'bulk-delete-generations'] as const;
const bodiesOf: Record<(typeof TAKES_BODY)[number], (fields: object) => Record<string, unknown>> = {
  'create-generation': (fields) => aGenerationBody({ ...fields }),
  'create-video': (fields) => aVideoBody({ ...fields }),
  'bulk-delete-generations': (fields) => ({ requestIds: [], ...fields }),
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
    expect(answer.bytes).toBeLessThan(32 * 1024);
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
  expect(accepted.bytes).toBeLessThan(64 * 1024);

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

describe.each(names)('%s', (name) => {
  test.each(['{"__proto__":["1"]}', '{"__proto__":["1","2"]}', '{"constructor":["1"]}'])(
    'refuses the query parameters %s',
    async (query) => {
      const body = name === 'create-video' ? aVideoBody() : bodiesOf['create-generation']({});
      const known = name === 'bulk-delete-generations' ? { requestIds: [] } : body;
      const answer = await call(name, { query: JSON.parse(query), body: known });

      expect([answer.status, Object.keys(answer.body.error.fields)]).toEqual([
        400,
        Object.keys(JSON.parse(query)),
      ]);
    },
  );
});

describe.each(names.filter((name) => !(TAKES_BODY as readonly string[]).includes(name)))('%s', (name) => {
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
});
