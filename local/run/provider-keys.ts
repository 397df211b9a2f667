import type { Stack } from '@generation-service/local-aws';
import {
  isProviderId,
  makerOf,
  namesOfProvider,
  PROVIDER_IDS,
  PROVIDERS,
} from '../../core/provider-names.ts';

/** The providers. The sandbox stands in for each whose own key is not in the environment. */
const KNOWN = PROVIDER_IDS.map((id) => ({ id, ...PROVIDERS[id], ...namesOfProvider(id) }));

/** The key that the sandbox accepts. */
export const SANDBOX_KEY = 'sandbox-key';

type Environment = Record<string, string | undefined>;

/** Whether any provider has no real key. */
export const needsSandbox = (environment: Environment): boolean =>
  KNOWN.some(({ keyVariable }) => !environment[keyVariable]);

/**
 * The context of a run, without the choice of the deployed sandbox: a run has one of its own. Throws when that is asked for
 * where real keys are at hand.
 */
export const withoutProviders = (
  context: Record<string, unknown>,
  environment: Environment,
): Record<string, unknown> => {
  const { providers, ...others } = context;
  if (providers === undefined || providers === 'real') return others;
  const realKeys = KNOWN.map(({ keyVariable }) => keyVariable).filter((name) => environment[name]);
  if (providers !== 'sandbox') throw new Error(`providers is real or sandbox, not ${providers}`);
  if (realKeys.length > 0) throw new Error(`The sandbox takes no real keys: unset ${realKeys.join(' and ')}`);
  return others;
};

/**
 * The most calls, and the most tasks, of a model that the sandbox of a run takes at once: `sandboxMaxRunning`. Undefined for
 * any number, and for a wrong value, which the synthesis names.
 */
export const sandboxMaxRunning = (context: Record<string, unknown>): number | undefined => {
  const given = Number(context.sandboxMaxRunning ?? 0);
  return Number.isInteger(given) && given > 0 ? given : undefined;
};

/** Models that only the sandbox has; no provider is confirmed to offer them. */
const SANDBOX_ROUTES = { 'xW3.0sPro': { provider: 'modelark', upstreamModel: 'sandbox-xw3-pro' } };

/** The route of a model, as the project has it. */
export interface Route {
  provider: string;
  upstreamModel: string;
  maxRunning?: number | null;
  requestsPerSecond?: number | null;
}

/**
 * Context that points each provider without a real key at the sandbox and adds the models that only the sandbox has. `modelRoutes` are
 * the project's own; they win. Their limits are the real providers': what leads to the sandbox has none.
 */
export const providerContext = (
  environment: Environment,
  sandboxUrl: string | null,
  modelRoutes: Record<string, Route | Route[]>,
): Record<string, unknown> => {
  const inSandbox = KNOWN.filter(({ keyVariable }) => sandboxUrl !== null && !environment[keyVariable]);
  const baseUrls = inSandbox.map(
    ({ baseUrlContextKey, sandboxPath }) => [baseUrlContextKey, `${sandboxUrl}${sandboxPath}`] as const,
  );
  if (inSandbox.length === 0) return {};
  const ids = new Set<string>(inSandbox.map(({ id }) => id));
  const unlimited = (route: Route) => {
    const { maxRunning: _, requestsPerSecond: __, ...rest } = route;
    return isProviderId(route.provider) && ids.has(makerOf(route.provider)) ? rest : route;
  };
  const routes = Object.entries(modelRoutes).map(
    ([model, given]) => [model, Array.isArray(given) ? given.map(unlimited) : unlimited(given)] as const,
  );
  return {
    ...Object.fromEntries(baseUrls),
    modelRoutes: { ...(ids.has('modelark') ? SANDBOX_ROUTES : {}), ...Object.fromEntries(routes) },
  };
};

/** The key of each account at a provider, by the name of the secret that holds it. */
export const providerKeys = (stack: Stack, environment: Environment): Map<string, string> => {
  return new Map(
    KNOWN.flatMap(({ keyVariable, secretOutput, id }) =>
      stack.outputNames.flatMap((output) => {
        const secretName = output.startsWith(secretOutput) ? stack.output(output) : undefined;
        if (secretName === undefined) return [];
        const account = output.slice(secretOutput.length).toLowerCase();
        const own = account === '' ? keyVariable : namesOfProvider(`${id}@${account}`).keyVariable;
        const inSandbox = `${SANDBOX_KEY}${account && `@${account}`}`;
        const key = environment[keyVariable] ? environment[own] : inSandbox;
        return key ? [[secretName, key] as const] : [];
      }),
    ),
  );
};
