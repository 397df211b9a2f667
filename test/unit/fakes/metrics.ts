import { Metrics } from '@aws-lambda-powertools/metrics';
import { jest } from '@jest/globals';
import { METRIC } from '../../../core/observability.ts';

type Recorded = [name: string, dimensions: Record<string, string>, value?: number];

/** Metrics of ordinary traffic: most use cases lead to some of them. */
const TRAFFIC = new Set<string>([
  METRIC.requestCreated,
  METRIC.requestEnded,
  METRIC.requestFailed,
  METRIC.timeToDone,
  METRIC.requestRefused,
  METRIC.atProvider,
  METRIC.secondsPerOutput,
  METRIC.webhookLag,
  METRIC.refunded,
  METRIC.providerCall,
]);

const recorded = (): (() => Recorded[]) => {
  const dimensions = jest.spyOn(Metrics.prototype, 'addDimensions').mockClear();
  const metrics = jest.spyOn(Metrics.prototype, 'addMetric').mockClear();
  return () =>
    metrics.mock.calls.map(([name, , value], index) => [
      name,
      dimensions.mock.calls[index]?.[0] ?? {},
      ...(value === 1 ? ([] as const) : ([value] as const)),
    ]);
};

/**
 * Records metrics from now on, except those of ordinary traffic. Returns a function that lists the metrics with their
 * dimensions, and with every value other than 1. The tests' environment keeps them from being written.
 */
export const metricsCounted = (): (() => Recorded[]) => {
  const all = recorded();
  return () => all().filter(([name]) => !TRAFFIC.has(name));
};

/** As `metricsCounted`, for the metrics of ordinary traffic. */
export const trafficCounted = (): (() => Recorded[]) => {
  const all = recorded();
  return () => all().filter(([name]) => TRAFFIC.has(name));
};
