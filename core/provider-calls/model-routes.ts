import * as z from 'zod/mini';
import { remembersLast } from '../cached.ts';
import { requiredEnv } from '../environment.ts';
import type { CatalogModel } from '../models/catalog.ts';
import type { ModelSettings } from '../models/model-settings.ts';
import { rateOf } from '../models/rates.ts';
import {
  isProviderId,
  makerOf,
  namesOfProvider,
  PROVIDER_IDS,
  PROVIDERS,
  type ProviderId,
  routeNameOf,
} from '../provider-names.ts';
import type { StoredRequest } from '../requests/request-rules.ts';
import { hashOf } from '../table/keys.ts';
import type { Instant } from '../time.ts';
import type { InputLimits } from './input-limits.ts';
import { lacksHost, limitsOf, takesRequest, UpstreamLimits, unservable } from './upstream-limits.ts';

/** The item of a route limit holds the permits: with 200 it has some 20 KB, so a write costs 20 units. */
export const MAX_RUNNING = 200;
/** Starts change the item of the route limit, which takes 1,000 write units a second, and the reconciler admits some 200 requests a second. */
const MAX_REQUESTS_PER_SECOND = 100;

/** Most routes of a model: its provider, and routes around that provider. */
const MAX_ROUTES = 4;

const ConfiguredRoute = z.strictObject({
  provider: z.custom<ProviderId>((given) => typeof given === 'string' && isProviderId(given), {
    error: ({ input }) => `There is no provider ${JSON.stringify(input)}: ${PROVIDER_IDS.join(', ')}`,
  }),
  upstreamModel: z.string().check(z.minLength(1)),
  limits: z.optional(UpstreamLimits),
  refusesEarly: z.optional(z.boolean()),
  generateAudio: z.optional(z.boolean()),
  maxRunning: z.optional(z.nullable(z.int().check(z.minimum(1), z.maximum(MAX_RUNNING)))),
  requestsPerSecond: z.optional(
    z.nullable(z.number().check(z.minimum(0.01), z.maximum(MAX_REQUESTS_PER_SECOND))),
  ),
  queriesAtOnce: z.optional(z.int().check(z.minimum(1), z.maximum(50))),
  queriesPerSecond: z.optional(z.number().check(z.minimum(0.1), z.maximum(100))),
});
/**
 * A configured route to a model. `provider` is an account at a provider. `limits` replaces the built-in limits of the upstream
 * model: a request beyond the limits goes to another route that accepts it. `generateAudio` is the default for a video whose
 * caller leaves sound open; absent: with sound. With `refusesEarly`, a creation that no route accepts is refused with 400,
 * although the catalog allows the creation. `maxRunning` limits calls and tasks under way at once, `requestsPerSecond` creations;
 * null or absent: no limit. `queriesAtOnce` and `queriesPerSecond` limit the reconciler's queries and lists of the account's
 * tasks, for all models of the account together.
 */
export type ConfiguredRoute = z.infer<typeof ConfiguredRoute>;

/** The routes of a model in order of preference. A single route may be given without a list. */
export const RouteList = z.pipe(
  z.transform((given: unknown) => (Array.isArray(given) ? given : [given])),
  z.array(ConfiguredRoute).check(z.minLength(1), z.maxLength(MAX_ROUTES)),
);

/**
 * The routes of every model, by model id: deployment configuration. A model without an entry has no route.
 *
 * The limits in `cdk.json` are the providers' own, of an account and model. Wan: 5 creations a second and 5 running tasks
 * (https://help.aliyun.com/en/model-studio/rate-limit). Seedream 4.5: 500 images a minute
 * (https://docs.byteplus.com/en/docs/ModelArk/1824121). For other models, no limit is published.
 */
export const ModelRoutes = z.record(z.string(), RouteList);
export type ModelRoutes = z.infer<typeof ModelRoutes>;

