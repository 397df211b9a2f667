import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda';
import { methodsOf } from '../../../core/routes.ts';

interface EventOptions {
  resource?: string;
  /** Default: a method of the resource, if it is a route's. */
  method?: string;
  headers?: Record<string, string>;
  pathParameters?: Record<string, string>;
  /** All values of each parameter. */
  query?: Record<string, string[]>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
  isBase64Encoded?: boolean;
}

/** An event as API Gateway's proxy integration sends it. */
export const anApiEvent = (options: EventOptions = {}): APIGatewayProxyEvent => {
  const { resource = '/v1/thing', headers = {}, pathParameters, query, body } = options;
  const event: Partial<APIGatewayProxyEvent> = {
    resource,
    path: resource,
    httpMethod: options.method ?? methodsOf(resource)[0] ?? 'POST',
    headers,
    pathParameters: pathParameters ?? null,
    queryStringParameters: query
      ? Object.fromEntries(Object.entries(query).map(([name, values]) => [name, values.at(-1) ?? '']))
      : null,
    multiValueQueryStringParameters: query ?? null,
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    isBase64Encoded: options.isBase64Encoded ?? false,
    requestContext: { requestId: 'http-request-1' } as APIGatewayProxyEvent['requestContext'],
  };
  return event as APIGatewayProxyEvent;
};

export const aLambdaContext = (): Context =>
  ({
    functionName: 'function',
    functionVersion: '$LATEST',
    memoryLimitInMB: '256',
    invokedFunctionArn: 'arn:aws:lambda:us-east-1:111122223333:function:function',
    awsRequestId: 'lambda-request-1',
    logStreamName: 'stream-1',
    getRemainingTimeInMillis: () => 29_000,
  }) as Context;

/** A response with its body parsed. */
export const read = ({ statusCode, headers, body }: APIGatewayProxyResult) => ({
  status: statusCode,
  headers: headers ?? {},
  body: JSON.parse(body),
});
