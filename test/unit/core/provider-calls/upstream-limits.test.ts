import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CATALOG, findModel } from '../../../../core/models/catalog.ts';
import {
  type LimitedRoute,
  limitsOf,
  takesRequest,
  unservable,
} from '../../../../core/provider-calls/upstream-limits.ts';
import { anImageRequest, aVideoRequest } from '../../builders/entities.ts';

const { context } = JSON.parse(readFileSync(new URL('../../../../cdk.json', import.meta.url), 'utf8'));
const WORKSPACE = 'https://ws-1.ap-southeast-1.maas.aliyuncs.com';
const model = (id: string) => {
  const found = findModel(id);
  if (!found) throw new Error(`There is no model ${id}.`);
  return found;
};

const problemOf = (id: string, routes: readonly LimitedRoute[], host = WORKSPACE) =>
  unservable(model(id), routes, () => host);

describe('a route', () => {
  test.each([
    'https://dashscope-intl.aliyuncs.com',
    'https://dashscope.aliyuncs.com',
    'https://dashscope-us.aliyuncs.com/',
  ])('to a model of a workspace cannot be served by the host that all share: %s', (host) => {
    const route = { upstreamModel: 'wan3.0-video' };

    expect(problemOf('xW3.0s', [route], host)).toBe('wan3.0-video is served at hosts of a workspace only');
    expect(problemOf('xW3.0s', [route])).toBeUndefined();
    expect(problemOf('xW3.0s', [route], 'http://127.0.0.1:4000')).toBeUndefined();
    expect(problemOf('xW2.7S', [{ upstreamModel: 'wan2.7-i2v' }], host)).toBeUndefined();
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
    expect(problemOf(id, [{ upstreamModel }])).toBe(problem);
  });

  test('has limits of its own in place of those we know, but for the parameters', () => {
    const route = { upstreamModel: 'wan3.0-video', limits: { resolutions: ['1080p', '2k', '4k'] } };

    const parameters = ['seed', 'generateAudio', 'promptExtend'];
    expect(limitsOf(route)).toEqual({ resolutions: ['1080p', '2k', '4k'], parameters });
    expect(limitsOf({ ...route, limits: { parameters: ['seed'] } })).toEqual({ parameters: ['seed'] });
    expect(problemOf('xW3.0sPro', [route], 'https://dashscope.aliyuncs.com')).toBeUndefined();
  });
});

test.each([
  [{ minSeconds: 2, maxSeconds: 30 }, undefined],
  [{ minSeconds: 3 }, 'a makes no videos of 2 to 30 s'],
  [{ maxSeconds: 29 }, 'a makes no videos of 2 to 30 s'],
])('videos of 2 to 30 s at a route with %j: %p is in the way', (limits, problem) => {
  expect(problemOf('xW3.0s', [{ upstreamModel: 'a', limits }])).toBe(problem);
});

describe('two routes', () => {
  test.each([
    ['xW3.0sPro', ['720p', '1080p'], ['2k', '4k'], undefined],
    ['xW3.0sPro', ['1080p'], ['4k'], 'a or b makes no videos of 2k'],
    ['xW3.0sPro', undefined, ['4k'], undefined],
  ])('serve %s together where each makes a part of it: %j and %j', (id, first, second, problem) => {
    const routes = [
      { upstreamModel: 'a', limits: { resolutions: first } },
      { upstreamModel: 'b', limits: { resolutions: second } },
    ];

    expect(problemOf(id, routes)).toBe(problem);
  });

  test('serve the lengths of a model where each resolution is made in the shortest and in the longest', () => {
    const short = { upstreamModel: 'a', limits: { maxSeconds: 15 } };
    const long = { upstreamModel: 'b', limits: { minSeconds: 10, resolutions: ['480p', '720p'] } };

    expect(problemOf('xW3.0s', [short, long])).toBe('a or b makes no videos of 2 to 30 s');
    expect(problemOf('xW3.0s', [short, { ...long, limits: { minSeconds: 10 } }])).toBeUndefined();
  });

  test('serve a model whose first host is not a workspace’s by the second', () => {
    const hosts = (route: LimitedRoute) =>
      route.upstreamModel === 'alibaba/wan-3.0'
        ? 'https://queue.fal.run'
        : 'https://dashscope-intl.aliyuncs.com';
    const routes = [{ upstreamModel: 'wan3.0-video' }, { upstreamModel: 'alibaba/wan-3.0' }];

    expect(unservable(model('xW3.0s'), routes, hosts)).toBeUndefined();
  });
});

