import { expect, test } from '@jest/globals';
import { CALL_KINDS, longestCallMs, silentCallMs } from '../builders/call-limits.ts';
import { readDocument } from './documents.ts';

/** Seconds with one decimal, rounded up. */
const atMost = (milliseconds: number): string => `${Math.ceil(milliseconds / 100) / 10} s`;

test('the guide to reliability says of every kind of call when it ends', () => {
  const others = CALL_KINDS.filter((kind) => !['table', 'upload', 'stack'].includes(kind));
  const longest = atMost(Math.max(...others.map(longestCallMs)));

  expect(readDocument('docs/reliability.md')).toContain(
    `A call of the table ends within ${atMost(silentCallMs('table'))} when no answer comes, and within ${atMost(longestCallMs('table'))} when answers stall. ` +
      `Any other ends within ${longest}, but for uploads of an output (${atMost(longestCallMs('upload'))}) and operators' commands (${atMost(longestCallMs('stack'))}).`,
  );
});
