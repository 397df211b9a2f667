import { beforeEach, describe, expect, test } from '@jest/globals';
import { putAlias } from '../../../core/models/model-settings.ts';
import { accountKey, apiKeyKey, requestKey } from '../../../core/table/keys.ts';
import { handler as videos } from '../../../functions/api/openai-videos.ts';
import { anImage } from '../../../packages/media/test/images.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import { aCaller } from '../builders/callers.ts';
import { ACCOUNT_ID, EMAIL, putModelSettings } from '../builders/entities.ts';
import type { ApiEvent } from '../builders/route-world.ts';
import { useOpenAiCalls } from './openai-calls.ts';

const { memory, bucket, created } = useOpenAiCalls();

const BODY = { model: 'xW3.0s', prompt: 'waves', user: EMAIL };
const WITH_FRAME = { ...BODY, model: 'xW2.7S' };
const PICTURE = await anImage(640, 640, 'png');
const DATA_URL = `data:image/png;base64,${PICTURE.toString('base64')}`;
const URL_OF_PICTURE = 'https://images.example.com/a.png';

let caller: Awaited<ReturnType<typeof aCaller>>;
beforeEach(async () => {
  caller = await aCaller(memory, { account: { balanceThousandths: 1_000_000 } });
});

const post = async (event: ApiEvent) => {
  const headers = { ...caller.headers, ...event.headers };
  const whole = anApiEvent({ resource: '/openai/v1/videos', method: 'POST', ...event, headers });
  return read(await videos(whole, aLambdaContext()));
};
const send = (more: object = {}, headers: Record<string, string> = {}) =>
  post({ body: { ...BODY, ...more }, headers });
