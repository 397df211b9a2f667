import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderUsage } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-calls/route-names.ts';
import type { ProviderCost, StoredRequest } from '../requests/request-rules.ts';

type Done = Extract<NonNullable<ProviderAttempt['outcome']>, { kind: 'done' }>;

/**
 * What the finished calls of a request cost, by route, at the costs of its creation. Undefined when no cost was set then. Calls without
 * a known result are not counted: whether their provider charges for them is not known.
 */
export const providerCostsOf = (
  request: StoredRequest,
  attempts: readonly Pick<ProviderAttempt, 'provider' | 'upstreamModel' | 'outcome'>[],
): ProviderCost[] | undefined => {
  const { routeCosts } = request;
  if (!routeCosts) return undefined;
  const calls = attempts.flatMap(({ outcome, ...route }) =>
    outcome?.kind === 'done' ? [{ route: routeNameOf(route), outcome }] : [],
  );
  return [...Map.groupBy(calls, ({ route }) => route)].map(([route, made]) => {
    const unit = routeCosts[route];
    if (unit === undefined) return { route };
    const units = sumOf(made.map(({ outcome }) => unitsOf(request, outcome)));
    const reported = made.map(({ outcome }) => reportedUnits(request, outcome.usage));
    const isReported = reported.every((one) => one !== undefined);
    return {
      route,
      costThousandths: units * unit,
      ...(isReported && { reportedThousandths: Math.round(sumOf(reported) * unit) }),
    };
  });
};

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

/** Images with a URL, or the seconds of a video and its clips. */
const unitsOf = (request: StoredRequest, { outputs }: Done): number => {
  const produced = outputs.filter((output) => 'url' in output).length;
  return request.kind === 'image' ? produced : produced * request.billedSeconds;
};

const reportedUnits = ({ kind }: StoredRequest, usage: ProviderUsage = {}): number | undefined => {
  const { images, outputSeconds, inputSeconds = 0 } = usage;
  if (kind === 'image') return images;
  return outputSeconds === undefined ? undefined : outputSeconds + inputSeconds;
};
