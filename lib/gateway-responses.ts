import { type GatewayResponseOptions, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { ERROR_STATUS, type ErrorCode, UNEXPECTED_ERROR } from '../core/errors.ts';
import { VERSION } from './release.ts';

/**
 * The types that OpenAI's clients know, of errors that `/openai/v1` may meet. Templates of gateway responses only substitute variables, so they
 * cannot tell paths apart: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-swagger-extensions-gateway-responses.responseTemplates.html
 */
const OPENAI_TYPES: Partial<Record<ErrorCode, string>> = {
  validation_error: 'invalid_request_error',
  forbidden: 'invalid_request_error',
  rate_limited: 'requests',
  internal_error: 'server_error',
};

/** Body of an error made by the gateway, in the API's format, and where `/openai/v1` may meet it with the fields of that surface. */
const errorBody = (code: ErrorCode, message: string): string => {
  const type = OPENAI_TYPES[code];
  return JSON.stringify({ error: { code, message, ...(type && { type, param: null }) } });
};

const gatewayError = (
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Omit<GatewayResponseOptions, 'type'> => ({
  statusCode: String(ERROR_STATUS[code]),
  templates: { 'application/json': errorBody(code, message) },
  responseHeaders: {
    'X-Request-Id': 'context.requestId',
    'X-Service-Version': `'${VERSION}'`,
    'X-Content-Type-Options': "'nosniff'",
    ...headers,
  },
});

/** Unknown paths and `/`: the answer links the reference, for a reader who opens the API's address in a browser. */
const noSuchRoute = (referenceUrl: string) =>
  gatewayError('not_found', `There is no such route: ${referenceUrl} describes the API.`);

/**
 * Every error that the gateway can make itself, in the API's format. Errors without a line get the gateway's default
 * status.
 */
export const gatewayResponses = (
  referenceUrl: string,
): [ResponseType, Omit<GatewayResponseOptions, 'type'>][] => [
  // The gateway's names for an unknown path. `http-api.ts` gives every path a method, so that these are not met.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, noSuchRoute(referenceUrl)],
  [ResponseType.RESOURCE_NOT_FOUND, noSuchRoute(referenceUrl)],
  // The gateway's error for every unknown path, by `http-api.ts`.
  [ResponseType.INVALID_API_KEY, noSuchRoute(referenceUrl)],
  [ResponseType.REQUEST_TOO_LARGE, gatewayError('validation_error', 'The request body is too large.')],
  [ResponseType.ACCESS_DENIED, gatewayError('forbidden', 'Access is denied.')],
  [ResponseType.WAF_FILTERED, gatewayError('forbidden', 'Access is denied.')],
  [
    ResponseType.THROTTLED,
    gatewayError('rate_limited', 'Too many requests in a short window.', { 'Retry-After': "'1'" }),
  ],
  [ResponseType.DEFAULT_4XX, gatewayError('validation_error', 'The request is not valid.')],
  // Among them the answer to a crash, to a timeout, and to Lambda's throttling, which the gateway cannot tell from a crash.
  [
    ResponseType.DEFAULT_5XX,
    gatewayError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message, { 'Retry-After': "'2'" }),
  ],
];
