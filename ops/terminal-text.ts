import { ACCOUNT_ID_PATTERN } from '../core/ids.ts';

/** Characters that a terminal obeys instead of showing them: controls and changes of direction. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** JSON of a value, indented, whose texts cannot move the cursor, colour the terminal or turn the direction of what it shows. */
export const terminalJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(OBEYED, (obeyed) =>
    [...obeyed].map((character) => (character === '\n' ? character : escaped(character))).join(''),
  );

/** A text on one line in which a terminal obeys nothing: a control is shown by its code. */
export const escapedLine = (text: string): string =>
  text.replaceAll(OBEYED, (obeyed) => [...obeyed].map(escaped).join(''));

/** An API key, with or without the beginning of its text, a webhook secret, and the arguments that commander repeats. */
const SECRETS: readonly [RegExp, string][] = [
  [/((?:gsk|whsec)_)[^\s'",]+/, '$1…'],
  [new RegExp(`(${ACCOUNT_ID_PATTERN})_[0-9A-Za-z]{12,}`), '$1_…'],
  [/(Expected \d+ arguments? but got \d+): .*/, '$1.'],
];

/** A line of an error without what may be a secret: it can repeat whatever was typed, also in the wrong place. */
export const withoutSecrets = (line: string): string =>
  SECRETS.reduce((text, [pattern, shown]) => text.replaceAll(new RegExp(pattern, 'g'), shown), line);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Replaces what a terminal obeys with spaces: it could move the cursor, break the line or turn the direction of what follows. */
export const printable = (text: string): string => text.replaceAll(OBEYED, ' ');

const WIDE = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/u;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

const segmentsOf = (text: string): string[] => [...graphemes.segment(text)].map(({ segment }) => segment);

/** Width in terminal columns: East Asian characters and emoji take two. */
export const widthOf = (text: string): number =>
  segmentsOf(text).reduce((width, segment) => width + (WIDE.test(segment) ? 2 : 1), 0);

/** The text with spaces after it, or with `right` before it, up to a width in columns. */
export const pad = (text: string, width: number, right: boolean): string => {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
};

/** As many of the segments as fit into `width` columns. */
const fitting = (segments: readonly string[], width: number): string[] => {
  let used = 0;
  const end = segments.findIndex((segment) => {
    used += widthOf(segment);
    return used > width;
  });
  return end < 0 ? [...segments] : segments.slice(0, end);
};

/** The text, or its beginning with an ellipsis when it is wider than `width` columns. */
export const cut = (text: string, width: number): string =>
  widthOf(text) <= width ? text : `${fitting(segmentsOf(text), width - 1).join('')}…`;

/** The text in lines of at most `width` columns, broken between words, and within those that are longer. */
export const wrap = (text: string, width: number): string[] => {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    let rest = word;
    if (line !== '' && widthOf(`${line} ${rest}`) <= width) {
      line = `${line} ${rest}`;
      continue;
    }
    if (line !== '') lines.push(line);
    while (widthOf(rest) > width) {
      const head = fitting(segmentsOf(rest), width).join('');
      lines.push(head);
      rest = rest.slice(head.length);
    }
    line = rest;
  }
  return [...lines, line];
};
