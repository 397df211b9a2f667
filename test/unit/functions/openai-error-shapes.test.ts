import { describe, expect, test } from '@jest/globals';
import { type ErrorCode, RateLimitedError, ServiceError, ValidationError } from '../../../core/errors.ts';
import type { RespondWithError } from '../../../functions/http/api-handler.ts';
import {
  NoSuchModelError,
  openAiErrorResponse,
  openAiVideoErrorResponse,
  stillMakingResponse,
  unknownModelProblem,
} from '../../../functions/openai/errors.ts';

const read = (error: ServiceError, respond: RespondWithError = openAiErrorResponse) => {
  const { statusCode, headers, body } = respond(error);
  return { status: statusCode, headers: headers ?? {}, ...JSON.parse(body) };
};

describe('an error in the shape of OpenAI', () => {
  /** Status and whether the `openai` package is told to leave repeating: it repeats 408, 409, 429 and 5xx. */
  const WANTED: Record<ErrorCode, [number, boolean]> = {
    validation_error: [400, true],
    unauthorized: [401, true],
    account_blocked: [401, true],
    payment_required: [429, true],
    forbidden: [403, true],
    not_found: [404, true],
    conflict: [409, true],
    content_policy: [400, true],
    rate_limited: [429, false],
    provider_timeout: [500, false],
    provider_error: [500, false],
    internal_error: [500, false],
    temporarily_unavailable: [503, false],
  };

  test.each(Object.entries(WANTED) as [ErrorCode, [number, boolean]][])(
    '%s is repeated by clients only where another call may end otherwise: %j',
    (code, [status, isFinal]) => {
      const answer = read(new ServiceError(code, 'why'));

      expect([answer.status, answer.headers['x-should-retry']]).toEqual([
        ...[status, isFinal ? 'false' : undefined],
      ]);
      expect(answer.headers).not.toHaveProperty('Retry-After');
      expect(answer.error).toMatchObject({ message: 'why', param: null });
    },
  );

  test('says after how many seconds a call may be repeated', () => {
    expect(read(new RateLimitedError(7)).headers).toEqual({ 'Retry-After': '7' });
  });

  test.each<[string, string, string]>([
    ['endUserEmail', 'user', 'user'],
    ['references', 'image', 'references'],
    ['references[12]', 'image', 'references[12]'],
    ['image', 'image', 'input_reference'],
    ['durationSec', 'durationSec', 'seconds'],
    ['resolution', 'resolution', 'size'],
    ['ratio', 'ratio', 'size'],
    ['prompt', 'prompt', 'prompt'],
  ])('names %s of a creation by its name there: %s of images, %s of a video', (field, ofImages, ofVideo) => {
    const error = new ValidationError({ [field]: 'is wrong' });

    for (const [respond, param] of [
      [openAiErrorResponse, ofImages],
      [openAiVideoErrorResponse, ofVideo],
    ] as const) {
      const told = read(error, respond).error;
      expect(told.param).toBe(param);
      if (param !== 'user') expect(told.message).toBe(`'${param}' is wrong`);
    }
  });

  test('names a parameter that is not known as it was sent', () => {
    for (const respond of [openAiErrorResponse, openAiVideoErrorResponse])
      expect(read(new ValidationError({ durationSec: 'is not a known field' }), respond).error).toMatchObject(
        {
          ...{ param: 'durationSec', code: 'unknown_parameter' },
        },
      );
  });

  test('says what a user is where an end-user is missing, and else what is wrong with `user`', () => {
    expect(read(new ValidationError({ endUserEmail: 'is required' })).error).toMatchObject({
      ...{ param: 'user', code: 'missing_required_parameter' },
      message: expect.stringMatching(/^'user' must be the email address of your own user/),
    });
    expect(read(new ValidationError({ user: 'must be a string' })).error.message).toBe(
      "'user' must be a string",
    );
  });

  test('names one of several parameters, and none for the body', () => {
    expect(read(new ValidationError({ n: 'is wrong', size: 'is wrong' })).error.param).toBe('n');
    expect(read(new ValidationError({ body: 'must be JSON' })).error).toMatchObject({
      ...{ param: null, code: 'invalid_value' },
    });
    expect(read(new ValidationError({})).error.param).toBeNull();
  });
});

describe('a model that is not there', () => {
  test('is named with what is on offer, if anything is', () => {
    expect(unknownModelProblem('x', ['a', 'b'])).toBe('"x" is not on offer: choose a, b');
    expect(unknownModelProblem('x', [])).toBe('"x" is not on offer: no model is');
    expect(read(new NoSuchModelError('x', ['a'])).error).toMatchObject({
      ...{ message: 'The model "x" is not on offer: choose a.', param: 'model', code: 'model_not_found' },
    });
  });

  test('is named by 100 characters at most, whole ones', () => {
    expect(unknownModelProblem('x'.repeat(101), [])).toContain(`"${'x'.repeat(100)}" `);
    expect(unknownModelProblem(`${'x'.repeat(99)}😀`, [])).toContain('\uFFFD');
  });
});

describe('the answer to a call whose images take longer', () => {
  test('names the request and where it is, and is repeated', () => {
    const { statusCode, headers, body } = stillMakingResponse('img_1');

    expect([statusCode, headers?.['x-should-retry']]).toEqual([408, 'true']);
    expect(headers?.Location).toBe('https://api.example.com/v1/generations/img_1');
    expect(JSON.parse(body).error.message).toMatch(/^The images of img_1 are still being made/);
  });

  test('names none that another call makes', () => {
    const { headers, body } = stillMakingResponse(undefined);

    expect(headers).toEqual({ 'x-should-retry': 'true' });
    expect(JSON.parse(body).error.message).toMatch(/^The images are still being made/);
  });
});
