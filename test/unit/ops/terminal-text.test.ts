import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { terminalJson } from '../../../ops/terminal-text.ts';

test.each([
  ['\u001b[31mred', '"\\u001b[31mred"'],
  ['\u009b31mred', '"\\u009b31mred"'],
  ['a\u007fb', '"a\\u007fb"'],
  ['user\u202etxt.exe', '"user\\u202etxt.exe"'],
  ['\u2066a\u2069', '"\\u2066a\\u2069"'],
  ['ünïcode 🌊 例', '"ünïcode 🌊 例"'],
])('the JSON of %j is shown by a terminal, and obeyed by none', (text, json) => {
  expect(terminalJson(text)).toBe(json);
});

/** Any character, half of them such as a terminal obeys. Text of the library's own "binary" units is a second to prepare. */
const character = fc.oneof(
  fc.constantFrom('\u0007', '\u001b', '\u007f', '\u009b', '\u061c', '\u200e', '\u202e', '\u2066', '\n', '"'),
  fc.nat({ max: 0x10ffff }).map((code) => String.fromCodePoint(code)),
);

test('is the JSON of the same value, and holds no control but its own line breaks', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: character }), (value) => {
      const json = terminalJson(value);

      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(json.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    }),
  );
});
