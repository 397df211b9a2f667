import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import type { MiddlewareObj } from '@middy/core';
import middy from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import type { ErrorBody } from '../../core/error-answers.ts';
import {
  ERROR_STATUS,
  NotFoundError,
  ServiceError,
  UNEXPECTED_ERROR,
  ValidationError,
} from '../../core/errors.ts';
import { logger } from '../../core/observability.ts';
import { methodsOf, OPENAI_ROOT } from '../../core/routes.ts';
import { endsEarly } from '../event-handler.ts';
import { ApiRequest } from './api-request.ts';

type Route = (request: ApiRequest) => Promise<APIGatewayProxyResult>;

/** Turns a route's error into its response. Logs unexpected errors as such. */
const errorResponses = (
  respond: RespondWithError,
): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> => ({
  onError: (request) => {
    const { error } = request;
    if (error instanceof ServiceError) {
      logger.warn('request refused', { code: error.code });
      request.response = respond(error);
    } else {
      logger.error('request failed', { error: error as Error });
      request.response = respond(internalError(error));
    }
  },
});

/** Adds the headers of every response. */
const standardHeaders = (): MiddlewareObj<APIGatewayProxyEvent, APIGatewayProxyResult> => {
  const add = (event: APIGatewayProxyEvent, response: APIGatewayProxyResult | null | undefined): void => {
    if (!response) return;
    response.headers = {
      'Content-Type': 'application/json',
      'X-Content-Type-Options': 'nosniff',
      'X-Request-Id': event.requestContext.requestId,
      'X-Service-Version': requiredEnv('SERVICE_VERSION'),
      ...response.headers,
    };
  };
  return {
    after: ({ event, response }) => add(event, response),
    onError: ({ event, response }) => add(event, response),
  };
};

/**
 * API Gateway waits 29 s, cold start included, which Lambda does not count against the function's 29 s. Answering
 * earlier keeps the error in the API's format.
 */
const ANSWER_EARLY_MS = 2_000;

/**
 * The Lambda handler of an API route: logs with the HTTP request id, renders errors, by default in the API's format, and
 * adds the standard headers. Another method of the path is refused. A route that is not done 2 s before the function's time limit is
 * answered with `internal_error`. The route parses, calls and responds.
 */
export const apiHandler = (
  route: Route,
  respond: RespondWithError = errorResponse,
  plugin: middy.PluginObject = {},
) =>
  middy<APIGatewayProxyEvent, APIGatewayProxyResult>({
    ...endsEarly(ANSWER_EARLY_MS, () => respond(internalError(undefined))),
    ...plugin,
  })
    .use(injectLambdaContext(logger, { resetKeys: true }))
    .use(standardHeaders())
    .use(errorResponses(respond))
    .handler(async (event) => {
      logger.appendKeys({ httpRequestId: event.requestContext.requestId, route: event.resource });
      return wrongMethod(event, respond) ?? route(new ApiRequest(event, new Date()));
    });

/**
 * As `apiHandler`, for a route whose response is streamed: it may take minutes, and have more than 6 MB. Only Lambda's own runtime
 * streams; elsewhere the handler returns its response.
 */
export const streamingHandler = (route: Route, respond: RespondWithError) =>
  apiHandler(route, respond, canStream() ? { executionMode: executionModeStreamifyResponse } : {});

const canStream = (): boolean => {
  const { awslambda } = globalThis as { awslambda?: { streamifyResponse?: unknown } };
  return awslambda?.streamifyResponse !== undefined;
};

/** A JSON response. `apiHandler` adds the standard headers. */
export const json = (
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({ statusCode, headers, body: JSON.stringify(body) });

/** The polling interval that callers are advised to keep, in the answer to a creation and to a read of an unfinished request. */
export const READ_AGAIN = { 'Retry-After': '5' } as const;

/** Makes the response for an error that the caller may see. */
export type RespondWithError = (error: ServiceError) => APIGatewayProxyResult;

/** The response for an error in the API's format. */
const errorResponse: RespondWithError = (error) => {
  const fields = error instanceof ValidationError ? { fields: error.fields } : {};
  const body: ErrorBody = { error: { code: error.code, message: error.message, ...fields } };
  const retryAfter = error.retryAfterSeconds;
  return json(
    ERROR_STATUS[error.code],
    body,
    retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  );
};

/** The response to any unexpected error: nothing about its cause. */
export const internalError = (cause: unknown): ServiceError =>
  new ServiceError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message, { cause });

/**
 * The answer to a call of a known path with another method: 404 with `Allow`, whatever its key, content type or body. Of an
 * unknown path for OpenAI's clients: 404. Undefined for a method that the path takes. The gateway cannot give this answer: mock
 * integrations only take listed content types, and the gateway's own errors have the same shape for every path.
 */
const wrongMethod = (
  { resource, httpMethod }: Pick<APIGatewayProxyEvent, 'resource' | 'httpMethod'>,
  respond: RespondWithError,
): APIGatewayProxyResult | undefined => {
  const allowed = methodsOf(resource);
  if (allowed.length === 0 && (resource === OPENAI_ROOT || resource.startsWith(`${OPENAI_ROOT}/`)))
    return respond(new NotFoundError('There is no such route. The base URL of a client ends in /openai/v1.'));
  if (allowed.length === 0 || allowed.includes(httpMethod)) return undefined;
  const methods = allowed.join(', ');
  const response = respond(new NotFoundError(`This route takes ${methods} only.`));
  return { ...response, headers: { ...response.headers, Allow: methods } };
};
