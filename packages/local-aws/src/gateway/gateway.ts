import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { ApiSpec, ProxyIntegration } from '../template/api.ts';
import type { InvokeFunction } from '../types.ts';
import { type Answer, sendAnswer } from './answer.ts';
import { checkMapping, checkTemplate } from './expressions.ts';
import { type GatewayResponseType, gatewayResponse } from './gateway-response.ts';
import { proxyAnswer } from './proxy-answer.ts';
import { headerOf, type IncomingRequest, proxyEventOf } from './proxy-event.ts';
import { requestContextOf } from './request-context.ts';
import { createRouter, type FindRoute } from './router.ts';
import { openStreamedAnswer } from './streamed-answer.ts';

/** Payload limit of API Gateway: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** What a gateway works with. */
export interface GatewayOptions {
  api: ApiSpec;
  invoke: InvokeFunction;
  /** The host that clients use, without the port. */
  domainName: string;
  /** Logs each request, and why a function's answer was not passed on. */
  log?: (line: string) => void;
}

/** Answers one HTTP request. Never rejects. */
export type HandleRequest = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Checks every template and mapping at start. Throws `TemplateError`. */
const checkExpressions = ({ gatewayResponses }: ApiSpec) => {
  for (const { templates, headers } of Object.values(gatewayResponses)) {
    Object.values(templates).forEach(checkTemplate);
    Object.values(headers).forEach(checkMapping);
  }
};

/** Beyond this a client is cut off. Up to here the body is read, since clients see the answer only then. */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES;

/** The body; undefined when it exceeds the limit. Rejects when the client goes away. */
const readBody = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  let chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_DISCARDED_BYTES) throw new Error('the body does not end');
    if (sizeBytes > MAX_BODY_BYTES) chunks = [];
    else chunks.push(chunk);
  }
  return sizeBytes > MAX_BODY_BYTES ? undefined : Buffer.concat(chunks);
};

/**
 * The gateway's response to a call without a route. The gateway expects every such call to be signed, and judges only
 * its `Authorization`.
 */
const withoutRoute = (authorization: string | undefined): GatewayResponseType => {
  if (authorization === undefined || authorization === '') return 'MISSING_AUTHENTICATION_TOKEN';
  return authorization.startsWith('AWS4-HMAC-SHA256 ') ? 'INVALID_SIGNATURE' : 'INCOMPLETE_SIGNATURE';
};

/** The gateway's answer to an invocation that Lambda refuses, by the error's name. */
const REFUSED_INVOCATIONS: Record<string, GatewayResponseType> = {
  RequestTooLargeException: 'REQUEST_TOO_LARGE',
  TooManyRequestsException: 'INTEGRATION_THROTTLED',
};

const TIMED_OUT = Symbol('timed out');

/** The gateway of `createGateway`. */
class Gateway {
  private readonly options: GatewayOptions;
  private readonly log: NonNullable<GatewayOptions['log']>;
  private readonly findRoute: FindRoute;

  constructor(options: GatewayOptions) {
    this.options = options;
    this.log = options.log ?? (() => undefined);
    checkExpressions(options.api);
    this.findRoute = createRouter(options.api.routes, options.api.resourcePaths);
  }

  readonly handle: HandleRequest = async (request, response) => {
    const startedAt = performance.now();
    const target = request.url ?? '/';
    const [path = '/', ...query] = target.split('?');
    const context = requestContextOf(
      {
        method: request.method ?? 'GET',
        path,
        sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
        userAgent: request.headers['user-agent'],
        domainName: this.options.domainName,
        now: new Date(),
      },
      this.options.api,
    );
    try {
      const answer = await this.answerOf(request, [path, query.join('?')], context);
      const sent =
        typeof answer === 'string'
          ? gatewayResponse(answer, this.options.api.gatewayResponses, { ...context })
          : answer;
      const ids = {
        'x-amzn-RequestId': context.requestId,
        'x-amz-apigw-id': context.extendedRequestId ?? '',
      };
      sendAnswer(response, { ...sent, headers: { ...ids, ...sent.headers } });
      const milliseconds = (performance.now() - startedAt).toFixed(0);
      this.log(`${context.requestId} ${context.httpMethod} ${path} ${sent.statusCode} ${milliseconds} ms`);
    } catch (error) {
      // The client went away while it sent its body.
      this.log(`${context.requestId} ${context.httpMethod} ${path} ended early: ${error}`);
      response.destroy();
    }
  };

