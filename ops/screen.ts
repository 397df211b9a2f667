import { cut } from './terminal-text.ts';
import type { Streams } from './verb.ts';

/** Shows a text that changes: in place on a terminal. */
export type Screen = (text: string) => void;

const UP_AND_CLEAR = (lines: number): string => `\u001b[${lines}A\u001b[0J`;

/**
 * A screen on a terminal; undefined when there is none. Text that does not fit is cut, so that the next text
 * starts on the same first line.
 */
export const createScreen = (streams: Streams): Screen | undefined => {
  if (streams.columns === undefined) return undefined;
  let shownLines = 0;
  return (text) => {
    const { columns = 80, rows = 24 } = streams;
    const all = text.split('\n');
    const lines = all.slice(0, Math.max(1, rows - 1)).map((line) => cut(line, columns));
    streams.out(`${shownLines > 0 ? UP_AND_CLEAR(shownLines) : ''}${lines.join('\n')}\n`);
    shownLines = lines.length;
  };
};
