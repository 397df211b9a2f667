import { describe, expect, test } from '@jest/globals';
import { accountKey, accountPartition, endUserKey, requestKey } from '../../../core/table/keys.ts';
import { handler as createGeneration } from '../../../functions/api/create-generation.ts';
import { handler as create } from '../../../functions/api/create-openai-image.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID, anEndUser, EMAIL } from '../builders/entities.ts';
import type { ApiEvent } from '../builders/route-world.ts';
import { firstAttemptsOf } from '../fakes/memory-functions.ts';
import { BODY, useOpenAiCalls } from './openai-calls.ts';

const { world, memory, executions, functions, bucket, calls } = useOpenAiCalls();

/** The signed URL of an image, by its place. */
const urlOf = (index: number) =>
  expect.stringMatching(
    new RegExp(`^http://127\\.0\\.0\\.1:\\d+/outputs/img_\\w+/${index}\\.png\\?Expires=`),
  );
const refuse = async (body: unknown, rest: ApiEvent = {}, options = {}) => {
  const answer = await world.call(create, { body, ...rest }, options);
  expect([memory.transactions, executions.started]).toEqual([[], []]);
  return [answer.status, answer.body.error.param, answer.body.error.code];
};

describe('POST /openai/v1/images/generations', () => {
  test('tells the webhook of an account that its balance does not suffice', async () => {
    const balanceWebhook = { url: 'https://hooks.example.com/', belowThousandths: 5_000 };
    const { headers } = await aCaller(memory, { account: { balanceThousandths: 0, balanceWebhook } });

    await expect(calls.make(BODY, { headers })).rejects.toThrow('the balance is 0 xTokens');
    const events = memory
      .partition(accountPartition(ACCOUNT_ID))
      .flatMap(({ eventId }) => (eventId === undefined ? [] : [String(eventId)]));
    expect(events).toEqual([expect.stringMatching(new RegExp(`^${ACCOUNT_ID}_exhausted_\\d+$`))]);
    expect(firstAttemptsOf(functions)).toEqual(events);
  });

  test('answers with the images once they are made, in their order, and where their record is', async () => {
    const { status, headers, body, requestId } = await calls.make({ ...BODY, n: 2 }, { endsAfterSeconds: 3 });

    expect(status).toBe(200);
    expect(body).toStrictEqual({
      created: Math.floor(world.now.getTime() / 1000),
      data: [0, 1].map((index) => ({
        b64_json: Buffer.from(`outputs/${requestId}/${index}.png`).toString('base64'),
        url: urlOf(index),
      })),
    });
    expect(headers).not.toHaveProperty('X-Ignored-Parameters');
    expect(headers.Location).toBe(`https://api.example.com/v1/generations/${requestId}`);
    expect(memory.get(requestKey(requestId))).toMatchObject({ endUserEmail: EMAIL, images: 2, size: '2K' });
  });

  test('answers with a signed URL for an image that no longer fits into the answer', async () => {
    const { body } = await calls.make({ ...BODY, n: 2 }, { endsAfterSeconds: 0, sizeBytes: 8_000_000 });

    expect(body.data).toEqual([{ b64_json: expect.any(String), url: urlOf(0) }, { url: urlOf(1) }]);
  });

  test.each<[string, unknown]>([
    ['b64_json', { b64_json: expect.any(String) }],
    ['url', { url: urlOf(0) }],
  ])('answers with %s only where response_format chooses that', async (response_format, image) => {
    const { body } = await calls.make({ ...BODY, response_format }, { endsAfterSeconds: 0 });

    expect(body.data).toStrictEqual([image]);
  });

  test.each([
    [{ quality: 'hd', style: 'vivid' }, 'quality, style'],
    [{ style: '', quality: null }, 'style'],
    [{ quality: 'ultra-' }, 'quality'],
  ])('takes hints with any text, without effect, and names them: %j', async (hints, named) => {
    const { headers, requestId } = await calls.make({ ...BODY, ...hints }, { endsAfterSeconds: 0 });

    expect(headers['X-Ignored-Parameters']).toBe(named);
    expect(memory.get(requestKey(requestId))).not.toHaveProperty('quality');
  });

  test('ignores query parameters, such as the api-version of other clients', async () => {
    const query = { 'api-version': ['2026-01-01'], constructor: ['1', '2'] };
    const { status } = await calls.make(BODY, { endsAfterSeconds: 0, query });

    expect(status).toBe(200);
  });

  test('fails when the file of an image is not served: an error page is no image', async () => {
    const { headers } = await aCaller(memory);
    const key = { headers: { ...headers, 'Idempotency-Key': 'a key' } };
    const { requestId } = await calls.make(BODY, key);
    calls.succeed(requestId);
    bucket.objects.clear();

    await expect(calls.make(BODY, key)).rejects.toThrow('The file server answered 403.');
  });

  test('leaves out an image that could not be stored, and tells that expired ones are gone', async () => {
    const partly = await calls.make({ ...BODY, n: 2 }, { endsAfterSeconds: 0, notStored: [0] });
    expect(partly.body.data).toHaveLength(1);

    await expect(calls.make(BODY, { endsAfterSeconds: 0, expiresAt: world.inSeconds(-1) })).rejects.toThrow(
      'These images have expired.',
    );
  });

  test('writes the record that POST /v1/generations writes', async () => {
    const webhookUrl = 'https://hooks.example.com/';
    const { headers } = await aCaller(memory);
    const { requestId } = await calls.make({ ...BODY, n: 2, webhookUrl }, { headers });
    const body = { model: 'xQI3Pro', prompt: 'a lighthouse', endUserEmail: EMAIL, n: 2, webhookUrl };
    const { body: created } = read(await createGeneration(anApiEvent({ headers, body }), aLambdaContext()));

    const [own, usual] = [requestId, created.requestId].map((id) => {
      // The due list of an id is one of several.
      const {
        PK,
        GSI1PK,
        requestId: _,
        debitEntryNumber,
        endUserId,
        ...item
      } = memory.get(requestKey(id)) ?? {};
      return JSON.parse(JSON.stringify(item).replaceAll(id, 'the request'));
    });
    expect(own).toEqual(usual);
  });

  test('writes one item more than POST /v1/generations, by which a retry finds it', async () => {
    const { requestId } = await calls.make(BODY, { endsAfterSeconds: 0 });

    expect(memory.transactions.map(({ TransactItems = [] }) => TransactItems.length)).toEqual([5]);
    expect(memory.calls()).toEqual({
      // The key, its entry before and after, and the two places, taken and freed.
      UpdateCommand: 7,
      GetCommand: 1,
      BatchGetCommand: 3,
      QueryCommand: 2,
      TransactWriteCommand: 1,
    });
    expect(executions.started.map(({ name }) => name)).toEqual([requestId]);
  });

  test.each([
    ['user, an email address in any spelling', { user: ' ADA@example.com ' }, undefined, EMAIL],
    [
      "the key's default end-user, if user is none",
      { user: 'user-1234' },
      'team@example.com',
      'team@example.com',
    ],
    ["the key's default end-user without user", { user: undefined }, 'team@example.com', 'team@example.com'],
    ['user before the default', {}, 'team@example.com', EMAIL],
  ])('belongs to %s', async (_, more, defaultEndUser, endUserEmail) => {
    const { requestId } = await calls.make({ ...BODY, ...more }, { endsAfterSeconds: 0, defaultEndUser });

    expect(memory.get(requestKey(requestId))).toMatchObject({ endUserEmail });
  });

  test('is refused on user without an address and a default', async () => {
    for (const user of [undefined, 'user-1234', 5]) {
      expect((await refuse({ ...BODY, user })).slice(0, 2)).toEqual([400, 'user']);
    }
  });

  test('takes auto, null and the defaults of OpenAI as not given', async () => {
    const body = {
      ...BODY,
      ...{
        size: 'auto',
        n: null,
        quality: 'auto',
        background: 'opaque',
        output_format: 'png',
        stream: false,
      },
    };
    const { requestId } = await calls.make(body, { endsAfterSeconds: 0 });

    expect(memory.get(requestKey(requestId))).toMatchObject({ size: '2K', images: 1 });
  });

  test.each([
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ model: 'gpt-image-1' }, 'model', 'invalid_value'],
    [{ model: 'xW3.0s' }, 'model', 'invalid_value'],
    [{ prompt: undefined }, 'prompt', 'missing_required_parameter'],
    [{ n: 16 }, 'n', 'invalid_value'],
    [{ size: '1x1' }, 'size', 'invalid_value'],
    [{ quality: 5 }, 'quality', 'invalid_value'],
    [{ moderation: 'low' }, 'moderation', 'invalid_value'],
    [{ background: 'transparent' }, 'background', 'invalid_value'],
    [{ output_format: 'webp' }, 'output_format', 'invalid_value'],
    [{ output_format: 'jpeg' }, 'output_format', 'invalid_value'],
    [{ response_format: 'png' }, 'response_format', 'invalid_value'],
    [{ stream: 'yes' }, 'stream', 'invalid_value'],
    [{ stream: true, partial_images: 2 }, 'partial_images', 'invalid_value'],
    [{ partial_images: 2 }, 'partial_images', 'invalid_value'],
    [{ mask: 'x' }, 'mask', 'invalid_value'],
    [{ style: ['vivid'] }, 'style', 'invalid_value'],
    [{ webhookUrl: 'http://x' }, 'webhookUrl', 'invalid_value'],
    [{ endUserEmail: EMAIL }, 'endUserEmail', 'unknown_parameter'],
    [{ references: ['https://images.example.com/1.png'] }, 'references', 'unknown_parameter'],
    [{ best_of: 2 }, 'best_of', 'unknown_parameter'],
  ])('refuses %j on %s', async (more, param, code) => {
    expect(await refuse({ ...BODY, ...more })).toEqual([400, param, code]);
  });

  test.each<[string, unknown[], Record<string, unknown>, ApiEvent]>([
    ['a body that is not JSON', [400, null, 'invalid_value'], {}, { body: '{' }],
    ['no key', [401, null, 'invalid_api_key'], {}, { headers: {} }],
    ['no key before it reads the body', [401, null, 'invalid_api_key'], {}, { headers: {}, body: '{' }],
    ['a blocked account', [401, null, 'account_deactivated'], { account: { blockedAt: '2026-01-01' } }, {}],
    ['a key without the scope', [403, null, 'forbidden'], { scopes: ['models:read'] }, {}],
    ['a key that is out of calls', [429, null, 'rate_limit_exceeded'], { isExhausted: true }, {}],
    ['no balance', [429, null, 'insufficient_quota'], { account: { balanceThousandths: 0 } }, {}],
  ])('refuses %s in the shape of OpenAI', async (_, refusal, options, rest) => {
    expect(await refuse(BODY, rest, options)).toEqual(refusal);
  });

  test("refuses what exceeds the key's budget as no balance", async () => {
    const { keyId, headers } = await aCaller(memory);
    memory.patch(accountKey(ACCOUNT_ID), { keyBudgets: { [keyId]: { perDayThousandths: 1 } } });

    await expect(calls.make(BODY, { headers })).rejects.toMatchObject({ code: 'payment_required' });
    expect(executions.started).toEqual([]);
  });

  test('says what may be retried, and when', async () => {
    const answer = (options: object) => world.call(create, { body: BODY }, options);
    const { headers: broke, body } = await answer({ account: { balanceThousandths: 0 } });
    const { headers: limited } = await answer({ isExhausted: true });

    expect(body.error).toEqual({
      message: expect.stringMatching(/the balance is 0 xTokens/),
      type: 'insufficient_quota',
      param: null,
      code: 'insufficient_quota',
    });
    expect(broke['x-should-retry']).toBe('false');
    const { headers: wrong } = await world.call(create, { body: { ...BODY, n: 16 } });
    expect(wrong['x-should-retry']).toBe('false');
    expect([limited['x-should-retry'], Number(limited['Retry-After'])]).toEqual([
      undefined,
      expect.any(Number),
    ]);
  });

  test('refuses a blocked end-user and one that is being removed, whose refusal no retry cures', async () => {
    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ blockedAt: world.now.toISOString() }));
    expect(await refuse(BODY)).toEqual([403, null, 'forbidden']);
    memory.put(endUserKey(ACCOUNT_ID, EMAIL), anEndUser({ deletingAt: world.now.toISOString() }));
    const { status, headers } = await world.call(create, { body: BODY });
    expect([status, headers['x-should-retry']]).toEqual([409, 'false']);
  });
});