  private async callFunction(
    integration: ProxyIntegration,
    event: APIGatewayProxyEvent,
    accept: string | undefined,
  ): Promise<Answer | GatewayResponseType> {
    const { promise: timeout, resolve } = Promise.withResolvers<typeof TIMED_OUT>();
    const timer = setTimeout(() => resolve(TIMED_OUT), integration.timeoutMilliseconds);
    try {
      const result = await Promise.race([this.options.invoke(integration.functionArn, event), timeout]);
      if (result === TIMED_OUT) return 'INTEGRATION_TIMEOUT';
      const answer = result.functionError
        ? undefined
        : proxyAnswer(result.payload, this.options.api.binaryMediaTypes, accept);
      if (!answer)
        this.log(`${integration.functionArn} gave no response: ${JSON.stringify(result).slice(0, 1_000)}`);
      return answer ?? 'INTEGRATION_FAILURE';
    } catch (error) {
      this.log(`${integration.functionArn} was not invoked: ${error}`);
      return REFUSED_INVOCATIONS[(error as Error).name] ?? 'INTEGRATION_FAILURE';
    } finally {
      clearTimeout(timer);
    }
  }

  /** As `callFunction`, with the body of the answer as the function makes it. */
  private streamFunction(
    { functionArn, timeoutMilliseconds }: ProxyIntegration,
    event: APIGatewayProxyEvent,
  ): Promise<Answer | GatewayResponseType> {
    const stream = openStreamedAnswer();
    const timer = setTimeout(() => stream.end('INTEGRATION_TIMEOUT'), timeoutMilliseconds);
    const streaming = async () => {
      try {
        const { functionError, payload } = await this.options.invoke(functionArn, event, stream.take);
        if (functionError) this.log(`${functionArn} failed: ${JSON.stringify(payload).slice(0, 1_000)}`);
        stream.end(functionError && 'INTEGRATION_FAILURE');
      } catch (error) {
        this.log(`${functionArn} was not invoked: ${error}`);
        stream.end(REFUSED_INVOCATIONS[(error as Error).name] ?? 'INTEGRATION_FAILURE');
      } finally {
        clearTimeout(timer);
      }
    };
    void streaming();
    return stream.answer;
  }

  private async answerOf(
    request: IncomingMessage,
    [path, query]: [path: string, query: string],
    context: APIGatewayProxyEvent['requestContext'],
  ): Promise<Answer | GatewayResponseType> {
    const body = await readBody(request);
    const match = this.findRoute(context.httpMethod, path);
    const { rawHeaders } = request;
    if (!match) return withoutRoute(headerOf(rawHeaders, 'authorization'));
    if (!body) return 'REQUEST_TOO_LARGE';

    const { integration } = match.route;
    if (!integration) return 'INVALID_API_KEY';
    const incoming: IncomingRequest = {
      method: context.httpMethod,
      path,
      query,
      rawHeaders,
      body,
      port: request.socket.localPort ?? 0,
    };
    const event = proxyEventOf(incoming, match, context, this.options.api.binaryMediaTypes);
    if (integration.isStreamed) return this.streamFunction(integration, event);
    return this.callFunction(integration, event, headerOf(rawHeaders, 'accept'));
  }
}

/** A REST API: turns HTTP requests into proxy events, and the functions' answers into HTTP, as API Gateway does. */
export const createGateway = (options: GatewayOptions): HandleRequest => new Gateway(options).handle;
