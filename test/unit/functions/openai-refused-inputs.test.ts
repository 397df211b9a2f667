import { expect, test } from '@jest/globals';
import type { Failure } from '../../../core/errors.ts';
import { imagesResponse } from '../../../functions/openai/answer.ts';
import { openAiErrorResponse, RefusedInputError } from '../../../functions/openai/errors.ts';
import { NOW } from '../builders/clocks.ts';
import { anImageRequest } from '../builders/entities.ts';

const answerTo = (error: Failure) => {
  const failed = anImageRequest({ status: 'failed', error, finishedAt: NOW.toISOString() });
  return imagesResponse(failed, { responseFormat: undefined, ignored: [], endOfModel: {} }, NOW).then(
    () => undefined,
    (thrown: unknown) => {
      if (!(thrown instanceof RefusedInputError)) throw thrown;
      const { statusCode, headers, body } = openAiErrorResponse(thrown);
      return { statusCode, shouldRetry: headers?.['x-should-retry'], ...JSON.parse(body) };
    },
  );
};

test.each<[Failure, object]>([
  [
    {
      ...{ code: 'provider_error', message: 'references[1] is smaller than the model takes.' },
      input: { reason: 'small', field: 'references[1]' },
    },
    { message: 'image[1] is smaller than the model takes.', param: 'image', code: 'invalid_value' },
  ],
  [
    {
      ...{ code: 'provider_error', message: 'One of references has a format that the model does not take.' },
      input: { reason: 'format', medium: 'image' },
    },
    {
      message: 'One of image has a format that the model does not take.',
      param: null,
      code: 'invalid_value',
    },
  ],
  [
    {
      ...{ code: 'provider_timeout', message: 'references[0] could not be fetched by the provider in time.' },
      input: { reason: 'slow', field: 'references[0]' },
    },
    {
      message: 'image[0] could not be fetched by the provider in time.',
      param: 'image',
      code: 'invalid_value',
    },
  ],
  [
    {
      ...{ code: 'content_policy', message: 'The content filter of the provider refused references[0].' },
      input: { reason: 'content', field: 'references[0]' },
    },
    {
      ...{ message: 'The content filter of the provider refused image[0].', param: 'image' },
      ...{ code: 'moderation_blocked', type: 'image_generation_user_error' },
    },
  ],
])('An input that a provider refused is 400, which no client repeats: %j', async (error, told) => {
  const type = 'invalid_request_error';

  expect(await answerTo(error)).toEqual({
    statusCode: 400,
    shouldRetry: 'false',
    error: { type, ...told },
  });
});
