import { Metrics } from '@aws-lambda-powertools/metrics';
import { jest } from '@jest/globals';

/**
 * Records metrics from now on. Returns a function that lists each with its dimensions, and its count when that is not 1.
 * The tests' environment keeps them from being written.
 */
export const metricsCounted = (): (() => [
  name: string,
  dimensions: Record<string, string>,
  count?: number,
][]) => {
  const dimensions = jest.spyOn(Metrics.prototype, 'addDimensions').mockClear();
  const metrics = jest.spyOn(Metrics.prototype, 'addMetric').mockClear();
  return () =>
    metrics.mock.calls.map(([name, , count], index) => [
      name,
      dimensions.mock.calls[index]?.[0] ?? {},
      ...(count === 1 ? ([] as const) : ([count] as const)),
    ]);
};
