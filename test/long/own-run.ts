import { afterAll, beforeAll } from '@jest/globals';
import { type Caller, callerWith, newCaller } from '../contract/support/client.ts';
import {
  discard,
  newDataDir,
  type RunningService,
  type StartOptions,
  startLocalService,
} from '../contract/support/local-service.ts';
import { openProviderProxy, type ProviderProxy } from '../contract/support/provider-proxy.ts';

/** How the local run of a file is started. */
export interface OwnRunOptions extends Pick<StartOptions, 'context' | 'environment'> {
  /** The balance of the caller, who has a new account then; by default the caller has the account of the run. */
  xTokens?: number;
  /** The providers that are called through the proxy, by their settings in the CDK context. */
  proxied?: readonly (keyof ProviderProxy['context'])[];
  /** The sandbox behind the proxy, by default that of the run. */
  sandboxUrl?: () => string | undefined;
}

/** A local run for the tests of one file, with a caller and a proxy: all are there once the tests begin. */
export const useOwnRun = ({
  context,
  environment,
  xTokens,
  proxied = [],
  sandboxUrl,
}: OwnRunOptions = {}) => {
  const run = { service: {} as RunningService, caller: {} as Caller, proxy: {} as ProviderProxy };
  const { service, caller, proxy } = run;
  beforeAll(async () => {
    await openProviderProxy(() => sandboxUrl?.() ?? service.sandboxUrl, proxy);
    const addresses = Object.fromEntries(proxied.map((name) => [name, proxy.context[name]]));
    const options = { context: { ...addresses, ...context }, ...(environment && { environment }) };
    Object.assign(service, await startLocalService(await newDataDir(), options));
    const own = callerWith(service, service.accountId, service.apiKey);
    Object.assign(caller, xTokens === undefined ? own : await newCaller(service, xTokens));
  });
  afterAll(async () => {
    // Neither is there when its start failed.
    if ('stop' in service) await discard(service);
    if ('close' in proxy) await proxy.close();
  });
  return run;
};
