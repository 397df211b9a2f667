import { UpstreamError } from '../http.ts';
import type { TaskError } from '../tasks.ts';

/** The `type` ModelArk gives beside the code, by HTTP status. */
const TYPES: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  413: 'BadRequest',
  429: 'TooManyRequests',
  500: 'InternalServerError',
};

/** ModelArk's error body; its message ends with the request id. */
export const renderError = ({ status, code, message, param }: UpstreamError, requestId: string) => ({
  error: { code, message: `${message} Request id: ${requestId}`, param, type: TYPES[status] ?? '' },
});

/** An error as a failed task carries it. */
export const taskErrorOf = ({ code, message }: UpstreamError): TaskError => ({ code, message });

/** 400: a field has a value it must not have. */
export const invalidParameter = (param: string, reason: string) =>
  new UpstreamError(
    400,
    'InvalidParameter',
    `The parameter \`${param}\` specified in the request is not valid: ${reason}.`,
    param,
  );

/** 400: a required field is absent. */
export const missingParameter = (param: string) =>
  new UpstreamError(
    400,
    'MissingParameter',
    `The request is missing the required parameter \`${param}\`.`,
    param,
  );

/** 401: no key, or not ours. */
export const authenticationError = () =>
  new UpstreamError(401, 'AuthenticationError', 'The API key in the request is missing or invalid.');

/** 404: no such model. */
export const modelNotFound = (model: string) =>
  new UpstreamError(
    404,
    'InvalidEndpointOrModel.NotFound',
    `The model or endpoint ${model} does not exist or you do not have access to it.`,
  );

/** 400: the prompt was refused before any work. */
export const inputTextSensitive = () =>
  new UpstreamError(
    400,
    'InputTextSensitiveContentDetected',
    'The request failed because the input text may contain sensitive information.',
  );

/** 400: the picture was refused after it was made. */
export const outputImageSensitive = () =>
  new UpstreamError(
    400,
    'OutputImageSensitiveContentDetected',
    'The request failed because the output image may contain sensitive information.',
  );

/** 400: the video was refused after it was made. */
export const outputVideoSensitive = () =>
  new UpstreamError(
    400,
    'OutputVideoSensitiveContentDetected',
    'The request failed because the output video may contain sensitive information.',
  );

/** 404: no such task. ModelArk documents the code as `NotFound.` and the parameter's name. */
export const taskNotFound = (id: string) =>
  new UpstreamError(404, 'NotFound.id', `The specified task ${id} is not found.`, 'id');

/** 429: retry later. */
export const serverOverloaded = () =>
  new UpstreamError(
    429,
    'ServerOverloaded',
    'The service is currently unable to handle additional requests due to server overload.',
  );

/** 500: something broke upstream. */
export const internalServiceError = () =>
  new UpstreamError(500, 'InternalServiceError', 'The service encountered an unexpected internal error.');

/** 404: no such route. */
export const unknownRoute = (method: string, path: string) =>
  new UpstreamError(404, 'NotFound', `There is no route ${method} ${path}.`);

/** 400: the body is not a JSON object. */
export const malformedBody = () =>
  new UpstreamError(400, 'InvalidParameter', 'The request body is not a valid JSON object.');

/** 413: the body is larger than the sandbox takes. */
export const bodyTooLarge = () =>
  new UpstreamError(413, 'InvalidParameter', 'The request body is too large.');
