import type { Refusal } from '../capacity.ts';
import type { Directives } from '../directives.ts';
import { UpstreamError } from '../http.ts';
import type { TaskError } from '../tasks.ts';

/** Model Studio's error body. */
export const renderError = ({ code, message }: UpstreamError, requestId: string) => ({
  code,
  message,
  request_id: requestId,
});

/** The error of a failed task. */
export const taskErrorOf = ({ code, message }: UpstreamError): TaskError => ({ code, message });

/** 400: invalid or missing field. */
export const invalidParameter = (message: string) => new UpstreamError(400, 'InvalidParameter', message);

/** 400: the model belongs to another route. */
export const wrongRoute = () => invalidParameter('url error, please check url!');

/** 401: missing or wrong key. */
export const invalidApiKey = () => new UpstreamError(401, 'InvalidApiKey', 'Invalid API-key provided.');

/** 403: a synchronous call to an asynchronous route. */
export const synchronousNotSupported = () =>
  new UpstreamError(403, 'AccessDenied', 'current user api does not support synchronous calls.');

/** 403: an asynchronous call to a synchronous route. */
export const asynchronousNotSupported = () =>
  new UpstreamError(403, 'AccessDenied', 'current user api does not support asynchronous calls.');

/** 404: unknown model. */
export const modelNotFound = (model: string) =>
  new UpstreamError(
    404,
    'ModelNotFound',
    `The model \`${model}\` does not exist or you do not have access to it.`,
  );

/** 400: moderation rejected the input or the output. */
const dataInspectionFailed = () =>
  new UpstreamError(400, 'DataInspectionFailed', 'Input or output data may contain inappropriate content.');

/** 429: more calls than the account may make of this model, or calls and tasks than may run at once; retryable. */
export const tooManyCalls = ({ reason, retryAfterSeconds }: Refusal) => {
  const [code, message] =
    reason === 'running'
      ? ['Throttling.Concurrency', 'Too many tasks are running, please try again later.']
      : ['Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.'];
  return new UpstreamError(429, code ?? '', message ?? '', { retryAfterSeconds });
};

/** 503: the service is down for now; retryable for a query. */
export const serviceUnavailable = ({ retryAfterSeconds }: Pick<Refusal, 'retryAfterSeconds'>) =>
  new UpstreamError(503, 'ServiceUnavailable', 'The service is unavailable.', { retryAfterSeconds });

/** 500: internal error of the upstream. */
export const internalError = () =>
  new UpstreamError(500, 'InternalError', 'An internal error has occurred, please try again later.');

/** 400: the task is not PENDING, so it cannot be cancelled. */
export const cannotCancel = () =>
  new UpstreamError(
    400,
    'UnsupportedOperation',
    'Failed to cancel the task, please confirm if the task is in PENDING status.',
  );

/** 404: unknown route. */
export const unknownRoute = (method: string, path: string) =>
  new UpstreamError(404, 'NotFound', `There is no route ${method} ${path}.`);

/** 400: the body is not a JSON object. */
export const malformedBody = () =>
  invalidParameter('Required body invalid, please check the request body format.');

/** 413: the body exceeds the sandbox's limit. */
export const bodyTooLarge = () =>
  new UpstreamError(413, 'InvalidParameter', 'The request body is too large.');

/** The error that `[fail=…]` asks for, or moderation's error when no output was made. Undefined for success. */
export const failureOf = ({ fail }: Pick<Directives, 'fail'>, made = 1): UpstreamError | undefined => {
  if (fail === 'provider_error') return internalError();
  if (fail === 'content_policy' || made === 0) return dataInspectionFailed();
  return undefined;
};
