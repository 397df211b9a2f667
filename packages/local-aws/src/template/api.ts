import { TemplateError } from './assembly.ts';
import type { Resolver, StackResource } from './resolver.ts';

/** A method answered by a function. */
export interface ProxyIntegration {
  type: 'AWS_PROXY';
  functionArn: string;
  /** Whether the response is sent to the client while the function makes it. */
  isStreamed: boolean;
  timeoutMilliseconds: number;
}

/** One answer of a mock integration. */
export interface MockResponse {
  statusCode: number;
  /** A regular expression for the status that the request template chose. Undefined: the default answer. */
  selectionPattern?: string;
  /** Header name to mapping expression: `'literal'` or `context.…`. */
  headers: Record<string, string>;
  /** Content type to template. */
  templates: Record<string, string>;
}

/** A method that the gateway answers itself. */
export interface MockIntegration {
  type: 'MOCK';
  /** Content type to template, which renders to an object with a `statusCode`. */
  requestTemplates: Record<string, string>;
  /** For requests whose content type has no template. */
  passthroughBehavior: 'WHEN_NO_MATCH' | 'WHEN_NO_TEMPLATES' | 'NEVER';
  responses: MockResponse[];
}

/** One method of one resource. */
export interface RouteSpec {
  /** As declared, e.g. `/orders/{orderId}`. */
  resourcePath: string;
  /** An HTTP method, or `ANY`. */
  method: string;
  /** Whether a call needs an API key of the gateway's. Here there are none, so every call is refused. */
  apiKeyRequired?: boolean;
  integration: ProxyIntegration | MockIntegration;
}

/** The answer to an error of the gateway itself. */
export interface GatewayResponseSpec {
  statusCode?: number;
  headers: Record<string, string>;
  templates: Record<string, string>;
}

/** The REST API of the template. */
export interface ApiSpec {
  apiId: string;
  stage: string;
  binaryMediaTypes: string[];
  routes: RouteSpec[];
  /** Paths of all resources, also of those without a method: no less specific resource is called in their place. */
  resourcePaths?: string[];
  /** By response type, e.g. `DEFAULT_4XX`. */
  gatewayResponses: Record<string, GatewayResponseSpec>;
}

/** API Gateway's default: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-execution-service-limits-table.html */
const DEFAULT_TIMEOUT_MILLISECONDS = 29_000;
/** Of a streamed response: https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html */
const LONGEST_STREAM_MILLISECONDS = 900_000;

const FUNCTION_IN_URI =
  /\/functions\/(?<functionArn>.+)\/(?<operation>invocations|response-streaming-invocations)$/;

/** Header mappings by header name: `method.response.header.X` and `gatewayresponse.header.X` become `X`. */
const headersOf = (parameters: Record<string, unknown> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, expression]) => {
      const name = /^(?:method\.response|gatewayresponse)\.header\.(.+)$/.exec(key)?.[1];
      if (name === undefined) throw new TemplateError(`Only headers can be mapped, not ${key}`);
      return [name, String(expression)] as const;
    }),
  );

interface IntegrationDocument {
  Type: string;
  Uri?: string;
  TimeoutInMillis?: number;
  ResponseTransferMode?: 'BUFFERED' | 'STREAM';
  RequestTemplates?: Record<string, string>;
  PassthroughBehavior?: MockIntegration['passthroughBehavior'];
  IntegrationResponses?: {
    StatusCode: string | number;
    SelectionPattern?: string;
    ResponseParameters?: Record<string, unknown>;
    ResponseTemplates?: Record<string, string>;
  }[];
}