const form = async (fields: [string, string | Buffer][]): Promise<ApiEvent> => {
  const data = new FormData();
  for (const [name, value] of [...Object.entries(WITH_FRAME), ...fields])
    data.append(name, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
  const sent = new Response(data);
  return {
    isBase64Encoded: true,
    headers: { 'content-type': sent.headers.get('content-type') ?? '' },
    body: Buffer.from(await sent.arrayBuffer()).toString('base64'),
  };
};
const stored = (id: string) => memory.get(requestKey(id));

describe('The first frame of a video', () => {
  const json = (input_reference: unknown): ApiEvent => ({ body: { ...WITH_FRAME, input_reference } });

  test.each<[string, () => ApiEvent | Promise<ApiEvent>]>([
    ['a file of a form', () => form([['input_reference', PICTURE]])],
    ['a data URL of a form', () => form([['input_reference', DATA_URL]])],
    ['a data URL', () => json(DATA_URL)],
    ['an object with a data URL', () => json({ image_url: DATA_URL })],
  ])('that is %s is stored as an upload of the account', async (_, event) => {
    const { status, body } = await post(await event());

    expect([status, body.status]).toEqual([200, 'queued']);
    const [[key, file] = ['', undefined], ...others] = bucket.objects;
    expect([file?.bytes, others]).toEqual([PICTURE, []]);
    expect(stored(body.id)).toMatchObject({ model: 'xW2.7S', image: key });
  });

  test.each<[string, () => ApiEvent | Promise<ApiEvent>]>([
    ['of a form', () => form([['input_reference', URL_OF_PICTURE]])],
    ['as text', () => json(URL_OF_PICTURE)],
    ['in an object', () => json({ image_url: URL_OF_PICTURE })],
  ])('that is a URL %s is handed on, and nothing is stored', async (_, event) => {
    const { body } = await post(await event());

    expect(stored(body.id)).toMatchObject({ image: URL_OF_PICTURE });
    expect(bucket.objects.size).toBe(0);
  });

  test.each([5, true, {}, [URL_OF_PICTURE], { file_id: 'file_1' }, { image_url: 5 }, { image_url: null }])(
    'is refused as %j, by the form that it should have',
    async (input_reference) => {
      const { status, body } = await post(json(input_reference));

      expect([status, body.error.param, body.error.message]).toEqual([
        ...[400, 'input_reference', "'input_reference' must be a URL, or an object with image_url"],
      ]);
    },
  );

  test('is one: a form with two is refused', async () => {
    const two: [string, string][] = [1, 2].map(() => ['input_reference', URL_OF_PICTURE]);
    const { status, body } = await post(await form(two));

    expect([status, body.error.message]).toEqual([400, "'input_reference' must be at most 1"]);
  });

  test.each([undefined, null])('may be absent (%p) where the model needs none', async (input_reference) => {
    expect((await send({ input_reference })).status).toBe(200);
    expect((await post(json(input_reference))).body.error).toMatchObject({
      ...{ param: 'input_reference', code: 'missing_required_parameter' },
    });
  });

  test('of a call that is refused is not stored', async () => {
    const { status } = await post({ body: { ...WITH_FRAME, input_reference: DATA_URL, seconds: '99' } });

    expect([status, bucket.objects.size, created()]).toEqual([400, 0, []]);
  });

  test('is removed again where the creation fails behind it', async () => {
    memory.patch(accountKey(ACCOUNT_ID), { balanceThousandths: 0 });

    const { status } = await post(json(DATA_URL));

    expect([status, bucket.objects.size]).toEqual([429, 0]);
  });
});

describe('The body of a creation', () => {
  test('is taken up to 4.25 MiB, with its picture', async () => {
    const most = 4.25 * 1024 * 1024;
    const padded = (bytes: number): string => {
      const text = JSON.stringify(BODY);
      return text + ' '.repeat(bytes - text.length);
    };

    expect((await post({ body: padded(most) })).status).toBe(200);
    const { status, body } = await post({ body: padded(most + 1) });
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('must be at most 4352 KiB')]);
  });

  test.each(['{', '[]', '"text"', 'null'])('is refused as %s', async (body) => {
    const { status, body: answer } = await post({ body });

    expect([status, answer.error.param, answer.error.code]).toEqual([400, null, 'invalid_value']);
  });

  test('is read after the key', async () => {
    expect((await post({ body: '{', headers: { Authorization: 'Bearer none' } })).status).toBe(401);
  });

  test.each<[object, string, string]>([
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ model: 'sora-2' }, 'model', 'invalid_value'],
    [{ model: 5 }, 'model', 'invalid_value'],
    [{ prompt: ' ' }, 'prompt', 'invalid_value'],
    [{ size: '1024x1792' }, 'size', 'invalid_value'],
    [{ size: 720 }, 'size', 'invalid_value'],
    [{ user: 'user-1234' }, 'user', 'missing_required_parameter'],
    [{ user: undefined }, 'user', 'missing_required_parameter'],
    [{ webhookUrl: 'http://x' }, 'webhookUrl', 'invalid_value'],
    [{ fps: 30 }, 'fps', 'unknown_parameter'],
    [{ endUserEmail: EMAIL }, 'endUserEmail', 'unknown_parameter'],
    [{ durationSec: 5 }, 'durationSec', 'unknown_parameter'],
    [{ resolution: '720p' }, 'resolution', 'unknown_parameter'],
    [{ ratio: '16:9' }, 'ratio', 'unknown_parameter'],
    [{ image: URL_OF_PICTURE }, 'image', 'unknown_parameter'],
    [{ n: 2 }, 'n', 'unknown_parameter'],
  ])('is refused with %j, on %s', async (more, param, code) => {
    const { status, body } = await send(more);

    expect([status, body.error.param, body.error.code]).toEqual([400, param, code]);
    expect([memory.transactions, created()]).toEqual([[], []]);
  });

  test.each(['1e1', '0x4', '4.0', ' 4', '-4', '', '40000', 4.5, 1e21, -4, true, ['4']])(
    'has no %j seconds',
    async (seconds) => {
      const { status, body } = await send({ seconds });

      expect([status, body.error.message]).toEqual([400, "'seconds' must be a whole number of seconds"]);
    },
  );

  test.each([
    ['4', 4],
    [4, 4],
    ['004', 4],
    ['10', 10],
  ])('has %j seconds: %i', async (seconds, durationSec) => {
    const { body } = await send({ seconds });

    expect(body.seconds).toBe(String(durationSec));
    expect(stored(body.id)).toMatchObject({ durationSec });
  });

  test('says shape and resolution by its size', async () => {
    const { body } = await send({ size: '720x1280' });

    expect(body.size).toBe('720x1280');
    expect(stored(body.id)).toMatchObject({ resolution: '720p', ratio: '9:16' });
  });

  test('counts what is null as absent', async () => {
    const { status } = await send({ size: null, seconds: null, webhookUrl: null, fps: null });

    expect(status).toBe(200);
  });

  test.each([
    [' ADA@example.com ', EMAIL],
    ['user-1234', 'team@example.com'],
    [undefined, 'team@example.com'],
  ])('is of the end-user %p, else of the default of the key: %s', async (user, endUserEmail) => {
    memory.patch(apiKeyKey(caller.keyId), { defaultEndUser: 'team@example.com' });

    expect(stored((await send({ user })).body.id)).toMatchObject({ endUserEmail });
  });

  test('may name a model by its alias', async () => {
    await putAlias('sora-2', 'xW3.0s');

    const { body } = await send({ model: 'sora-2' });

    expect(body.model).toBe('xW3.0s');
    expect(stored(body.id)).toMatchObject({ model: 'xW3.0s' });
  });
});

