import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy, { type MiddlewareObj } from '@middy/core';
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse';
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { requiredEnv } from '../../core/environment.ts';
import { ServiceError } from '../../core/errors.ts';
import { logger } from '../../core/observability.ts';
import { endsEarly } from '../time-limit.ts';
import { ApiRequest } from './api-request.ts';
import { errorResponse, internalError, type RespondWithError } from './responses.ts';
import { wrongMethod } from './wrong-method.ts';

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