const integrationOf = (
  resolver: Resolver,
  { logicalId, properties }: StackResource,
): RouteSpec['integration'] => {
  const integration = resolver.resolve(properties.Integration) as IntegrationDocument;
  if (integration.Type === 'AWS_PROXY') {
    const { functionArn, operation } = FUNCTION_IN_URI.exec(integration.Uri ?? '')?.groups ?? {};
    if (!functionArn) throw new TemplateError(`${logicalId}: no function in ${integration.Uri}`);
    const isStreamed = integration.ResponseTransferMode === 'STREAM';
    if (isStreamed !== (operation === 'response-streaming-invocations')) {
      throw new TemplateError(`${logicalId}: ${integration.Uri} does not suit its ResponseTransferMode`);
    }
    const timeoutMilliseconds = integration.TimeoutInMillis ?? DEFAULT_TIMEOUT_MILLISECONDS;
    const longest = isStreamed ? LONGEST_STREAM_MILLISECONDS : DEFAULT_TIMEOUT_MILLISECONDS;
    if (timeoutMilliseconds > longest) {
      throw new TemplateError(`${logicalId}: TimeoutInMillis is at most ${longest}`);
    }
    return { type: 'AWS_PROXY', functionArn, isStreamed, timeoutMilliseconds };
  }
  if (integration.Type !== 'MOCK') {
    throw new TemplateError(`${logicalId}: integration type ${integration.Type} is not supported`);
  }
  return {
    type: 'MOCK',
    requestTemplates: integration.RequestTemplates ?? {},
    passthroughBehavior: integration.PassthroughBehavior ?? 'WHEN_NO_MATCH',
    responses: (integration.IntegrationResponses ?? []).map((response) => ({
      statusCode: Number(response.StatusCode),
      ...(response.SelectionPattern !== undefined && { selectionPattern: response.SelectionPattern }),
      headers: headersOf(response.ResponseParameters),
      templates: response.ResponseTemplates ?? {},
    })),
  };
};

/** The stack's REST API; undefined when it has none. Throws `TemplateError` when it has several. */
export const apiSpec = (resolver: Resolver): ApiSpec | undefined => {
  const [api, ...others] = resolver.resources('AWS::ApiGateway::RestApi');
  if (!api) return undefined;
  if (others.length > 0) throw new TemplateError('The stack has several REST APIs; the local run takes one');

  const resources = new Map(
    resolver
      .resources('AWS::ApiGateway::Resource')
      .map(({ logicalId, properties }) => [resolver.reference(logicalId), properties] as const),
  );
  const rootId = resolver.attribute(api.logicalId, 'RootResourceId');
  const pathOf = (resourceId: string): string => {
    if (resourceId === rootId) return '';
    const properties = resources.get(resourceId);
    if (!properties) throw new TemplateError(`A method refers to an unknown resource ${resourceId}`);
    return `${pathOf(resolver.text(properties.ParentId))}/${resolver.text(properties.PathPart)}`;
  };

  const [stage] = resolver.resources('AWS::ApiGateway::Stage');
  return {
    apiId: resolver.reference(api.logicalId),
    stage: stage ? resolver.reference(stage.logicalId) : 'prod',
    binaryMediaTypes: (resolver.resolve(api.properties.BinaryMediaTypes) ?? []) as string[],
    routes: resolver.resources('AWS::ApiGateway::Method').map((method) => ({
      resourcePath: pathOf(resolver.text(method.properties.ResourceId)) || '/',
      method: resolver.text(method.properties.HttpMethod).toUpperCase(),
      ...(resolver.resolve(method.properties.ApiKeyRequired) === true && { apiKeyRequired: true }),
      integration: integrationOf(resolver, method),
    })),
    resourcePaths: [...resources.keys()].map(pathOf),
    gatewayResponses: Object.fromEntries(
      resolver.resources('AWS::ApiGateway::GatewayResponse').map(({ properties }) => {
        const { StatusCode, ResponseParameters, ResponseTemplates } = properties;
        const response: GatewayResponseSpec = {
          ...(StatusCode !== undefined && { statusCode: Number(resolver.text(StatusCode)) }),
          headers: headersOf(resolver.resolve(ResponseParameters) as Record<string, unknown> | undefined),
          templates: (resolver.resolve(ResponseTemplates) ?? {}) as Record<string, string>,
        };
        return [resolver.text(properties.ResponseType), response] as const;
      }),
    ),
  };
};
