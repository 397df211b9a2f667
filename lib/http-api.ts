import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  AwsIntegration,
  type DomainName,
  EndpointType,
  type Integration,
  type IResource,
  LambdaIntegration,
  LogGroupLogDestination,
  Method,
  MockIntegration,
  Resource,
  ResponseTransferMode,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IOrigin, OriginProtocolPolicy, OriginSslPolicy } from 'aws-cdk-lib/aws-cloudfront';
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins';
import { type IRole, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { OPENAI_ROOT, type Route } from '../core/routes.ts';
import type { StackContext } from './context.ts';
import { gatewayResponses } from './gateway-responses.ts';
import { InlineRole } from './inline-role.ts';
import type { ServiceFunction } from './service-function.ts';

/** A route and its function. */
export interface ApiRoute extends Route {
  handler: LambdaFunction;
  /** Whether the response is streamed, for as long as the function may run. */
  isStreamed?: boolean;
}

const STAGE = 'prod';
const EVERY_MEDIA_TYPE = ['*', '*'].join('/');

/** Settings of the API from the context. */
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
  // As in the functions' logs, and in `X-Request-Id`.
  httpRequestId: AccessLogField.contextRequestId(),
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
      // Bodies reach the functions as they were sent: as text, bytes that are not UTF-8 would be replaced.
      binaryMediaTypes: [EVERY_MEDIA_TYPE],
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
    this.baseUrl =
      context.publicBaseUrl ??
      (apiDomainName !== undefined ? `https://${apiDomainName}` : undefined) ??
      `https://${this.gatewayHost}/${STAGE}`;
    if (apiDomainName !== undefined && apiCertificateArn !== undefined) {
      this.domain = this.api.addDomainName('Domain', {
        domainName: apiDomainName,
        certificate: Certificate.fromCertificateArn(this, 'Certificate', apiCertificateArn),
        endpointType: EndpointType.REGIONAL,
        securityPolicy: SecurityPolicy.TLS_1_2,
      });
    }
  }

  /** Gives the gateway's own errors the API's format. `referenceUrl` is where the API is described. */
  addErrors(referenceUrl: string): void {
    for (const [type, response] of gatewayResponses(referenceUrl)) {
      this.api.addGatewayResponse(type.responseType, { type, ...response });
    }
  }

  /**
   * The API as an origin of a distribution, by the gateway's own name: a custom domain may lead elsewhere. Not CDK's own, which would name
   * the stage, and so depend on the functions.
   */
  origin(): IOrigin {
    return new HttpOrigin(this.gatewayHost, {
      originPath: `/${STAGE}`,
      protocolPolicy: OriginProtocolPolicy.HTTPS_ONLY,
      originSslProtocols: [OriginSslPolicy.TLS_V1_2],
    });
  }

  /** Gives functions the base URL of the API. */
  bindBaseUrl(functions: readonly ServiceFunction[]): void {
    for (const to of functions) to.addEnvironment({ PUBLIC_BASE_URL: this.baseUrl });
  }

  private get gatewayHost(): string {
    const { region, urlSuffix } = Stack.of(this);
    return `${this.api.restApiId}.execute-api.${region}.${urlSuffix}`;
  }

  /**
   * Adds all routes at once. The first route of a path also takes every method without a route of its own, and the
   * route's function refuses such methods. Unknown paths under OpenAI's prefix lead to `refusesForOpenAi`, which
   * answers in OpenAI's error format.
   */
  addRoutes(routes: readonly ApiRoute[], refusesForOpenAi?: LambdaFunction): void {
    const invoker = new InlineRole(this, 'Invoker', new ServicePrincipal('apigateway.amazonaws.com'));
    const first = new Map<string, LambdaFunction>();
    for (const route of routes) {
      const taker = first.get(route.path);
      if (taker === route.handler) continue;
      const method = taker ? route.method : 'ANY';
      this.api.root.resourceForPath(route.path).addMethod(method, integrationOf(route, invoker));
      if (!taker) first.set(route.path, route.handler);
    }
    this.refuseUnknown(invoker, refusesForOpenAi);
    const invoked = routes.filter(({ isStreamed }) => !isStreamed).map(({ handler }) => handler.functionArn);
    invoker.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [...new Set(invoked)] }),
    );
  }

  /**
   * Gives every path without a route a method. The gateway otherwise expects a signed call there and refuses its
   * `Authorization`.
   */
  private refuseUnknown(invoker: IRole, refusesForOpenAi?: LambdaFunction): void {
    const withoutRoute = [this.api.root, ...resourcesBelow(this.api.root)].filter(
      (resource) => !resource.node.children.some((child) => child instanceof Method),
    );
    const unknown = [...withoutRoute, this.api.root.addResource('{proxy+}')];
    const isForOpenAi = ({ path }: IResource) => `${path}/`.startsWith(`${OPENAI_ROOT}/`);
    for (const resource of unknown.filter((one) => !isForOpenAi(one))) refuseAsUnknown(resource);
    if (!refusesForOpenAi) return;
    const below = this.api.root.resourceForPath(OPENAI_ROOT).addResource('{proxy+}');
    const refusing = integrationOf({ handler: refusesForOpenAi }, invoker);
    for (const resource of [...unknown.filter(isForOpenAi), below]) resource.addMethod('ANY', refusing);
  }
}

/**
 * The integration of a route's function. The gateway invokes the function as `invoker`; a streamed response gets a
 * permission on the function instead, the only way that AWS documents for streaming.
 */
const integrationOf = (
  { handler, isStreamed }: Pick<ApiRoute, 'handler' | 'isStreamed'>,
  invoker: IRole,
): Integration =>
  isStreamed
    ? new LambdaIntegration(handler, {
        allowTestInvoke: false,
        responseTransferMode: ResponseTransferMode.STREAM,
        timeout: handler.timeout,
      })
    : new AwsIntegration({
        proxy: true,
        service: 'lambda',
        path: `2015-03-31/functions/${handler.functionArn}/invocations`,
        options: { credentialsRole: invoker },
      });

const resourcesBelow = (parent: IResource & Construct): Resource[] =>
  parent.node.children
    .filter((child) => child instanceof Resource)
    .flatMap((child) => [child, ...resourcesBelow(child)]);

/**
 * Answers every call with `not_found`, by the gateway alone. The method requires a key of API Gateway, which nobody
 * has: every call ends as `INVALID_API_KEY`, whose gateway response is `not_found`. A mock integration alone would
 * take only the content types that it lists; the key is checked before the content type.
 */
const refuseAsUnknown = (resource: IResource): void => {
  resource.addMethod('ANY', new MockIntegration(), { apiKeyRequired: true });
};
