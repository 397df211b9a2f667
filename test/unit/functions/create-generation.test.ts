import '../builders/environment.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { endUserKey, requestKey } from '../../../core/table/keys.ts';
import { handler } from '../../../functions/api/create-generation.ts';
import { aGenerationBody } from '../builders/bodies.ts';
import { ACCOUNT_ID, anEndUser, EMAIL, putModelSettings } from '../builders/entities.ts';
import { type ApiEvent, RouteWorld } from '../builders/route-world.ts';

const world = new RouteWorld();
const { memory, executions, secrets } = world;
beforeEach(() => world.reset());

const create = (body: unknown, rest: ApiEvent = {}) => world.call(handler, { body, ...rest });
const nothingWritten = () => {
  expect(memory.transactions).toEqual([]);
  expect(executions.started).toEqual([]);
};

describe('POST /v1/generations', () => {
  test('answers 202 with the queued record, its URL and when to read it', async () => {
    const { status, headers, body } = await create(aGenerationBody({ prompt: ' a lighthouse ', n: 2 }));

    const pollUrl = `https://api.example.com/v1/generations/${body.requestId}`;
    expect(status).toBe(202);
    expect(body).toStrictEqual({
      requestId: expect.stringMatching(/^img_[0-9A-HJKMNP-TV-Z]{26}$/),
      model: 'xQI3Pro',
      status: 'queued',
      prompt: 'a lighthouse',
      referencesCount: 0,
      endUserEmail: EMAIL,
      createdAt: world.now.toISOString(),
      pollUrl,
    });
    expect(headers).toStrictEqual({
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': 'http-request-1',
      'X-Service-Version': '1.2.3',
      Location: pollUrl,
      'Retry-After': '5',
    });
    expect(memory.get(requestKey(body.requestId))).toMatchObject({ status: 'queued', images: 2 });
  });

  test('takes four round trips: caller, facts, the transaction, the start', async () => {
    await create(aGenerationBody());

    expect(memory.calls()).toEqual({
      UpdateCommand: 1,
      GetCommand: 1,
      BatchGetCommand: 1,
      QueryCommand: 1,
      TransactWriteCommand: 1,
    });
    expect(executions.client.calls()).toHaveLength(1);
  });

  test('takes a body in base64', async () => {
    const body = Buffer.from(JSON.stringify(aGenerationBody({ prompt: '🌊' }))).toString('base64');

    expect((await create(body, { isBase64Encoded: true })).body.prompt).toBe('🌊');
  });

  test.each([
    ['no JSON', '{', { body: 'must be JSON' }],
    ['no object', '[]', { body: 'must be a JSON object' }],
    ['no body', undefined, { model: 'is required', prompt: 'is required', endUserEmail: 'is required' }],
    [
      'wrong fields',
      aGenerationBody({ n: 7, size: '4K' }),
      { n: expect.any(String), size: expect.any(String) },
    ],
    ['unknown fields', aGenerationBody({ seed: 1 }), { seed: 'is not a known field' }],
  ])('answers 400 to %s, naming the wrong fields', async (_, body, fields) => {
    const answer = await create(body);

    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_error', fields });
    expect(Object.keys(answer.body.error.fields).sort()).toEqual(Object.keys(fields).sort());
    nothingWritten();
  });

  test.each([
    ['its provider has no credential', () => secrets.set('arn:modelstudio-key', undefined)],
    ['the operator switched it off', () => putModelSettings(memory, { model: 'xQI3Pro', enabled: false })],
  ])('answers 400 on a model that cannot be dispatched now: %s', async (_, given) => {
    given();
    const problem = { model: 'cannot be dispatched now' };

    for (const [body, fields] of [
      [aGenerationBody(), problem],
      [aGenerationBody({ n: 0 }), { ...problem, n: 'must be at least 1' }],
    ] as const) {
      const answer = await create(body);
      expect([answer.status, answer.body.error.fields]).toEqual([400, fields]);
    }
    nothingWritten();
  });

  test('recognizes a blocked end-user in any spelling of the address', async () => {
    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ blockedAt: world.now.toISOString() }));

    expect((await create(aGenerationBody({ endUserEmail: ' ADA@example.com ' }))).status).toBe(403);
  });
});
