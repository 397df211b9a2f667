import { describe, expect, test } from '@jest/globals';
import { remembersLast } from '../../../core/cached.ts';

describe('a parser that remembers the last text', () => {
  test('parses a text once, however often it is asked, and each changed text anew', () => {
    const parsed: string[] = [];
    const parse = remembersLast((text) => {
      parsed.push(text);
      return { text };
    });
    const [one, again, other, back] = ['one', 'one', 'other', 'one'].map(parse);

    expect(again).toBe(one);
    expect([other, back]).toEqual([{ text: 'other' }, { text: 'one' }]);
    expect(parsed).toEqual(['one', 'other', 'one']);
  });

  test('throws each time for a text that cannot be parsed, and keeps what it knew', () => {
    const parse = remembersLast((text): unknown => JSON.parse(text));
    const known = parse('{"a":1}');

    for (const _ of [1, 2]) expect(() => parse('{')).toThrow(SyntaxError);
    expect(parse('{"a":1}')).toBe(known);
  });
});
