/** The AWS endpoint by itself, without routes, functions or schedules. */
export { type AwsEndpoint, type AwsEndpointOptions, startAwsEndpoint } from './aws/endpoint.ts';
