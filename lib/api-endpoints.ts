import { Duration } from 'aws-cdk-lib';
import { Construct } from 'constructs';
import { type EndpointName, ROUTES, routeText } from '../core/routes.ts';
import type { ApiRoute } from './http-api.ts';
import { pascalCase } from './names.ts';
import { functionsByName, ServiceFunction } from './service-function.ts';

/** API Gateway's integration timeout. */
const GATEWAY_TIMEOUT_SECONDS = 29;
const ENDPOINT_NAMES = Object.keys(ROUTES) as EndpointName[];

/** The functions of the API, one per route. */
export class ApiEndpoints extends Construct {
  /** The functions, by the name of their route. */
  readonly functions: Record<EndpointName, ServiceFunction>;

  constructor(scope: Construct, id: string, bundleOf: (name: string) => string) {
    super(scope, id);
    this.functions = functionsByName(
      ENDPOINT_NAMES,
      (name) =>
        new ServiceFunction(this, pascalCase(name), {
          bundle: bundleOf(`api/${name}`),
          description: routeText(name),
          timeout: Duration.seconds(GATEWAY_TIMEOUT_SECONDS),
          // CPU grows with memory, and a cold start is mostly module loading.
          memorySize: 1024,
        }),
    );
  }

  /** Every route with its function. */
  get routes(): ApiRoute[] {
    return ENDPOINT_NAMES.map((name) => ({
      ...ROUTES[name],
      handler: this.functions[name].lambda,
    }));
  }
}
