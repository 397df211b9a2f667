import type { ProviderAttempt } from '../provider-calls/provider-attempts.ts';
import type { ProviderUsage } from '../provider-calls/providers.ts';
import { routeNameOf } from '../provider-names.ts';
import type { ProviderCost, StoredRequest } from '../requests/request-rules.ts';

type Done = Extract<NonNullable<ProviderAttempt['outcome']>, { kind: 'done' }>;

/**
 * Our cost of a request's finished calls by route, at the costs of its creation. Undefined when no cost was set. Calls without a
 * known result are not counted: whether their provider charges for them is not known.
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
    const units = sumOfNumbers(made.map(({ outcome }) => unitsOf(request, outcome)));
    const reported = made.map(({ outcome }) => reportedUnits(request, outcome.usage));
    const isReported = reported.every((one) => one !== undefined);
    return {
      route,
      costThousandths: units * unit,
      ...(isReported && { reportedThousandths: Math.round(sumOfNumbers(reported) * unit) }),
    };
  });
};

const sumOfNumbers = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

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

/** The seconds of a request's parts, which add up to `totalSeconds`. */
export interface RequestParts {
  /** From the creation to the end. */
  totalSeconds: number;
  /** From the creation to the first provider call or, without a call, to the end. */
  queueSeconds: number;
  /** From the first provider call to the end of the last call or task, at most to the end of the request. Absent without a call. */
  providerSeconds?: number;
  /**
   * From the end of the last call or task to the end of the request: copying the outputs, and settling. Absent while a call or
   * task is open.
   */
  storingSeconds?: number;
}

const seconds = (fromMs: number, untilMs: number): number => Math.max(0, untilMs - fromMs) / 1000;

/** The parts of a request that ends at `endedAt`, from its provider calls. */
export const requestParts = (
  { createdAt, dispatchedAt }: Pick<StoredRequest, 'createdAt' | 'dispatchedAt'>,
  attempts: readonly Pick<ProviderAttempt, 'finishedAt'>[],
  endedAt: Date,
): RequestParts => {
  const [createdMs, endedMs] = [Date.parse(createdAt), endedAt.getTime()];
  const totalSeconds = seconds(createdMs, endedMs);
  if (dispatchedAt === undefined) return { totalSeconds, queueSeconds: totalSeconds };
  const dispatchedMs = Date.parse(dispatchedAt);
  const queueSeconds = seconds(createdMs, dispatchedMs);
  const finished = attempts.map(({ finishedAt }) => finishedAt);
  const isOpen = finished.length === 0 || finished.includes(undefined);
  if (isOpen) return { totalSeconds, queueSeconds, providerSeconds: seconds(dispatchedMs, endedMs) };
  const doneMs = Math.max(...finished.map((at = '') => Date.parse(at)));
  const providerSeconds = seconds(dispatchedMs, doneMs);
  return { totalSeconds, queueSeconds, providerSeconds, storingSeconds: seconds(doneMs, endedMs) };
};
