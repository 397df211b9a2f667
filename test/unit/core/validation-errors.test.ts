import { expect, test } from '@jest/globals';
import { ValidationError } from '../../../core/errors.ts';

const fieldsOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 'is wrong']));

test.each([
  [1, 1, ''],
  [20, 20, ''],
  [21, 20, ' and others'],
  [500, 20, ' and others'],
])('a refusal of %i fields names %i%s', (count, named, more) => {
  const { fields, message } = new ValidationError(fieldsOf(count));

  expect(Object.keys(fields)).toHaveLength(named);
  expect(message).toBe(`The request is not valid: ${Object.keys(fieldsOf(named)).join(', ')}${more}.`);
});

test.each([
  ['a'.repeat(100), 'a'.repeat(100)],
  ['a'.repeat(101), `${'a'.repeat(100)}…`],
  [`${'a'.repeat(99)}😀`, `${'a'.repeat(99)}\ufffd…`],
  ['__proto__', '__proto__'],
])('a refusal of %s names it %s', (name, shown) => {
  expect(Object.entries(new ValidationError(Object.fromEntries([[name, 'is wrong']])).fields)).toEqual([
    [shown, 'is wrong'],
  ]);
});
