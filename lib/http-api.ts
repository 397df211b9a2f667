import { Stack } from 'aws-cdk-lib';
import {
  EndpointType,
  type GatewayResponseOptions,
  LambdaIntegration,
  MockIntegration,
  PassthroughBehavior,
  type Resource,
  ResponseType,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { ERROR_STATUS, type ErrorCode, UNEXPECTED_ERROR } from '../core/errors.ts';
import type { Route } from '../core/routes.ts';

/** One route of the API and the function behind it. */
export interface ApiRoute extends Route {
  handler: IFunction;
}

const STAGE = 'prod';

/** A known route with a method it does not take; the error code in its body is `not_found`. */
const METHOD_NOT_ALLOWED = '405';

/** Body of an error the gateway makes itself, in the API's shape. */
const errorBody = (code: ErrorCode, message: string): string => JSON.stringify({ error: { code, message } });

const gatewayError = (
  code: ErrorCode,
  message: string,
  headers: Record<string, string> = {},
): Omit<GatewayResponseOptions, 'type'> => ({
  statusCode: String(ERROR_STATUS[code]),
  templates: { 'application/json': errorBody(code, message) },
  responseHeaders: { 'X-Request-Id': 'context.requestId', ...headers },
});

const UNEXPECTED = gatewayError(UNEXPECTED_ERROR.code, UNEXPECTED_ERROR.message);
const TOO_MANY = gatewayError('rate_limited', 'Too many requests in a short window.', {
  'Retry-After': "'1'",
});

/** What the gateway answers by itself: every refusal it can make has the API's shape and status. */
const GATEWAY_RESPONSES: [ResponseType, Omit<GatewayResponseOptions, 'type'>][] = [
  // The gateway's name for a path it does not know.
  [ResponseType.MISSING_AUTHENTICATION_TOKEN, gatewayError('not_found', 'There is no such route.')],
  [ResponseType.RESOURCE_NOT_FOUND, gatewayError('not_found', 'There is no such route.')],
  [ResponseType.REQUEST_TOO_LARGE, gatewayError('validation_error', 'The request body is too large.')],
  // Only the refusal of a method looks at the content type: with one it has no template for, this is what answers.
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

/** The REST API: each route to its function, and every error the gateway makes in the API's own shape. */
export class HttpApi extends Construct {
  /** Where callers reach it: the given base URL, else the gateway's own. */
  readonly baseUrl: string;
  /** The REST API itself, for what watches it. */
  readonly api: RestApi;

  constructor(scope: Construct, id: string, props: { publicBaseUrl: string | undefined }) {
    super(scope, id);
    this.api = new RestApi(this, 'RestApi', {
      description: 'Generation service',
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: { stageName: STAGE, metricsEnabled: true },
      cloudWatchRole: false,
    });
    // Built from its parts: the stage's own URL depends on the functions that are told of it.
    const { region, urlSuffix } = Stack.of(this);
    this.baseUrl =
      props.publicBaseUrl ?? `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
    for (const [type, response] of GATEWAY_RESPONSES) {
      this.api.addGatewayResponse(type.responseType, { type, ...response });
    }
  }

  /** Adds routes; a path's other methods answer 405. Call it once: a path is closed by it. */
  addRoutes(routes: readonly ApiRoute[]): void {
    for (const { method, path, handler } of routes) {
      this.api.root
        .resourceForPath(path)
        .addMethod(method, new LambdaIntegration(handler, { allowTestInvoke: false }));
    }
    for (const path of new Set(routes.map((route) => route.path))) {
      const allowed = routes.filter((route) => route.path === path).map(({ method }) => method);
      refuseOtherMethods(this.api.root.resourceForPath(path), allowed);
    }
  }
}

const refuseOtherMethods = (resource: Resource, allowed: readonly string[]): void => {
  const header = (name: string) => `method.response.header.${name}`;
  const headers = {
    [header('X-Request-Id')]: 'context.requestId',
    [header('Allow')]: `'${allowed.join(', ')}'`,
  };
  const body = errorBody('not_found', `This route takes ${allowed.join(', ')} only.`);
  resource.addMethod(
    'ANY',
    new MockIntegration({
      passthroughBehavior: PassthroughBehavior.NEVER,
      requestTemplates: { 'application/json': '{"statusCode": 405}' },
      integrationResponses: [
        {
          statusCode: METHOD_NOT_ALLOWED,
          responseTemplates: { 'application/json': body },
          responseParameters: headers,
        },
      ],
    }),
    {
      methodResponses: [
        {
          statusCode: METHOD_NOT_ALLOWED,
          responseParameters: Object.fromEntries(Object.keys(headers).map((name) => [name, true])),
        },
      ],
    },
  );
};
