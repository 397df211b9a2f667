import type { Refusal } from '../capacity.ts';
import { UpstreamError } from '../http.ts';
import type { TaskError } from '../tasks.ts';

/** The `type` that ModelArk sends with the code, by HTTP status. */
const TYPES: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  413: 'BadRequest',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
};

/** ModelArk's error body. Its message ends with the request id. */
export const renderError = ({ status, code, message, param }: UpstreamError, requestId: string) => ({
  error: { code, message: `${message} Request id: ${requestId}`, param, type: TYPES[status] ?? '' },
});

/** The error of a failed task. */
export const taskErrorOf = ({ code, message }: UpstreamError): TaskError => ({ code, message });

/** 400: invalid value of a field. */
export const invalidParameter = (param: string, reason: string) =>
  new UpstreamError(
    400,
    'InvalidParameter',
    `The parameter \`${param}\` specified in the request is not valid: ${reason}.`,
    { param },
  );

/** 400: missing required field. */
export const missingParameter = (param: string) =>
  new UpstreamError(400, 'MissingParameter', `The request is missing the required parameter \`${param}\`.`, {
    param,
  });

/** 401: missing or wrong key. */
export const authenticationError = () =>
  new UpstreamError(401, 'AuthenticationError', 'The API key in the request is missing or invalid.');

/** 404: unknown model. */
export const modelNotFound = (model: string) =>
  new UpstreamError(
    404,
    'InvalidEndpointOrModel.NotFound',
    `The model or endpoint ${model} does not exist or you do not have access to it.`,
  );

/** 400: moderation rejected the prompt. */
export const inputTextSensitive = () =>
  new UpstreamError(
    400,
    'InputTextSensitiveContentDetected',
    'The request failed because the input text may contain sensitive information.',
  );

/** 400: moderation rejected the generated image. */
export const outputImageSensitive = () =>
  new UpstreamError(
    400,
    'OutputImageSensitiveContentDetected',
    'The request failed because the output image may contain sensitive information.',
  );

/** 400: moderation rejected the generated video. */
export const outputVideoSensitive = () =>
  new UpstreamError(
    400,
    'OutputVideoSensitiveContentDetected',
    'The request failed because the output video may contain sensitive information.',
  );

/** 404: unknown task. ModelArk documents the code as `NotFound.` plus the parameter's name. */
export const taskNotFound = (id: string) =>
  new UpstreamError(404, 'NotFound.id', `The specified task ${id} is not found.`, { param: 'id' });

/**
 * 409: only a queued task can be cancelled, and only one that ended deleted. The code for a running task is ModelArk's as
 * observed by its clients; for a cancelled one it is unverified.
 */
export const cannotDelete = (id: string, status: 'running' | 'cancelled') =>
  new UpstreamError(
    409,
    status === 'running' ? 'InvalidAction.RunningTaskDeletion' : 'InvalidAction.CancelledTaskDeletion',
    `Cannot delete task ${id} because it is currently ${status}.`,
  );

const TOO_MANY: Record<Refusal['reason'], [code: string, message: string]> = {
  rate: [
    'ModelAccountRpmRateLimitExceeded',
    'The requests per minute limit for this model has been reached.',
  ],
  running: [
    'InflightBatchsizeExceeded',
    'The number of requests under way has reached the limit for this model.',
  ],
  overload: [
    'ServerOverloaded',
    'The service is currently unable to handle additional requests due to server overload.',
  ],
};

/** 429: more calls than the account may make of this model, or than the service can take; retryable. */
export const tooManyCalls = ({ reason, retryAfterSeconds }: Refusal) => {
  const [code, message] = TOO_MANY[reason];
  return new UpstreamError(429, code, message, { retryAfterSeconds });
};

/** 503 of a task query; retryable. ModelArk documents none; a gateway before it answers so. */
export const serviceUnavailable = ({ retryAfterSeconds }: Pick<Refusal, 'retryAfterSeconds'>) =>
  new UpstreamError(503, 'ServiceUnavailable', 'The service is unavailable.', { retryAfterSeconds });

/** 429: more tasks than may run and wait; ModelArk's code for it is the one for a used-up trial. */
export const quotaExceeded = () =>
  new UpstreamError(429, 'QuotaExceeded', 'The quota of tasks that run or wait has been reached.');

/** 500: internal error of the upstream. */
export const internalServiceError = () =>
  new UpstreamError(500, 'InternalServiceError', 'The service encountered an unexpected internal error.');

/** 404: unknown route. */
export const unknownRoute = (method: string, path: string) =>
  new UpstreamError(404, 'NotFound', `There is no route ${method} ${path}.`);

/** 400: the body is not a JSON object. */
export const malformedBody = () =>
  new UpstreamError(400, 'InvalidParameter', 'The request body is not a valid JSON object.');

/** 413: the body exceeds the sandbox's limit. */
export const bodyTooLarge = () =>
  new UpstreamError(413, 'InvalidParameter', 'The request body is too large.');
