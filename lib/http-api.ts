import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  type DomainName,
  EndpointType,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  Method,
  MockIntegration,
  PassthroughBehavior,
  Resource,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { ERROR_STATUS } from '../core/errors.ts';
import type { Route } from '../core/routes.ts';
import type { StackContext } from './context.ts';
import { errorBody, GATEWAY_RESPONSES, METHOD_NOT_ALLOWED, NO_SUCH_ROUTE } from './gateway-responses.ts';
import type { ServiceFunction } from './service-function.ts';

/** A route and its function. */
export interface ApiRoute extends Route {
  handler: IFunction;
}

const STAGE = 'prod';

/**
 * Content types of calls that the gateway refuses by itself: a mock integration takes only those that it lists. For any
 * other the gateway answers with the response that `gateway-responses.ts` gives `UNSUPPORTED_MEDIA_TYPE`.
 */
const REFUSED_MEDIA_TYPES = [
  'application/json',
  'application/octet-stream',
  'application/x-www-form-urlencoded',
  'application/xml',
  'multipart/form-data',
  'text/html',
  'text/plain',
  'text/xml',
];

/** What the context says of the API. */
export type HttpApiContext = Pick<
  StackContext,
  | 'publicBaseUrl'
  | 'apiDomainName'
  | 'apiCertificateArn'
  | 'apiRequestsPerSecond'
  | 'apiBurst'
  | 'accessLogs'
  | 'tracing'
>;

/** One line a call. The resource instead of the path, which can hold an email address; no query string, no header. */
const ACCESS_LOG_FORMAT = JSON.stringify({
  requestId: AccessLogField.contextRequestId(),
  requestTime: AccessLogField.contextRequestTime(),
  sourceIp: AccessLogField.contextIdentitySourceIp(),
  method: AccessLogField.contextHttpMethod(),
  resource: AccessLogField.contextResourcePath(),
  status: AccessLogField.contextStatus(),
  responseBytes: AccessLogField.contextResponseLength(),
  responseMs: AccessLogField.contextResponseLatency(),
  functionMs: AccessLogField.contextIntegrationLatency(),
  gatewayError: AccessLogField.contextErrorResponseType(),
});

/** The REST API: routes each call to its function, and makes gateway errors in the API's format. */
export class HttpApi extends Construct {
  /** The given public base URL, else the gateway's own. */
  readonly baseUrl: string;
  readonly api: RestApi;
  /** The custom domain, when there is one. */
  readonly domain?: DomainName;

  constructor(scope: Construct, id: string, context: HttpApiContext) {
    super(scope, id);
    const { apiDomainName, apiCertificateArn } = context;
    this.api = new RestApi(this, 'RestApi', {
      description: 'Generation service',
      // The dimension of the gateway's metrics: stacks of the same name share them.
      restApiName: Stack.of(this).stackName,
      endpointTypes: [EndpointType.REGIONAL],
      deployOptions: {
        stageName: STAGE,
        throttlingRateLimit: context.apiRequestsPerSecond,
        throttlingBurstLimit: context.apiBurst,
        tracingEnabled: context.tracing,
        ...(context.accessLogs && {
          accessLogDestination: new LogGroupLogDestination(
            new LogGroup(this, 'AccessLogs', { removalPolicy: RemovalPolicy.DESTROY }),
          ),
          accessLogFormat: AccessLogFormat.custom(ACCESS_LOG_FORMAT),
        }),
      },
      // Account settings of the region, without which no stage can log. Retained with their role: other stacks use them.
      cloudWatchRole: context.accessLogs,
    });
    // Not the stage's own URL: the stage depends on the functions, which get this URL as a variable.
    const { region, urlSuffix } = Stack.of(this);
    this.baseUrl =
      context.publicBaseUrl ??
      (apiDomainName !== undefined ? `https://${apiDomainName}` : undefined) ??
      `https://${this.api.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE}`;
    if (apiDomainName !== undefined && apiCertificateArn !== undefined) {
      this.domain = this.api.addDomainName('Domain', {
        domainName: apiDomainName,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', apiCertificateArn),
        endpointType: EndpointType.REGIONAL,
        securityPolicy: SecurityPolicy.TLS_1_2,
      });
    }
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
    // The gateway itself takes a call without a route for a signed one, and finds fault with its `Authorization`.
    const withoutRoute = [this.api.root, ...resourcesBelow(this.api.root)].filter(
      (resource) => !resource.node.children.some((child) => child instanceof Method),
    );
    for (const resource of [...withoutRoute, this.api.root.addResource('{proxy+}')]) {
      refuse(resource, ERROR_STATUS.not_found, NO_SUCH_ROUTE, {});
    }
  }
}

const resourcesBelow = (parent: IResource & Construct): Resource[] =>
  parent.node.children
    .filter((child) => child instanceof Resource)
    .flatMap((child) => [child, ...resourcesBelow(child)]);

const refuseOtherMethods = (resource: IResource, allowed: readonly string[]): void =>
  refuse(resource, METHOD_NOT_ALLOWED, `This route takes ${allowed.join(', ')} only.`, {
    Allow: `'${allowed.join(', ')}'`,
  });

/** Answers every method that has no function with `not_found`, by the gateway alone. */
const refuse = (
  resource: IResource,
  status: number,
  message: string,
  headers: Record<string, string>,
): void => {
  const always = { 'X-Request-Id': 'context.requestId', 'X-Content-Type-Options': "'nosniff'" };
  const parameters = Object.fromEntries(
    Object.entries({ ...always, ...headers }).map(([name, value]) => [
      `method.response.header.${name}`,
      value,
    ]),
  );
  const statusCode = String(status);
  resource.addMethod(
    'ANY',
    new MockIntegration({
      passthroughBehavior: PassthroughBehavior.NEVER,
      requestTemplates: Object.fromEntries(
        REFUSED_MEDIA_TYPES.map((mediaType) => [mediaType, `{"statusCode": ${statusCode}}`]),
      ),
      integrationResponses: [
        {
          statusCode,
          responseTemplates: { 'application/json': errorBody('not_found', message) },
          responseParameters: parameters,
        },
      ],
    }),
    {
      methodResponses: [
        {
          statusCode,
          responseParameters: Object.fromEntries(Object.keys(parameters).map((name) => [name, true])),
        },
      ],
    },
  );
};
