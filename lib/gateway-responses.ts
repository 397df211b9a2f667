import { type GatewayResponseOptions, ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { ERROR_STATUS, type ErrorCode, UNEXPECTED_ERROR } from '../core/errors.ts';

/** Status for a known path with a method that it does not take. The error code in its body is `not_found`. */
export const METHOD_NOT_ALLOWED = '405';

/** Body of an error made by the gateway, in the API's format. */
export const errorBody = (code: ErrorCode, message: string): string =>
  JSON.stringify({ error: { code, message } });

const gatewayError = (
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Omit<GatewayResponseOptions, 'type'> => ({
  statusCode: String(ERROR_STATUS[code]),
  templates: { 'application/json': errorBody(code, message) },
  responseHeaders: {
    'X-Request-Id': 'context.requestId',
    'X-Content-Type-Options': "'nosniff'",
    ...headers,
  },
});

const UNEXPECTED = gatewayError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message);
const TOO_MANY = gatewayError('rate_limited', 'Too many requests in a short window.', {
  'Retry-After': "'1'",
});

/** Every error that the gateway can make itself, in the API's format and with its status. */
export const GATEWAY_RESPONSES: [ResponseType, Omit<GatewayResponseOptions, 'type'>][] = [
  // The gateway's name for an unknown path.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, gatewayError('not_found', 'There is no such route.')],
  [ResponseType.RESOURCE_NOT_FOUND, gatewayError('not_found', 'There is no such route.')],
  [ResponseType.REQUEST_TOO_LARGE, gatewayError('validation_error', 'The request body is too large.')],
  // Only the 405 mock checks the content type. This replaces its response when it has no template for the type.
  [
    ResponseType.UNSUPPORTED_MEDIA_TYPE,
    { ...gatewayError('not_found', 'This route does not take this method.'), statusCode: METHOD_NOT_ALLOWED },
  ],
  [ResponseType.ACCESS_DENIED, gatewayError('forbidden', 'Access is denied.')],
  [ResponseType.WAF_FILTERED, gatewayError('forbidden', 'Access is denied.')],
  [ResponseType.THROTTLED, TOO_MANY],
  [ResponseType.QUOTA_EXCEEDED, TOO_MANY],
  [ResponseType.DEFAULT_4XX, gatewayError('validation_error', 'The request is not valid.')],
  [ResponseType.INTEGRATION_FAILURE, UNEXPECTED],
  [ResponseType.INTEGRATION_TIMEOUT, UNEXPECTED],
  [ResponseType.DEFAULT_5XX, UNEXPECTED],
];
