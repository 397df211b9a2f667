import { Stack } from 'aws-cdk-lib';
import {
  EndpointType,
  LambdaIntegration,
  MockIntegration,
  PassthroughBehavior,
  type Resource,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { Route } from '../core/routes.ts';
import { errorBody, GATEWAY_RESPONSES, METHOD_NOT_ALLOWED } from './gateway-responses.ts';
import type { ServiceFunction } from './service-function.ts';

/** A route and its function. */
export interface ApiRoute extends Route {
  handler: IFunction;
}

const STAGE = 'prod';

/** The REST API: routes each call to its function, and makes gateway errors in the API's format. */
export class HttpApi extends Construct {
  /** The given public base URL, else the gateway's own. */
  readonly baseUrl: string;
  readonly api: RestApi;

  constructor(scope: Construct, id: string, publicBaseUrl: string | undefined) {
    super(scope, id);
    this.api = new RestApi(this, 'RestApi', {
      description: 'Generation service',
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: { stageName: STAGE, metricsEnabled: true },
      cloudWatchRole: false,
    });
    // Not the stage's own URL: the stage depends on the functions, which get this URL as a variable.
    const { region, urlSuffix } = Stack.of(this);
    this.baseUrl =
      publicBaseUrl ?? `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
    for (const [type, response] of GATEWAY_RESPONSES) {
      this.api.addGatewayResponse(type.responseType, { type, ...response });
    }
  }

  /** Gives functions the base URL of the API. */
  bindBaseUrl(functions: readonly ServiceFunction[]): void {
    for (const to of functions) to.addEnvironment({ PUBLIC_BASE_URL: this.baseUrl });
  }

  /** Adds all routes at once. A path's other methods return 405. */
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
    [header('X-Content-Type-Options')]: "'nosniff'",
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
