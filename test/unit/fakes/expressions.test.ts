import { describe, expect, test } from '@jest/globals';
import { evaluate } from './expressions.ts';

const holds = (condition: string, item: Record<string, unknown>, values = {}, names = {}) =>
  evaluate(item, { condition }, { values, names }) !== undefined;
const update = (expression: string, item: Record<string, unknown>, values = {}, names = {}) =>
  evaluate(item, { update: expression }, { values, names });

describe('A condition', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, boolean]>([
    ['attribute_exists(a)', { a: 1 }, {}, true],
    ['attribute_exists(a)', {}, {}, false],
    ['attribute_not_exists(a)', {}, {}, true],
    ['a = :x', { a: 1 }, { ':x': 1 }, true],
    ['a = :x', {}, { ':x': 1 }, false],
    ['a < :x', { a: 1 }, { ':x': 2 }, true],
    ['a < :x', { a: 2 }, { ':x': 2 }, false],
    ['a <= :x', { a: 2 }, { ':x': 2 }, true],
    ['a >= :x', { a: 1 }, { ':x': 2 }, false],
    ['a >= :x', {}, { ':x': 2 }, false],
    ['a < :x', { a: '1' }, { ':x': 2 }, false],
    ['a.b = :x', { a: { b: 1 } }, { ':x': 1 }, true],
    ['a.b = :x', {}, { ':x': 1 }, false],
    ['a IN (:x, :y)', { a: 2 }, { ':x': 1, ':y': 2 }, true],
    ['a IN (:x, :y)', { a: 3 }, { ':x': 1, ':y': 2 }, false],
    ['a BETWEEN :x AND :y', { a: 2 }, { ':x': 1, ':y': 2 }, true],
    ['a BETWEEN :x AND :y', { a: 3 }, { ':x': 1, ':y': 2 }, false],
    ['begins_with(a, :x)', { a: 'abc' }, { ':x': 'ab' }, true],
    ['begins_with(a, :x)', { a: 'abc' }, { ':x': 'b' }, false],
    ['contains(a, :x)', { a: 'abc' }, { ':x': 'b' }, true],
    ['contains(a, :x)', { a: 'abc' }, { ':x': 'ca' }, false],
    ['contains(a, :x)', {}, { ':x': 'u' }, false],
    // AND binds before OR.
    ['a = :x OR a = :y AND b = :x', { a: 1, b: 9 }, { ':x': 1, ':y': 2 }, true],
    ['(a = :x OR a = :y) AND b = :x', { a: 1, b: 9 }, { ':x': 1, ':y': 2 }, false],
  ])('%s of %j with %j is %p', (condition, item, values, expected) => {
    expect(holds(condition, item, values)).toBe(expected);
  });

  test('uses the given names', () => {
    expect(holds('#s = :x', { status: 1 }, { ':x': 1 }, { '#s': 'status' })).toBe(true);
  });
});

describe('An update', () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['SET a = :x, b = a', { a: 1 }, { ':x': 2 }, { a: 2, b: 1 }],
    ['SET a = a + :x', { a: 1 }, { ':x': 2 }, { a: 3 }],
    ['SET a = :x - b', { b: 1 }, { ':x': 5 }, { a: 4, b: 1 }],
    ['SET a = if_not_exists(a, :x)', {}, { ':x': 2 }, { a: 2 }],
    ['SET a = if_not_exists(a, :x)', { a: 1 }, { ':x': 2 }, { a: 1 }],
    ['ADD a :x', {}, { ':x': 2 }, { a: 2 }],
    ['SET b = :x ADD a :x', { a: 1 }, { ':x': 2 }, { a: 3, b: 2 }],
    ['REMOVE a', { a: 1, b: 2 }, {}, { b: 2 }],
    ['REMOVE a, c', { a: 1, b: 2 }, {}, { b: 2 }],
    ['SET b = :x REMOVE a', { a: 1 }, { ':x': 2 }, { b: 2 }],
  ])('%s of %j with %j leaves %j', (expression, item, values, expected) => {
    expect(update(expression, item, values)).toEqual(expected);
  });
});

describe('A mistake', () => {
  test.each(['((a = :x))', 'a = :x AND ((a = :x OR b = :x))', '((a = :x) OR b = :x) AND ((b = :x))'])(
    'is refused: a group within a group, as in %s',
    (condition) => {
      expect(() => holds(condition, { a: 1 }, { ':x': 1 })).toThrow(
        'The expression has redundant parentheses.',
      );
    },
  );

  test('is none: two groups within a group', () => {
    expect(holds('((a = :x) OR (b = :x))', { a: 1 }, { ':x': 1 })).toBe(true);
  });

  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ['a missing value', { a: 1 }, {}],
    ['an unused value', { a: 1 }, { ':x': 1, ':y': 2 }],
  ])('is refused: %s', (_, item, values) => {
    expect(() => update('SET b = :x', item, values)).toThrow();
  });

  test.each([
    ['SET #n = :x', 'a missing name'],
    ['SET a = b + :x', 'arithmetic on an absent attribute'],
    ['SET a = b, c = :x', 'an assignment from an absent attribute'],
    ['DELETE a :x', 'an unknown clause'],
    ['SET a = :x a', 'trailing tokens'],
    ['SET a = :x SET b = :x', 'a clause that stands twice'],
  ])('is refused: %s, %s', (expression) => {
    expect(() => update(expression, {}, { ':x': 1 })).toThrow();
  });
});
