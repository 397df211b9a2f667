import { describe, expect, test } from '@jest/globals';
import { codesOf, errorIn } from '../../../providers/error-bodies.ts';

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

  test.each([0, 200, '0', '200', 'success', 'Success', 'ok', 'OK'])(
    'is none where a gateway reports success by the code %j',
    (code) => {
      expect(errorIn({ code, message: 'done' })).toBeUndefined();
      expect(errorIn({ error: { code } })).toBeUndefined();
    },
  );

  test.each<[object, object]>([
    [{ code: 'A', Code: 'B', type: 'c' }, { code: 'A' }],
    [{ Code: 'B', type: 'c' }, { code: 'B' }],
    [{ type: 'c' }, { code: 'c' }],
    [{ code: '', type: 'c' }, { code: 'c' }],
    [{ code: null, Code: 'B' }, { code: 'B' }],
    [
      { code: 'A', message: 'm', Message: 'n', msg: 'o' },
      { code: 'A', message: 'm' },
    ],
    [
      { code: 'A', Message: 'n', msg: 'o' },
      { code: 'A', message: 'n' },
    ],
    [
      { code: 'A', msg: 'o' },
      { code: 'A', message: 'o' },
    ],
    [
      { code: 'A', message: null, msg: 'o' },
      { code: 'A', message: 'o' },
    ],
    [{ code: 'A', message: { text: 'm' } }, { code: 'A' }],
    [{ code: 'A', message: '' }, { code: 'A' }],
    [
      { code: 'A', param: 'size' },
      { code: 'A', at: 'size' },
    ],
    [{ code: 'A', param: null }, { code: 'A' }],
    [{ code: 'A', error: { code: 'B' } }, { code: 'B' }],
    [{ error: { code: 'A' }, ResponseMetadata: { code: 'B' } }, { code: 'A' }],
    [{ Error: { code: 'A' }, ResponseMetadata: { code: 'B' } }, { code: 'B' }],
    [{ Error: { code: 'A' }, message: '{"code":"B"}' }, { code: 'A' }],
    [
      { code: 'A', message: 'see {"code":"0"}' },
      { code: 'A', message: 'see {"code":"0"}' },
    ],
    [
      { code: 'A', message: 'see {this}' },
      { code: 'A', message: 'see {this}' },
    ],
  ])('is read in %j', (body, error) => {
    const { code, message, at } = errorIn(body) ?? {};

    expect({ code, ...(message !== undefined && { message }), ...(at !== undefined && { at }) }).toEqual(
      error,
    );
  });

  test('is found four levels deep, and no deeper', () => {
    const nested = (levels: number): unknown =>
      levels === 0 ? { code: 'Deep' } : { error: nested(levels - 1) };

    expect(errorIn(nested(4))).toMatchObject({ code: 'Deep' });
    expect(errorIn(nested(5))).toBeUndefined();
  });
});

describe('the codes of an error', () => {
  test.each([
    ['A', undefined, ['A']],
    ['A', 'Nothing here, not even in OpenAI or AI.', ['A', 'OpenAI']],
    [
      'InvalidParameter',
      '<400> InternalError.Algo.DataInspectionFailed: see DataInspection.',
      ['InvalidParameter', 'InternalError.Algo.DataInspectionFailed', 'DataInspection'],
    ],
  ])('%s with the message %j are %j', (code, message, codes) => {
    expect(codesOf({ code, message })).toEqual(codes);
  });
});
