import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import type { ApiRoute } from './http-api.ts';
import { pascalCase } from './names.ts';
import { ServiceFunction } from './service-function.ts';

/** Every route of the API, by the name of the function behind it: `functions/api/<name>.ts`. */
const ROUTES = {
  'create-generation': ['POST', '/v1/generations'],
  'list-generations': ['GET', '/v1/generations'],
  'get-generation': ['GET', '/v1/generations/{requestId}'],
  'create-video': ['POST', '/v1/videos'],
  'get-video': ['GET', '/v1/videos/{requestId}'],
  'delete-generation': ['DELETE', '/v1/generations/{requestId}'],
  'bulk-delete-generations': ['POST', '/v1/generations/bulk-delete'],
  'list-models': ['GET', '/v1/models'],
  'list-end-users': ['GET', '/v1/end-users'],
  'delete-end-user': ['DELETE', '/v1/end-users/{email}'],
  'block-end-user': ['POST', '/v1/end-users/{email}/block'],
  'unblock-end-user': ['POST', '/v1/end-users/{email}/unblock'],
  'get-balance': ['GET', '/v1/balance'],
  'list-balance-history': ['GET', '/v1/balance/history'],
  'receive-callback': ['POST', '/callbacks/{provider}/{requestId}/{token}'],
} as const satisfies Record<string, readonly [ApiRoute['method'], string]>;

export type EndpointName = keyof typeof ROUTES;

/** The gateway gives up after 29 s. */
const GATEWAY_TIMEOUT_SECONDS = 29;

export interface ApiEndpointsProps {
  bundleOf: (name: string) => string;
  /** Variables of every endpoint. */
  environment: Partial<Record<EnvironmentName, string>>;
}

/** The functions behind the API, one a route. */
export class ApiEndpoints extends Construct {
  /** The function of each route, by name. */
  readonly functions: Record<EndpointName, ServiceFunction>;

  constructor(scope: Construct, id: string, { bundleOf, environment }: ApiEndpointsProps) {
    super(scope, id);
    const entries = Object.entries(ROUTES).map(([name, [method, path]]) => {
      const endpoint = new ServiceFunction(this, pascalCase(name), {
        bundle: bundleOf(`api/${name}`),
        description: `${method} ${path}`,
        timeout: Duration.seconds(GATEWAY_TIMEOUT_SECONDS),
        // Memory is also the share of a processor: a cold start is mostly loading modules.
        memorySize: 1024,
        environment,
      });
      return [name, endpoint] as const;
    });
    this.functions = Object.fromEntries(entries) as Record<EndpointName, ServiceFunction>;
  }

  /** The routes with their functions, for the gateway. */
  get routes(): ApiRoute[] {
    return (Object.entries(ROUTES) as [EndpointName, (typeof ROUTES)[EndpointName]][]).map(
      ([name, [method, path]]) => ({ method, path, handler: this.functions[name].lambda }),
    );
  }
}
