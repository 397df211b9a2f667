import type { Directives } from '../directives.ts';
import { UpstreamError } from '../http.ts';
import type { TaskError } from '../tasks.ts';

/** Model Studio's error body. */
export const renderError = ({ code, message }: UpstreamError, requestId: string) => ({
  code,
  message,
  request_id: requestId,
});

/** An error as a failed task carries it. */
export const taskErrorOf = ({ code, message }: UpstreamError): TaskError => ({ code, message });

/** 400: a field has a value it must not have, or is absent. */
export const invalidParameter = (message: string) => new UpstreamError(400, 'InvalidParameter', message);

/** 400: the model exists, but not on this route. */
export const wrongRoute = () => invalidParameter('url error, please check url!');

/** 401: no key, or not ours. */
export const invalidApiKey = () => new UpstreamError(401, 'InvalidApiKey', 'Invalid API-key provided.');

/** 403: the route is asynchronous only, and the call did not say so. */
export const synchronousNotSupported = () =>
  new UpstreamError(403, 'AccessDenied', 'current user api does not support synchronous calls.');

/** 403: the route is synchronous only, and the call asked otherwise. */
export const asynchronousNotSupported = () =>
  new UpstreamError(403, 'AccessDenied', 'current user api does not support asynchronous calls.');

/** 404: no such model. */
export const modelNotFound = (model: string) =>
  new UpstreamError(
    404,
    'ModelNotFound',
    `The model \`${model}\` does not exist or you do not have access to it.`,
  );

/** 400: moderation said no. */
export const dataInspectionFailed = () =>
  new UpstreamError(400, 'DataInspectionFailed', 'Input or output data may contain inappropriate content.');

/** 429: retry later. */
export const rateQuota = () =>
  new UpstreamError(429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.');

/** 500: something broke upstream. */
export const internalError = () =>
  new UpstreamError(500, 'InternalError', 'An internal error has occurred, please try again later.');

/** 400: only a task that still waits can be cancelled. */
export const cannotCancel = () =>
  new UpstreamError(
    400,
    'UnsupportedOperation',
    'Failed to cancel the task, please confirm if the task is in PENDING status.',
  );

/** 404: no such route. */
export const unknownRoute = (method: string, path: string) =>
  new UpstreamError(404, 'NotFound', `There is no route ${method} ${path}.`);

/** 400: the body is not a JSON object. */
export const malformedBody = () =>
  invalidParameter('Required body invalid, please check the request body format.');

/** 413: the body is larger than the sandbox takes. */
export const bodyTooLarge = () =>
  new UpstreamError(413, 'InvalidParameter', 'The request body is too large.');

/** The refusal a prompt asks for, once the call was accepted; undefined when it asks for none. */
export const refusalOf = ({ fail }: Pick<Directives, 'fail'>): UpstreamError | undefined => {
  if (fail === 'provider_error') return internalError();
  if (fail === 'content_policy') return dataInspectionFailed();
  return undefined;
};
