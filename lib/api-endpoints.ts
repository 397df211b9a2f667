import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { type EndpointName, ROUTES, routeText } from '../core/routes.ts';
import type { ApiRoute } from './http-api.ts';
import { pascalCase } from './names.ts';
import { ServiceFunction } from './service-function.ts';

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
    const entries = (Object.keys(ROUTES) as EndpointName[]).map((name) => {
      const endpoint = new ServiceFunction(this, pascalCase(name), {
        bundle: bundleOf(`api/${name}`),
        description: routeText(name),
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
    return (Object.keys(ROUTES) as EndpointName[]).map((name) => ({
      ...ROUTES[name],
      handler: this.functions[name].lambda,
    }));
  }
}
