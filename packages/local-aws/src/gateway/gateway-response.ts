import type { GatewayResponseSpec } from '../template/api.ts';
import type { Answer } from './answer.ts';
import { type ExpressionContext, mapHeaders, renderTemplate } from './expressions.ts';

/**
 * The gateway's own errors, as API Gateway answers them unless the template changes them:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
 */
const RESPONSE_TYPES = {
  // A failed function or a malformed response is a 502 in practice; the documented 504 is for other integrations.
  INTEGRATION_FAILURE: {
    statusCode: 502,
    message: 'Internal server error',
    errorType: 'InternalServerErrorException',
  },
  // Lambda throttles the function. Templates change it as `INTEGRATION_FAILURE`.
  INTEGRATION_THROTTLED: {
    statusCode: 500,
    message: 'Internal server error',
    errorType: 'InternalServerErrorException',
  },
  INTEGRATION_TIMEOUT: {
    statusCode: 504,
    message: 'Endpoint request timed out',
    errorType: 'InternalServerErrorException',
  },
  /** A header that is no signature of version 4. Templates cannot name this type, only `DEFAULT_4XX`. */
  INCOMPLETE_SIGNATURE: {
    statusCode: 403,
    message: 'Invalid key=value pair (missing equal-sign) in Authorization header.',
    errorType: 'IncompleteSignatureException',
  },
  INVALID_API_KEY: { statusCode: 403, message: 'Forbidden', errorType: 'ForbiddenException' },
  INVALID_SIGNATURE: {
    statusCode: 403,
    message: 'The request signature we calculated does not match the signature you provided.',
    errorType: 'InvalidSignatureException',
  },
  MISSING_AUTHENTICATION_TOKEN: {
    statusCode: 403,
    message: 'Missing Authentication Token',
    errorType: 'MissingAuthenticationTokenException',
  },
  REQUEST_TOO_LARGE: {
    statusCode: 413,
    message: 'HTTP content length exceeded 10485760 bytes.',
    errorType: 'RequestTooLargeException',
  },
} as const;

/** An error of the gateway itself. */
export type GatewayResponseType = keyof typeof RESPONSE_TYPES;

const DEFAULT_TEMPLATES = { 'application/json': '{"message":$context.error.messageString}' };

/** The answer to an error: the template's response of this type, else its default for 4xx or 5xx, else API Gateway's own. */
export const gatewayResponse = (
  type: GatewayResponseType,
  customized: Record<string, GatewayResponseSpec>,
  context: ExpressionContext,
): Answer => {
  const { statusCode, message, errorType } = RESPONSE_TYPES[type];
  const customType = type === 'INTEGRATION_THROTTLED' ? 'INTEGRATION_FAILURE' : type;
  const custom = customized[customType] ?? customized[statusCode < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'];
  const errorContext = {
    ...context,
    error: { message, messageString: JSON.stringify(message), responseType: customType },
  };
  const templates = custom && Object.keys(custom.templates).length > 0 ? custom.templates : DEFAULT_TEMPLATES;
  const [contentType, template] = Object.entries(templates).find(
    ([mediaType]) => mediaType === 'application/json',
  ) ??
    Object.entries(templates)[0] ?? ['application/json', ''];
  return {
    statusCode: custom?.statusCode ?? statusCode,
    headers: {
      'x-amzn-ErrorType': errorType,
      'Content-Type': contentType,
      ...mapHeaders(custom?.headers ?? {}, errorContext),
    },
    body: Buffer.from(renderTemplate(template, errorContext)),
  };
};
