import { describe, expect, test } from '@jest/globals';
import { ValidationError } from '../../../core/errors.ts';
import { checkAll, wrongFields } from '../../../functions/http/api-request.ts';

const wrong = (field: string) => () => {
  throw new ValidationError({ [field]: 'is wrong' });
};
const right = () => 'fine';

describe('several checks of one request', () => {
  test('report everything wrong at once', () => {
    expect(() => checkAll(wrong('page'), right, wrong('model'))).toThrow(
      expect.objectContaining({ name: 'ValidationError', fields: { page: 'is wrong', model: 'is wrong' } }),
    );
  });

  test('report a field named __proto__ like any other', () => {
    const fields = wrongFields(right, wrong('__proto__'), wrong('page'));

    expect(Object.keys(fields)).toEqual(['__proto__', 'page']);
  });

  test('pass when nothing is wrong', () => {
    expect(wrongFields(right, right)).toEqual({});
    expect(() => checkAll(right)).not.toThrow();
  });

  test('hide no other error', () => {
    const broken = () => {
      throw new TypeError('a bug');
    };

    expect(() => wrongFields(wrong('page'), broken)).toThrow('a bug');
  });
});
