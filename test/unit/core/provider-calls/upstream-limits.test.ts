import '../../builders/environment.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CATALOG, findModel } from '../../../../core/models/catalog.ts';
import { dispatchProblem, earlyLimitsOf } from '../../../../core/provider-calls/model-routes.ts';
import { limitsOf, unservable } from '../../../../core/provider-calls/upstream-limits.ts';
import { withEnvironment } from '../../builders/environment.ts';

const { context } = JSON.parse(readFileSync(new URL('../../../../cdk.json', import.meta.url), 'utf8'));
const WORKSPACE = 'https://ws-1.ap-southeast-1.maas.aliyuncs.com';
const model = (id: string) => {
  const found = findModel(id);
  if (!found) throw new Error(`There is no model ${id}.`);
  return found;
};

describe('a route', () => {
  test.each([
    'https://dashscope-intl.aliyuncs.com',
    'https://dashscope.aliyuncs.com',
    'https://dashscope-us.aliyuncs.com/',
  ])('to a model of a workspace cannot be served by the host that all share: %s', (host) => {
    const route = { upstreamModel: 'wan3.0-video' };

    expect(unservable(model('xW3.0s'), route, host)).toBe(
      'wan3.0-video is served at hosts of a workspace only',
    );
    expect(unservable(model('xW3.0s'), route, WORKSPACE)).toBeUndefined();
    expect(unservable(model('xW3.0s'), route, 'http://127.0.0.1:4000')).toBeUndefined();
    expect(unservable(model('xW2.7S'), { upstreamModel: 'wan2.7-i2v' }, host)).toBeUndefined();
  });

  test.each([
    ['xW3.0sPro', 'wan3.0-video', 'wan3.0-video makes no videos of 2k, 4k'],
    ['xW3.0sPro', 'wan3.0-video-prime', 'wan3.0-video-prime makes no videos of 2k, 4k'],
    ['xW3.0sPro', 'dreamina-seedance-2-0-260128', 'dreamina-seedance-2-0-260128 makes no videos of 2k'],
    ['xW3.0s', 'dreamina-seedance-2-0-260128', 'dreamina-seedance-2-0-260128 makes no videos of 2 to 30 s'],
    ['xSD4.5', 'z-image-turbo', 'z-image-turbo makes no images of 4K'],
    ['xZI1.0Pro', 'z-image-turbo', undefined],
    ['xW3.0sPro', 'constructor', undefined],
    ['xSD4.5', 'fal-ai/bytedance/seedream/v4.5', undefined],
    ['xSD5Pro', 'bytedance/seedream/v5/pro', 'bytedance/seedream/v5/pro makes no images of 1K'],
    ['xQI3Pro', 'alibaba/qwen-image-3', undefined],
    ['xZI1.0Pro', 'fal-ai/z-image/turbo', undefined],
    ['xW2.7S', 'fal-ai/wan/v2.7', undefined],
    ['xW3.0s', 'alibaba/wan-3.0', undefined],
    ['xW3.0s', 'fal-ai/wan/v2.7', 'fal-ai/wan/v2.7 makes no videos of 480p'],
    ['xW3.0sPro', 'alibaba/wan-3.0-prime', 'alibaba/wan-3.0-prime makes no videos of 2k, 4k'],
  ])('of %s to %s can be served: %p is in the way', (id, upstreamModel, problem) => {
    expect(unservable(model(id), { upstreamModel }, WORKSPACE)).toBe(problem);
  });

  test('has limits of its own in place of those we know', () => {
    const route = { upstreamModel: 'wan3.0-video', limits: { resolutions: ['1080p', '2k', '4k'] } };

    expect(limitsOf(route)).toEqual({ resolutions: ['1080p', '2k', '4k'] });
    expect(unservable(model('xW3.0sPro'), route, 'https://dashscope.aliyuncs.com')).toBeUndefined();
  });

  test('keeps a model that it cannot serve out of the catalog', () =>
    withEnvironment(
      {
        MODEL_ROUTES: JSON.stringify({
          'xW3.0s': { provider: 'modelstudio', upstreamModel: 'wan3.0-video' },
        }),
        MODELSTUDIO_BASE_URL: 'https://dashscope-intl.aliyuncs.com',
      },
      () => {
        const problem = dispatchProblem(model('xW3.0s'), undefined, new Set(['modelstudio']));

        expect(problem).toBe('wan3.0-video is served at hosts of a workspace only');
      },
    ));

  test('refuses early only when it is configured to', async () => {
    const route = { provider: 'modelstudio', upstreamModel: 'z-image-turbo' };
    const earlyWith = (more: object) =>
      withEnvironment({ MODEL_ROUTES: JSON.stringify({ 'xZI1.0Pro': { ...route, ...more } }) }, () =>
        earlyLimitsOf('xZI1.0Pro'),
      );

    expect(await earlyWith({})).toEqual({});
    expect(await earlyWith({ refusesEarly: true })).toMatchObject({ promptCharacters: 800 });
    expect(await earlyWith({ refusesEarly: true, limits: { promptCharacters: 5 } })).toEqual({
      promptCharacters: 5,
    });
    expect(earlyLimitsOf('nobody')).toEqual({});
  });
});

describe('the routes of cdk.json', () => {
  test('can serve what the catalog names, each at the host of a workspace', () => {
    const problems = CATALOG.flatMap((listed) => {
      const route = context.modelRoutes[listed.id];
      return route ? [unservable(listed, route, WORKSPACE)] : [];
    });

    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    expect(problems).toHaveLength(6);
  });
});