const parseRoutes = remembersLast((text): Readonly<ModelRoutes> => ModelRoutes.parse(JSON.parse(text)));

/** The routes of every configured model, by model id. */
export const listModelRoutes = (): Readonly<ModelRoutes> => parseRoutes(requiredEnv('MODEL_ROUTES'));

/** The routes of a model in order of preference; empty for a model without configured routes. */
export const routesOf = (modelId: string): readonly ConfiguredRoute[] => {
  const routes = listModelRoutes();
  return (Object.hasOwn(routes, modelId) ? routes[modelId] : undefined) ?? [];
};

/**
 * Routes in the order in which a request tries them. Accounts with the same upstream model stand in for each other, in an order that the
 * request's id chooses: each account gets its share of the requests.
 */
const inTurn = (routes: readonly ConfiguredRoute[], requestId: string): ConfiguredRoute[] => {
  const upstreams = Map.groupBy(
    routes,
    ({ provider, upstreamModel }) => `${makerOf(provider)}/${upstreamModel}`,
  );
  return [...upstreams.values()].flatMap((accounts) => {
    const first = hashOf(requestId) % accounts.length;
    return [...accounts.slice(first), ...accounts.slice(0, first)];
  });
};

const hostOf = ({ provider }: ConfiguredRoute): string =>
  requiredEnv(namesOfProvider(provider).baseUrlVariable);

/**
 * The limits that refuse a creation before its debit, an element for each route with a credential. A creation is refused when it
 * exceeds every element; a route that does not refuse early only has the limits of its parameters. While an operator has taken a
 * route out of use, the other routes refuse early: a request that no route in use accepts would wait until its deadline.
 */
export const earlyLimitsOf = (
  modelId: string,
  credentials: ReadonlySet<ProviderId>,
  left: LeftRoutes = {},
): readonly UpstreamLimits[] => {
  const routes = routesOf(modelId).filter(({ provider }) => credentials.has(provider));
  const used = routes.filter((route) => !isLeft(route, left));
  const isAnyLeft = used.length < routes.length;
  return used
    .filter((route) => !isAnyLeft || !lacksHost(route, hostOf(route)))
    .map((route) => {
      const limits = limitsOf(route);
      const { parameters = [] } = limits;
      return route.refusesEarly || isAnyLeft ? { ...limits, parameters } : { parameters };
    });
};

/** The routes of a model with a credential that are in use, by name, each with its limits on input files. */
export const inputRoutesOf = (
  modelId: string,
  credentials: ReadonlySet<ProviderId>,
  left: LeftRoutes = {},
): { route: string; limits: InputLimits }[] =>
  routesOf(modelId)
    .filter((route) => credentials.has(route.provider) && !isLeft(route, left))
    .map((route) => ({ route: routeNameOf(route), limits: limitsOf(route).inputs ?? {} }));

const LEFT = 'it is left by hand';
const NO_KEY = 'its provider has no key';
const NO_HOST = 'it is served at hosts of a workspace only';
/** Why a route does not get a request, in words for an operator, the best reason first. */
const UNFIT = ['it does not take this request', NO_HOST, NO_KEY] as const;

/** The routes that operators took out of use, by name, with the instants. */
export type LeftRoutes = Readonly<Record<string, Instant>>;

/** Whether an operator left a route. */
export const isLeft = (route: ConfiguredRoute, left: LeftRoutes): boolean =>
  Object.hasOwn(left, routeNameOf(route));

/** Why a route gets no request at all, in words for an operator; undefined when it can have some. */
export const routeProblem = (
  route: ConfiguredRoute,
  hasKey: (provider: ProviderId) => boolean,
): string | undefined => {
  if (!hasKey(route.provider)) return NO_KEY;
  return lacksHost(route, hostOf(route)) ? NO_HOST : undefined;
};

/** Facts about routes that the configuration does not have. */
export interface RouteFacts {
  /** Providers known to have no key. */
  keyless?: ReadonlySet<ProviderId>;
  left?: LeftRoutes;
}

