import { describe, expect, test } from '@jest/globals';
import { errorIn } from '../../../providers/error-bodies.ts';

describe('an error in a body', () => {
  const INNER = { code: 'InvalidParameter', message: 'why', at: undefined };

  test.each<[string, unknown]>([
    ['flat', { code: 'InvalidParameter', message: 'why', request_id: 'r' }],
    ['below error', { error: { code: 'InvalidParameter', message: 'why' } }],
    [
      'as the public gateway of the maker writes it',
      { ResponseMetadata: { Error: { CodeN: 1, Code: 'InvalidParameter', Message: 'why' } } },
    ],
    [
      'as JSON in a message',
      { code: 'fail', message: '{"error":{"code":"InvalidParameter","message":"why"}}' },
    ],
    [
      'after words',
      { error: { message: 'upstream: {"code":"InvalidParameter","message":"why"}', type: 'upstream_error' } },
    ],
    ['as a text', '{"code":"InvalidParameter","message":"why"}'],
  ])('is found %s', (_, body) => {
    expect(errorIn(body)).toEqual(INNER);
  });

  test.each([
    null,
    undefined,
    [],
    'text',
    {},
    { code: null },
    { code: 0, data: {} },
    { code: '' },
    { error: {} },
  ])('is none in %j', (body) => {
    expect(errorIn(body)).toBeUndefined();
  });

  test('has a number for a code as text, and ends with its depth', () => {
    expect(errorIn({ error: { code: 1301, message: 'x' } })).toEqual({
      code: '1301',
      message: 'x',
      at: undefined,
    });
    let deep: unknown = { code: 'Deep' };
    for (let depth = 0; depth < 20; depth++) deep = { error: deep };
    expect(errorIn(deep)).toBeUndefined();
  });
});
