import { PROVIDER_ENVIRONMENT, readSecret } from '../core/credentials.ts';
import { requiredEnv } from '../core/environment.ts';
import { findModelRoute } from '../core/model-routes.ts';
import type { Provider, ProviderId } from '../core/providers.ts';
import type { Upstream } from '../core/workflow.ts';
import { ModelArk } from './modelark/modelark.ts';
import { ModelStudio } from './modelstudio/modelstudio.ts';

const ADAPTERS: Record<ProviderId, new (connection: { baseUrl: string; apiKey: string }) => Provider> = {
  modelark: ModelArk,
  modelstudio: ModelStudio,
};

/** The upstream a model's requests go to, ready to be called. Throws when the deployment gives it none. */
export const upstreamOf = async (model: string): Promise<Upstream> => {
  const route = findModelRoute(model);
  if (!route) throw new Error(`No upstream is configured for ${model}.`);
  const { baseUrl, secretArn } = PROVIDER_ENVIRONMENT[route.provider];
  const apiKey = await readSecret(requiredEnv(secretArn));
  const provider = new ADAPTERS[route.provider]({ baseUrl: requiredEnv(baseUrl), apiKey });
  return { provider, upstreamModel: route.upstreamModel };
};
