import { beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { type Caller, newCaller, sharedService, unique, withScopes } from './support/client.ts';
import { anAskedImage, caught, clientOf } from './support/openai.ts';

let caller: Caller;
let openai: OpenAI;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
  openai = clientOf(caller);
});

describe('The client meets each error as its own class', () => {
  test.each<[string, object, object]>([
    ['BadRequestError', { size: '1x1' }, { param: 'size', code: 'invalid_value' }],
    ['BadRequestError', { best_of: 2 }, { param: 'best_of', code: 'unknown_parameter' }],
    ['BadRequestError', { user: 'nobody' }, { param: 'user' }],
    ['BadRequestError', { model: 'gpt-image-0' }, { message: expect.stringMatching(/"gpt-image-0".*xZI1/) }],
    ['BadRequestError', { size: '64x64' }, { message: expect.stringMatching(/e\.g\. 1024x1024/) }],
    ['BadRequestError', { prompt: '[fail=content_policy]' }, { code: 'moderation_blocked' }],
  ])('%s for %j', async (name, more, error) => {
    const thrown = await caught(openai.images.generate(anAskedImage(more)));

    expect(thrown).toBeInstanceOf(OpenAI[name as 'BadRequestError']);
    expect(thrown).toMatchObject({ status: 400, type: expect.any(String), ...error });
  });

  test('AuthenticationError, PermissionDeniedError, NotFoundError and ConflictError', async () => {
    const limited = await withScopes(caller, 'models:read');
    const file = await toFile(Buffer.from('x'), 'a.png');
    const options = { headers: { 'Idempotency-Key': unique() } };
    await openai.images.generate(anAskedImage(), options);
    const stranger = clientOf({ ...caller, key: 'sk-nothing' });
    const attempts: (readonly [() => Promise<unknown>, new (...args: never[]) => Error, object?])[] = [
      [() => stranger.models.list(), OpenAI.AuthenticationError, { code: 'invalid_api_key' }],
      [() => clientOf(limited).images.generate(anAskedImage()), OpenAI.PermissionDeniedError],
      [
        () => openai.models.retrieve('gpt-image-1'),
        ...([OpenAI.NotFoundError, { code: 'model_not_found', param: 'model' }] as const),
      ],
      [() => openai.images.createVariation({ image: file }), OpenAI.NotFoundError, { status: 404 }],
      ...['/images', '/../models', '/..', '/engines/x/images'].map(
        (path) =>
          [
            () => openai.get(path),
            ...([OpenAI.NotFoundError, { type: 'invalid_request_error', code: 'not_found' }] as const),
          ] as const,
      ),
      [() => openai.images.generate(anAskedImage(), options), OpenAI.ConflictError],
    ];

    for (const [attempt, type, error = {}] of attempts) {
      const thrown = await caught(attempt());
      expect(thrown).toBeInstanceOf(type);
      expect(thrown).toMatchObject(error);
    }
  });

  test('RateLimitError without balance, which it does not repeat', async () => {
    const poor = await newCaller(caller.service, 0);
    const retries: string[] = [];
    const client = clientOf(poor, {
      fetch: (url: string, init: RequestInit) => {
        retries.push(new Headers(init.headers).get('x-stainless-retry-count') ?? '');
        return fetch(url, init);
      },
    });
    const thrown = await caught(client.images.generate(anAskedImage()));

    expect(thrown).toBeInstanceOf(OpenAI.RateLimitError);
    expect(thrown).toMatchObject({ code: 'insufficient_quota', type: 'insufficient_quota' });
    expect(retries).toEqual(['0']);
  });

  test('InternalServerError for a fault of the provider, each attempt of it refunded', async () => {
    const { xTokens } = (await caller.get<{ xTokens: number }>('/v1/balance')).body;
    const client = clientOf(caller, { maxRetries: 1 });
    const thrown = await caught(
      client.images.generate(anAskedImage({ prompt: unique('[fail=provider_error]') })),
    );

    expect(thrown).toBeInstanceOf(OpenAI.InternalServerError);
    expect(thrown).toMatchObject({ code: 'provider_error' });
    expect((await caller.get('/v1/balance')).body).toMatchObject({ xTokens });
  });
});
