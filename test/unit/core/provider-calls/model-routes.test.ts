import { describe, expect, test } from '@jest/globals';
import { type CatalogModel, findModel } from '../../../../core/models/catalog.ts';
import {
  dispatchProblem,
  earlyLimitsOf,
  ModelRoutes,
  queryLimitsOf,
  routesFor,
} from '../../../../core/provider-calls/model-routes.ts';
import { KNOWN_LIMITS } from '../../../../core/provider-calls/upstream-limits.ts';
import { anImageRequest } from '../../builders/entities.ts';
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

test('the queries of each account have their own limit, below what its provider takes', async () => {
  const routes = {
    xQI3Pro: { provider: 'modelstudio@eu', upstreamModel: 'qwen', queriesAtOnce: 20, queriesPerSecond: 12 },
  };

  await withEnvironment({ MODEL_ROUTES: JSON.stringify(routes) }, () => {
    expect(queryLimitsOf('modelstudio@eu')).toEqual({ atOnce: 20, perSecond: 12 });
    expect(queryLimitsOf('modelstudio')).toEqual({ atOnce: 16, perSecond: 18 });
    expect(queryLimitsOf('fal')).toEqual({ atOnce: 4, perSecond: 10 });
  });
});

describe('a list of routes', () => {
  const SECOND = { provider: 'fal', upstreamModel: 'seedream' } as const;
  const under = <T>(routes: readonly object[], read: () => T): Promise<T> =>
    withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xSD4.5': routes }) }, read);
  const request = anImageRequest({ model: 'xSD4.5', size: '4K', aspectRatio: 'square' });

  test('may stand for one route', () => {
    const parsed = ModelRoutes.parse({ 'xSD4.5': ROUTE, xSD5Pro: [ROUTE, SECOND] });

    expect(parsed).toEqual({ 'xSD4.5': [ROUTE], xSD5Pro: [ROUTE, SECOND] });
    expect(ModelRoutes.safeParse({ 'xSD4.5': [] }).success).toBe(false);
    expect(ModelRoutes.safeParse({ 'xSD4.5': Array(5).fill(ROUTE) }).success).toBe(false);
  });

  test.each([
    [{}, {}, ['modelark', 'fal']],
    [{ maxPixels: 2048 * 2048 }, {}, ['fal']],
    [{}, { maxPixels: 2048 * 2048 }, ['modelark']],
    [{ maxPixels: 2048 * 2048 }, { maxPixels: 2048 * 2048 }, ['modelark', 'fal']],
  ])('with limits %j and %j leads a large image to %j', async (first, second, providers) => {
    const routes = [
      { ...ROUTE, limits: first },
      { ...SECOND, limits: second },
    ];

    const { routes: found } = await under(routes, () => routesFor(request));

    expect(found.map(({ provider }) => provider)).toEqual(providers);
  });

  test('leaves out a route that needs a host of a workspace', async () => {
    const routes = [{ ...ROUTE, limits: { workspaceHost: true } }, SECOND];
    const host = { MODELARK_BASE_URL: 'https://dashscope-intl.aliyuncs.com' };

    const found = await withEnvironment(host, () => under(routes, () => routesFor(request)));

    expect(found.routes).toEqual([SECOND]);
    expect([...found.unfit.values()]).toEqual(['it is served at hosts of a workspace only']);
  });

  test('says of each route that does not get a request why', async () => {
    const routes = [
      { ...ROUTE, limits: { images: 1 } },
      { ...ROUTE, upstreamModel: 'left' },
      SECOND,
      { provider: 'modelstudio', upstreamModel: 'keyless' },
    ];
    const left = { 'modelark/left': '2026-11-20T09:00:00.000Z' };
    const facts = { left, keyless: new Set(['modelstudio'] as const) };

    const found = await under(routes, () => routesFor({ ...request, images: 2 }, facts));

    expect(found.routes).toEqual([SECOND]);
    expect([...found.unfit].map(([{ upstreamModel }, why]) => [upstreamModel, why])).toEqual([
      ['seedream', 'it does not take this request'],
      ['left', 'it is left by hand'],
      ['keyless', 'its provider has no key'],
    ]);
  });

  test.each([
    [['modelark', 'fal'], undefined],
    [['fal'], undefined],
    [['modelark'], 'seedream makes no images of 4K'],
    [['modelstudio'], 'z-image is served at hosts of a workspace only'],
    [[], 'no credential for modelark or fal or modelstudio'],
  ] as const)('with the credentials of %j is offered but for this: %p', async (credentials, problem) => {
    const shared = { provider: 'modelstudio', upstreamModel: 'z-image', limits: { workspaceHost: true } };
    const routes = [{ ...ROUTE, limits: { maxPixels: 2048 * 2048 } }, SECOND, shared];
    const host = { MODELSTUDIO_BASE_URL: 'https://dashscope-intl.aliyuncs.com' };
    const model = findModel('xSD4.5') as CatalogModel;
    const offer = () => dispatchProblem(model, undefined, new Set(credentials));

    expect(await withEnvironment(host, () => under(routes, offer))).toBe(problem);
  });

  test.each<[object, ('modelark' | 'fal')[], unknown[]]>([
    [{}, ['modelark'], [{ parameters: ['seed'] }]],
    [{ limits: { groupImages: 6 } }, ['modelark'], [{ parameters: ['seed'] }]],
    [{ limits: { groupImages: 6, parameters: [] } }, ['modelark'], [{ parameters: [] }]],
    [{ refusesEarly: true }, ['modelark'], [KNOWN_LIMITS['z-image-turbo']]],
    [
      { refusesEarly: true, limits: { groupImages: 6 } },
      ['modelark', 'fal'],
      [{ groupImages: 6, parameters: ['seed'] }, { parameters: [] }],
    ],
    [{ refusesEarly: true }, [], []],
  ])('with %j and the credentials of %j refuses early beyond %j', async (more, credentials, limits) => {
    const routes = [{ ...ROUTE, upstreamModel: 'z-image-turbo', ...more }, SECOND];

    expect(await under(routes, () => earlyLimitsOf('xSD4.5', new Set(credentials)))).toEqual(limits);
  });

  test('of a model that has none refuses nothing early', () => {
    expect(earlyLimitsOf('nobody', new Set(['modelark']))).toEqual([]);
  });
});

test('accounts with the same upstream model share the requests, each before the routes that come after', async () => {
  const account = (provider: string) => ({ provider, upstreamModel: 'qwen' });
  const routes = [
    account('modelstudio'),
    { provider: 'fal', upstreamModel: 'qwen' },
    account('modelstudio@eu'),
  ];
  const orders = Array.from({ length: 400 }, (_, index) =>
    anImageRequest({ model: 'xQI3Pro', requestId: `img_${index}` }),
  );

  const found = await withEnvironment(
    { MODEL_ROUTES: JSON.stringify({ xQI3Pro: routes }), MODELSTUDIO_BASE_URL_EU: 'https://eu.example' },
    () =>
      orders.map((request) =>
        routesFor(request)
          .routes.map(({ provider }) => provider)
          .join(),
      ),
  );

  const first = found.filter((order) => order === 'modelstudio,modelstudio@eu,fal');
  const second = found.filter((order) => order === 'modelstudio@eu,modelstudio,fal');
  expect(first.length + second.length).toBe(400);
  expect(first.length).toBeGreaterThan(150);
  expect(second.length).toBeGreaterThan(150);
});
