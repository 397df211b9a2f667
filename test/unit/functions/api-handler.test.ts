import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import {
  ConflictError,
  ERROR_STATUS,
  type ErrorCode,
  NotFoundError,
  PaymentRequiredError,
  RateLimitedError,
  ServiceError,
  ValidationError,
} from '../../../core/errors.ts';
import { logger } from '../../../core/observability.ts';
import { apiHandler, json, streamingHandler } from '../../../functions/http/api-handler.ts';
import { openAiErrorResponse } from '../../../functions/openai/errors.ts';
import { aLambdaContext, anApiEvent, read } from '../builders/api-events.ts';
import type { Handler } from '../builders/route-world.ts';

const logged = jest.spyOn(logger, 'error');
beforeEach(() => {
  logged.mockClear();
});

const respond = async (route: Parameters<typeof apiHandler>[0]) =>
  read(await apiHandler(route)(anApiEvent(), aLambdaContext()));
const throwing = (error: unknown) =>
  respond(async () => {
    throw error;
  });
const STANDARD = {
  'Content-Type': 'application/json',
  'X-Content-Type-Options': 'nosniff',
  'X-Request-Id': 'http-request-1',
  'X-Service-Version': '1.2.3',
};

describe('a response', () => {
  test('carries the standard headers and its own', async () => {
    expect(await respond(async () => json(202, { ok: 1 }, { Location: '/x' }))).toEqual({
      status: 202,
      headers: { ...STANDARD, Location: '/x' },
      body: { ok: 1 },
    });
  });

  test('of an error carries them too', async () => {
    expect((await throwing(new NotFoundError('no'))).headers).toEqual(STANDARD);
    expect((await throwing(new Error('bug'))).headers).toEqual(STANDARD);
  });
});

describe('a path called with another method', () => {
  test.each([
    ['/v1/balance', 'POST', 'GET'],
    ['/v1/generations', 'PUT', 'POST, GET'],
    ['/v1/generations/{requestId}', 'HEAD', 'GET, DELETE'],
    ['/callbacks/{provider}/{requestId}/{token}', 'GET', 'POST'],
  ])(
    '%s by %s is 404 not_found with Allow: %s, and its route is not called',
    async (resource, method, allowed) => {
      const route = jest.fn(async () => json(200, {}));
      const event = anApiEvent({
        resource,
        method,
        body: Buffer.of(0xff).toString('base64'),
        isBase64Encoded: true,
      });

      expect(read(await apiHandler(route)(event, aLambdaContext()))).toEqual({
        status: 404,
        headers: { ...STANDARD, Allow: allowed },
        body: { error: { code: 'not_found', message: `This route takes ${allowed} only.` } },
      });
      expect(route).not.toHaveBeenCalled();
    },
  );
});

describe('an error', () => {
  test.each(Object.entries(ERROR_STATUS) as [ErrorCode, number][])(
    'with code %s answers with status %p, its code and its message',
    async (code, status) => {
      expect(await throwing(new ServiceError(code, 'A sentence.'))).toEqual({
        status,
        headers: STANDARD,
        body: { error: { code, message: 'A sentence.' } },
      });
    },
  );

  test('answers with exactly the codes and statuses of the contract', () => {
    expect(ERROR_STATUS).toStrictEqual({
      validation_error: 400,
      unauthorized: 401,
      account_blocked: 401,
      payment_required: 402,
      forbidden: 403,
      not_found: 404,
      conflict: 409,
      content_policy: 422,
      rate_limited: 429,
      provider_timeout: 500,
      provider_error: 500,
      internal_error: 500,
      temporarily_unavailable: 503,
    });
  });

  test('of validation names the fields', async () => {
    const { status, body } = await throwing(new ValidationError({ 'references[2]': 'must be a string' }));

    expect(status).toBe(400);
    expect(body).toEqual({
      error: {
        code: 'validation_error',
        message: 'The request is not valid: references[2].',
        fields: { 'references[2]': 'must be a string' },
      },
    });
  });

  test('that may be retried gives whole seconds', async () => {
    const { status, headers } = await throwing(new RateLimitedError(7));

    expect(status).toBe(429);
    expect(headers).toEqual({ ...STANDARD, 'Retry-After': '7' });
  });

  test.each([
    ['an error', new Error('table arn:aws:dynamodb is broken')],
    ['a type error', new TypeError("Cannot read properties of undefined (reading 'arn')")],
    ['an error with a code of ours', Object.assign(new Error('arn'), { code: 'not_found', fields: {} })],
    ['no error at all', 'arn:aws'],
    ['nothing', undefined],
  ])('that is unexpected, thrown as %s, hides its cause and is logged', async (_, error) => {
    expect(await throwing(error)).toEqual({
      status: 500,
      headers: STANDARD,
      body: {
        error: { code: 'internal_error', message: 'Something unexpected went wrong on our side.' },
      },
    });
    expect(logged).toHaveBeenCalledTimes(1);
  });

  test.each([new PaymentRequiredError(4_000, 0, 1), new ConflictError('no'), new ValidationError({})])(
    'a caller makes is not logged as ours: $name',
    async (error) => {
      await throwing(error);

      expect(logged).not.toHaveBeenCalled();
    },
  );

  test.each([
    new ServiceError('conflict', ''),
    new ValidationError({}),
    new PaymentRequiredError(4_000, 0, 1),
    new RateLimitedError(1),
    new NotFoundError(''),
    new ConflictError(''),
  ])('has a literal name that a bundle does not rename: $name', (error) => {
    expect(Object.hasOwn(error, 'name')).toBe(true);
    expect(error.name).toMatch(/Error$/);
  });
});

describe('a route whose response is streamed', () => {
  const lambda = globalThis as { awslambda?: { streamifyResponse?: unknown } };
  const streaming = () =>
    streamingHandler(async () => json(200, { ok: 1 }), openAiErrorResponse) as unknown as Handler;

  test('is handed to the runtime of Lambda, which alone streams', () => {
    const streamifyResponse = jest.fn((handler: unknown) => handler);
    lambda.awslambda = { streamifyResponse };
    streaming();
    delete lambda.awslambda;

    expect(streamifyResponse).toHaveBeenCalledTimes(1);
  });

  test('returns its response elsewhere', async () => {
    for (const runtime of [undefined, {}]) {
      if (runtime) lambda.awslambda = runtime;
      const { status, body } = read(await streaming()(anApiEvent(), aLambdaContext()));
      delete lambda.awslambda;

      expect([status, body]).toEqual([200, { ok: 1 }]);
    }
  });
});