describe('what a request asks for is taken', () => {
  test.each([
    [{ size: '2K', aspectRatio: 'square' }, { maxPixels: 2048 * 2048 }, true],
    [{ size: '2049x2048' }, { maxPixels: 2048 * 2048 }, false],
    [{ size: '256x256' }, { minPixels: 512 * 512 }, false],
    [{ size: 'of another version' }, { minPixels: 512 * 512 }, true],
    [{ images: 4 }, { images: 4 }, true],
    [{ images: 5 }, { images: 4 }, false],
    [{ images: 7, sequential: true }, { groupImages: 6 }, false],
    [{ images: 7, sequential: true }, { groupImages: 7, images: 1 }, true],
    [{ references: ['https://a.example/1.png'] }, { references: 0 }, false],
    [{ references: [] }, { references: 0 }, true],
    [{ prompt: '🦊'.repeat(6) }, { promptCharacters: 5 }, false],
    [{ prompt: '🦊'.repeat(5) }, { promptCharacters: 5 }, true],
  ])('for images: %j by %j: %p', (request, limits, isTaken) => {
    expect(takesRequest(limits, anImageRequest(request))).toBe(isTaken);
  });

  test.each([
    ['z-image-turbo', ['512x511', '2048x2049'], ['512x512', '2048x2048']],
    ['bytedance/seedream/v5/pro', ['1024x1023', '2048x2049'], ['1024x1024', '2048x2048']],
    ['alibaba/qwen-image-3', ['512x511', '2048x2049'], ['512x512', '2048x2048']],
    ['fal-ai/z-image/turbo', ['2048x2049'], ['256x256', '2048x2048']],
  ])('for images of %s by their pixels: none of %j, all of %j', (upstreamModel, untaken, taken) => {
    const takes = (size: string): boolean =>
      takesRequest(limitsOf({ upstreamModel }), anImageRequest({ size }));

    expect([...untaken, ...taken].filter(takes)).toEqual(taken);
  });

  test.each([
    [{ resolution: '480p' }, { resolutions: ['720p', '1080p'] }, false],
    [{ resolution: '720p' }, { resolutions: ['720p', '1080p'] }, true],
    [{ ratio: '3:4' }, { ratios: ['16:9'] }, false],
    [{ ratio: '16:9' }, { ratios: ['16:9'] }, true],
    [{ durationSec: 3, billedSeconds: 3 }, { minSeconds: 4 }, false],
    [{ durationSec: 16, billedSeconds: 16 }, { maxSeconds: 15 }, false],
    [{ durationSec: 15, billedSeconds: 15 }, { maxSeconds: 15 }, true],
    [{ durationSec: 5, billedSeconds: 21 }, { referenceVideosSeconds: 15 }, false],
    [{ durationSec: 5, billedSeconds: 20 }, { referenceVideosSeconds: 15 }, true],
    [{ referenceImages: ['https://a.example/1.png', 'https://a.example/2.png'] }, { references: 1 }, false],
  ])('for a video: %j by %j: %p', (request, limits, isTaken) => {
    expect(takesRequest(limits, aVideoRequest(request))).toBe(isTaken);
  });
});

describe('the routes of cdk.json', () => {
  test('can serve what the catalog names, each at the host of a workspace', () => {
    const problems = CATALOG.flatMap((listed) => {
      const route = context.modelRoutes[listed.id];
      return route ? [problemOf(listed.id, [route].flat())] : [];
    });

    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
    expect(problems).toHaveLength(6);
  });
});
