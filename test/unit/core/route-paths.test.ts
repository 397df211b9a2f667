import { expect, test } from '@jest/globals';
import { methodsOf, routePath } from '../../../core/routes.ts';

test.each([
  ['/v1/generations', ['POST', 'GET']],
  ['/v1/videos/{requestId}', ['GET']],
  ['/openai/v1/videos/{requestId}', ['GET', 'DELETE']],
  ['/v1', []],
])('the path %s takes %j', (path, methods) => {
  expect(methodsOf(path)).toEqual(methods);
});

test('a path needs each of its parameters, which it has as they are', () => {
  const parameters = { provider: 'fal@eu', requestId: 'img_1', token: 'a/b' };

  expect(routePath('receive-callback', parameters)).toBe('/callbacks/fal@eu/img_1/a/b');
  for (const name of Object.keys(parameters))
    expect(() => routePath('receive-callback', { ...parameters, [name]: undefined as never })).toThrow(
      `The path of receive-callback needs ${name}.`,
    );
});
