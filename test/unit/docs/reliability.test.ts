import { expect, test } from '@jest/globals';
import { CALL_LIMITS } from '../../../core/aws-clients.ts';
import { CALL_KINDS, longestCallMs, silentCallMs } from '../builders/call-limits.ts';
import { codeIn, readDocument, tableRows } from './documents.ts';

const document = readDocument('docs/reliability.md');

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
/** Seconds with one decimal, rounded up. */
const atMost = (milliseconds: number): string => seconds(Math.ceil(milliseconds / 100) * 100);

test('the guide to reliability has the limits of every kind of call', () => {
  const rows = tableRows(document, 'calls', 'attempts').map(([kind, ...cells]) => [
    codeIn(kind),
    ...cells.slice(0, -1),
  ]);

  expect(rows).toEqual(
    CALL_KINDS.map((kind) => {
      const { maxAttempts, connectMs, answerMs, silenceMs } = CALL_LIMITS[kind];
      return [
        kind,
        String(maxAttempts),
        ...[connectMs, answerMs, silenceMs].map(seconds),
        ...[silentCallMs(kind), longestCallMs(kind)].map(atMost),
      ];
    }),
  );
});
