import { expect, test } from '@jest/globals';
import { CALL_KINDS, longestCallMs, silentCallMs } from '../builders/call-limits.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

const document = readDocument('docs/reliability.md');

/** Seconds with one decimal, rounded up. */
const atMost = (milliseconds: number): string => `${Math.ceil(milliseconds / 100) / 10} s`;

test('the guide to reliability says of every kind of call when it ends', () => {
  const rows = tableRows(document, 'calls', 'no answer', 'in all').flatMap(([kinds = '', ...cells]) =>
    kinds.split(', ').map((kind) => [codeIn(kind), ...cells.slice(0, -1)]),
  );

  expect(rows.toSorted()).toEqual(
    CALL_KINDS.map((kind) => [kind, atMost(silentCallMs(kind)), atMost(longestCallMs(kind))]).toSorted(),
  );
});