/**
 * The routes that a request may be assigned to, in order of preference, and the reason each other route was excluded: the routes
 * in use that accept the request. If no route of the model accepts it, in use or not, returns all callable routes in use, so that
 * a provider states the reason for the refusal.
 */
export const routesFor = (
  request: StoredRequest,
  { keyless = new Set(), left = {} }: RouteFacts = {},
): { routes: ConfiguredRoute[]; unfit: Map<ConfiguredRoute, string> } => {
  const hasKey = (provider: ProviderId): boolean => !keyless.has(provider);
  const judged = inTurn(routesOf(request.model), request.requestId).map((route) => {
    const problem = routeProblem(route, hasKey);
    const isTaken = takesInputs(route, request) && takesRequest(limitsOf(route), request);
    const why = problem ?? (isTaken ? undefined : UNFIT[0]);
    return { route, why, isInUse: !isLeft(route, left) };
  });
  const best = [undefined, ...UNFIT].find((reason) => judged.some(({ why }) => why === reason));
  const isChosen = ({ why, isInUse }: (typeof judged)[number]): boolean => why === best && isInUse;
  return {
    routes: judged.filter(isChosen).map(({ route }) => route),
    unfit: new Map(
      judged
        .filter((one) => !isChosen(one))
        .map(({ route, why, isInUse }) => [route, isInUse ? (why ?? UNFIT[0]) : LEFT]),
    ),
  };
};

/** Whether a route takes the input files of a request, as measured at its creation. */
const takesInputs = (route: ConfiguredRoute, { unfitRoutes = [] }: StoredRequest): boolean =>
  !unfitRoutes.includes(routeNameOf(route));

/**
 * Why a model cannot be dispatched now, in words for an operator. Undefined for a model that is switched on, has a rate, and
 * whose routes with a credential together serve everything that the catalog names.
 */
export const dispatchProblem = (
  model: CatalogModel,
  settings: ModelSettings | undefined,
  credentials: ReadonlySet<ProviderId>,
  left: LeftRoutes = {},
): string | undefined => {
  const routes = routesOf(model.id);
  if (routes.length === 0) return 'no upstream model is configured';
  const open = routes.filter(({ provider }) => credentials.has(provider));
  if (routes.every((route) => isLeft(route, left))) return 'all of its routes are left by hand';
  if (open.length === 0)
    return `no credential for ${[...new Set(routes.map(({ provider }) => provider))].join(' or ')}`;
  const problem = unservable(model, open, hostOf);
  if (problem) return problem;
  if (settings?.enabled === false) return 'switched off by the operator';
  if (!rateOf(model.id, settings)) return 'no rate';
  return undefined;
};

/** The accounts that any route leads to. */
export const accountsInRoutes = (): ProviderId[] => [
  ...new Set(
    Object.values(listModelRoutes())
      .flat()
      .map(({ provider }) => provider),
  ),
];

/** The query limits of an account's tasks: the highest configured at its routes, else the limits known of its provider. */
export const queryLimitsOf = (providerId: ProviderId): { atOnce: number; perSecond: number } => {
  const routes = Object.values(listModelRoutes())
    .flat()
    .filter(({ provider }) => provider === providerId);
  const { atOnce, perSecond } = PROVIDERS[makerOf(providerId)].queries;
  return {
    atOnce: Math.max(...routes.flatMap(({ queriesAtOnce }) => queriesAtOnce ?? []), 0) || atOnce,
    perSecond: Math.max(...routes.flatMap(({ queriesPerSecond }) => queriesPerSecond ?? []), 0) || perSecond,
  };
};

/** The models of the configuration with the names of their routes. */
export const listRouteNames = (): Map<string, string[]> =>
  new Map(Object.entries(listModelRoutes()).map(([model, routes]) => [model, routes.map(routeNameOf)]));
