import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import { ModelRoutes, queryLimitsOf } from '../../../../core/provider-calls/model-routes.ts';
import { withEnvironment } from '../../builders/environment.ts';

const ROUTE = { provider: 'modelark', upstreamModel: 'seedream' } as const;

describe('the route of a model', () => {
  test.each([
    [{ maxRunning: 1 }, true],
    [{ maxRunning: 200 }, true],
    [{ maxRunning: 201 }, false],
    [{ maxRunning: 0 }, false],
    [{ maxRunning: null, requestsPerSecond: null }, true],
    [{ requestsPerSecond: 0.01 }, true],
    [{ requestsPerSecond: 100 }, true],
    [{ requestsPerSecond: 100.5 }, false],
    [{ queriesAtOnce: 1, queriesPerSecond: 0.1 }, true],
    [{ queriesAtOnce: 50, queriesPerSecond: 100 }, true],
    [{ queriesAtOnce: 51 }, false],
    [{ queriesAtOnce: 0 }, false],
    [{ queriesPerSecond: 101 }, false],
    [{ queriesPerSecond: 0 }, false],
  ])('with limits %j is taken: %p', (limits, isTaken) => {
    expect(ModelRoutes.safeParse({ 'xSD4.5': { ...ROUTE, ...limits } }).success).toBe(isTaken);
  });
});

test.each<[string, object, object, object?]>([
  ['are four at once and ten a second', {}, { atOnce: 4, perSecond: 10 }],
  ['are what its routes say', { queriesAtOnce: 8, queriesPerSecond: 0.5 }, { atOnce: 8, perSecond: 0.5 }],
  [
    'are the most that any route says',
    { queriesAtOnce: 2 },
    { atOnce: 3, perSecond: 10 },
    { queriesAtOnce: 3 },
  ],
])('the queries of a provider %s', async (_, limits, expected, others = {}) => {
  const routes = {
    'xSD4.5': { ...ROUTE, ...limits },
    xSD5Pro: { ...ROUTE, ...others },
    xQI3Pro: { provider: 'modelstudio', upstreamModel: 'qwen', queriesAtOnce: 20, queriesPerSecond: 20 },
  };

  await withEnvironment({ MODEL_ROUTES: JSON.stringify(routes) }, () => {
    expect(queryLimitsOf('modelark')).toEqual(expected);
  });
});
