import { afterAll, beforeAll } from '@jest/globals';
import type { AwsEndpoint, AwsEndpointOptions } from '../../src/aws/endpoint.ts';
import { removeDirectory, startEndpoint } from './support.ts';

/** An endpoint for all tests of a file. It is there once they begin. */
export const useEndpoint = (options: AwsEndpointOptions): AwsEndpoint => {
  const endpoint = {} as AwsEndpoint;
  beforeAll(async () => {
    const started = await startEndpoint(options);
    Object.setPrototypeOf(Object.assign(endpoint, started), Object.getPrototypeOf(started));
  });
  afterAll(async () => {
    await endpoint.close();
    removeDirectory(options.dataDir);
  });
  return endpoint;
};
