import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createRouter } from '../../src/gateway/router.ts';
import { aRoute } from './an-api.ts';

describe('a router', () => {
  const find = createRouter([
    aRoute('ANY', '/{proxy+}'),
    aRoute('GET', '/'),
    aRoute('GET', '/v1/generations/{requestId}'),
    aRoute('ANY', '/v1/generations/{requestId}'),
    aRoute('POST', '/v1/generations/bulk-delete'),
    aRoute('GET', '/v1/{kind}/{id}/files/{path+}'),
    aRoute('GET', '/v1/generations'),
  ]);

  test.each<[string, string, string | undefined, Record<string, string>]>([
    ['GET', '/', 'GET /', {}],
    ['GET', '/v1/generations', 'GET /v1/generations', {}],
    ['GET', '/v1/generations/', 'GET /v1/generations', {}],
    ['GET', '/v1/generations/img_1', 'GET /v1/generations/{requestId}', { requestId: 'img_1' }],
    ['DELETE', '/v1/generations/img_1', 'ANY /v1/generations/{requestId}', { requestId: 'img_1' }],
    ['POST', '/v1/generations/bulk-delete', 'POST /v1/generations/bulk-delete', {}],
    ['GET', '/v1/generations/bulk-delete', undefined, {}],
    ['GET', '/v1/generations/a%2Fb%20c+d', 'GET /v1/generations/{requestId}', { requestId: 'a%2Fb%20c+d' }],
    ['GET', '/v1/generations/%zz', 'GET /v1/generations/{requestId}', { requestId: '%zz' }],
    ['GET', '/v1/generations/a%252Bb', 'GET /v1/generations/{requestId}', { requestId: 'a%252Bb' }],
    [
      'GET',
      '/v1/videos/vid_1/files/a/b.mp4',
      'GET /v1/{kind}/{id}/files/{path+}',
      { kind: 'videos', id: 'vid_1', path: 'a/b.mp4' },
    ],
    ['PUT', '/elsewhere/deep', 'ANY /{proxy+}', { proxy: 'elsewhere/deep' }],
    ['PUT', '/v1//generations', 'ANY /{proxy+}', { proxy: 'v1//generations' }],
  ])('%s %s is %s', (method, path, expected, pathParameters) => {
    const match = find(method, path);

    expect(match && `${match.route.method} ${match.route.resourcePath}`).toBe(expected);
    if (expected) expect(match?.pathParameters).toEqual(pathParameters);
  });

  test('has no route for a resource without a method, though a less specific one has one', () => {
    const router = createRouter([aRoute('ANY', '/{proxy+}')], ['/v1', '/v1/generations', '/{proxy+}']);

    expect(router('GET', '/v1')).toBeUndefined();
    expect(router('GET', '/v1/generations/')).toBeUndefined();
    expect(router('GET', '/v1/other')?.route.resourcePath).toBe('/{proxy+}');
  });

  test.each(['//v1/generations', '////v1/generations/'])(
    'reads %s as the gateway does, without the slashes',
    (path) => {
      const router = createRouter([aRoute('GET', '/v1/generations')]);

      expect(router('GET', path)?.route.resourcePath).toBe('/v1/generations');
    },
  );

  test.each(['/v1//generations', '//', '/v2', '/v1/generations/a/b'])('has no route for %s', (path) => {
    const router = createRouter([
      aRoute('GET', '/v1/generations/{requestId}'),
      aRoute('GET', '/v1/generations'),
    ]);

    expect(router('GET', path)).toBeUndefined();
  });
});

test('a router finds the most specific resource in whatever order a template has them', () => {
  const literal = [
    '/a',
    '/a/b',
    '/a/b/c',
    '/a/b/c/d',
    '/e',
    '/e/f',
    '/e/f/g',
    '/h',
    '/h/i',
    '/h/i/j',
    '/h/k',
  ];
  const paths = [...literal, '/a/b/{x+}', '/a/b/c/{y}', '/h/{z+}', '/e/f/{v}', '/{w+}'];
  const anyOrder = fc.shuffledSubarray(paths, { minLength: paths.length });

  fc.assert(
    fc.property(anyOrder, (order) => {
      const find = createRouter(order.map((path) => aRoute('GET', path)));
      for (const path of literal) expect(find('GET', path)?.route.resourcePath).toBe(path);
      expect(find('GET', '/a/b/x')?.route.resourcePath).toBe('/a/b/{x+}');
      expect(find('GET', '/a/x')?.route.resourcePath).toBe('/{w+}');
    }),
    { numRuns: 500, seed: 1 },
  );
});
