import { Metrics } from '@aws-lambda-powertools/metrics';
import { jest } from '@jest/globals';

/**
 * Watches the metrics that are counted from now on: the answer gives each with the names it is split by. The
 * environment of the tests keeps them from being written anywhere.
 */
export const metricsCounted = (): (() => [name: string, dimensions: Record<string, string>][]) => {
  const dimensions = jest.spyOn(Metrics.prototype, 'addDimensions').mockClear();
  const metrics = jest.spyOn(Metrics.prototype, 'addMetric').mockClear();
  return () => metrics.mock.calls.map(([name], index) => [name, dimensions.mock.calls[index]?.[0] ?? {}]);
};
