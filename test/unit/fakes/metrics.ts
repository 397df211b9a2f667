import { Metrics } from '@aws-lambda-powertools/metrics';
import { jest } from '@jest/globals';

/**
 * Records metrics from now on. Returns a function that lists each with its dimensions. The tests' environment keeps
 * them from being written.
 */
export const metricsCounted = (): (() => [name: string, dimensions: Record<string, string>][]) => {
  const dimensions = jest.spyOn(Metrics.prototype, 'addDimensions').mockClear();
  const metrics = jest.spyOn(Metrics.prototype, 'addMetric').mockClear();
  return () => metrics.mock.calls.map(([name], index) => [name, dimensions.mock.calls[index]?.[0] ?? {}]);
};
