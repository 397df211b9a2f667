import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createdSince, listFilter } from '../../../../core/requests/request-list-rules.ts';
import {
  isRemoved,
  listedState,
  listedStateOf,
  RECORD_STATUSES,
  statusAt,
} from '../../../../core/requests/request-rules.ts';
import { addSeconds } from '../../../../core/time.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { evaluate } from '../../fakes/expressions.ts';

describe('the filter of a list', () => {
  const milliseconds = fc.integer({ min: -2, max: 2 });
  const anEntry = fc.oneof(
    fc.constant({}),
    fc.record({ ttl: milliseconds.map((seconds) => NOW.getTime() / 1_000 + seconds) }),
    fc.record({
      ttl: milliseconds.map((seconds) => NOW.getTime() / 1_000 + seconds),
      expiresAt: milliseconds.map((time) => atSeconds(time / 1_000).toISOString()),
    }),
  );

  test.each([undefined, ...RECORD_STATUSES])(
    'for status %s passes the entries whose requests may read so, at any time',
    (status) => {
      fc.assert(
        fc.property(anEntry, fc.constantFrom(-1_000, -1, 0, 1, 1_000), (entry, later) => {
          const now = atSeconds(later / 1_000);
          const { FilterExpression: condition, names, values } = listFilter(status, now);
          const state = listedState(entry);
          const reads = state === 'unfinished' ? state : statusAt({ ...entry, status: state }, now);
          const wanted = status && (listedStateOf(status) === 'unfinished' ? 'unfinished' : status);

          expect(evaluate(entry, { condition }, { names, values }) !== undefined).toBe(
            !isRemoved(entry, now) && (wanted === undefined || reads === wanted),
          );
        }),
        { numRuns: 300 },
      );
    },
  );
});

describe('a list by status', () => {
  const now = NOW.toISOString();
  const weekAgo = addSeconds(now, -7 * 86_400);

  test.each(['queued', 'processing'] as const)(
    '%s goes back 7 days, or to a later time that is given',
    (status) => {
      expect(createdSince(status, undefined, NOW)).toBe(weekAgo);
      expect(createdSince(status, addSeconds(weekAgo, -1), NOW)).toBe(weekAgo);
      expect(createdSince(status, addSeconds(weekAgo, 1), NOW)).toBe(addSeconds(weekAgo, 1));
    },
  );

  test.each([undefined, 'succeeded', 'failed', 'expired'] as const)('%s has no such end', (status) => {
    expect(createdSince(status, undefined, NOW)).toBeUndefined();
    expect(createdSince(status, addSeconds(weekAgo, -1), NOW)).toBe(addSeconds(weekAgo, -1));
  });
});
