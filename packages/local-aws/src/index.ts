/** Runs a synthesized CDK assembly on one machine. */
export { NoDynamoDbEngineError } from './aws/dynamodb/engine-package.ts';
export type { AwsEndpoint, AwsEndpointOptions } from './aws/endpoint.ts';
export type { EventBus, EventBusOptions } from './events/event-bus.ts';
export type { OwnRoutes } from './gateway/front-door.ts';
export type { HandleRequest } from './gateway/gateway.ts';
export {
  type Addresses,
  DATA_FILES,
  type LocalAws,
  type LocalAwsOptions,
  type LocalAwsParts,
  startLocalAws,
} from './local-aws.ts';
export { TemplateError } from './template/assembly.ts';
export type { Stack } from './template.ts';
export type { AwsEvent, InvocationResult, InvokeFunction } from './types.ts';
