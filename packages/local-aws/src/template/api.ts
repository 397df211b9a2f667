import { TemplateError } from './assembly.ts';
import type { Resolver, StackResource } from './resolver.ts';

/** A method answered by a function. */
export interface ProxyIntegration {
  functionArn: string;
  /** Whether the response is sent to the client while the function makes it. */
  isStreamed: boolean;
  timeoutMilliseconds: number;
}

/** One method of one resource. */
export interface RouteSpec {
  /** As declared, e.g. `/orders/{orderId}`. */
  resourcePath: string;
  /** An HTTP method, or `ANY`. */
  method: string;
  /** Absent for a method that requires an API key of the gateway. No such key exists, and every call is refused. */
  integration?: ProxyIntegration;
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

/** Header mappings by header name: `gatewayresponse.header.X` becomes `X`. */
const headersOf = (parameters: Record<string, unknown> = {}): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).map(([key, expression]) => {
      const name = /^gatewayresponse\.header\.(.+)$/.exec(key)?.[1];
      if (name === undefined) throw new TemplateError(`Only headers can be mapped, not ${key}`);
      return [name, String(expression)] as const;
    }),
  );

interface IntegrationDocument {
  Type: string;
  Uri?: string;
  TimeoutInMillis?: number;
  ResponseTransferMode?: 'BUFFERED' | 'STREAM';
}

const integrationOf = (resolver: Resolver, { logicalId, properties }: StackResource): ProxyIntegration => {
  const integration = resolver.resolve(properties.Integration) as IntegrationDocument;
  if (integration.Type !== 'AWS_PROXY') {
    const refused = `integration type ${integration.Type} is not supported`;
    throw new TemplateError(`${logicalId}: ${refused} for a method that needs no API key`);
  }
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
  return { functionArn, isStreamed, timeoutMilliseconds };
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
      ...(resolver.resolve(method.properties.ApiKeyRequired) !== true && {
        integration: integrationOf(resolver, method),
      }),
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