describe('The answer to a creation', () => {
  test('says where the record is', async () => {
    const { headers, body } = await send();

    expect(headers.Location).toBe(`${process.env.PUBLIC_BASE_URL}/v1/videos/${body.id}`);
    expect(headers).not.toHaveProperty('Sunset');
  });

  test('tells of the announced end of the model', async () => {
    const retirement = { announcedAt: '2026-11-01T00:00:00.000Z', retiresAt: '2099-01-01T00:00:00.000Z' };
    putModelSettings(memory, { model: 'xW3.0s', retirement });

    const { headers } = await send();

    expect(headers).toMatchObject({
      ...{ Deprecation: '@1793491200', Sunset: 'Thu, 01 Jan 2099 00:00:00 GMT' },
    });
  });

  test('is the same to a retry, by its count or its own key, and another one without either', async () => {
    const [first, retry, other] = [
      (await send()).body.id,
      (await send({}, { 'X-Stainless-Retry-Count': '1' })).body.id,
      (await send()).body.id,
    ];
    expect([retry === first, other === first]).toEqual([true, false]);

    const key = { 'Idempotency-Key': 'a key' };
    const keyed = (await send({}, key)).body.id;
    expect((await send({}, key)).body.id).toBe(keyed);
    expect([first, other].includes(keyed)).toBe(false);
    expect(await send({ prompt: 'hills' }, key)).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    expect(created()).toHaveLength(3);
  });

  test.each(['', 'one', '1e0', '0x1', '-1', '1.0', '10000'])(
    'is of a first call where the count of retries is none: %j',
    async (count) => {
      const first = (await send()).body.id;

      expect((await send({}, { 'X-Stainless-Retry-Count': count })).body.id).not.toBe(first);
    },
  );

  test('of another picture is of another creation, though its count says that it is a retry', async () => {
    const other = await anImage(700, 700, 'png');
    const first = await post(await form([['input_reference', PICTURE]]));
    const event = await form([['input_reference', other]]);
    const retry = { ...event, headers: { ...event.headers, 'X-Stainless-Retry-Count': '1' } };

    expect((await post(retry)).body.id).not.toBe(first.body.id);
  });

  test('is 400 to a key of its own that cannot be one', async () => {
    const { status, body } = await send({}, { 'Idempotency-Key': 'x'.repeat(1_000) });

    expect([status, body.error.param]).toEqual([400, 'Idempotency-Key']);
  });
});
