import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  countEntries,
  type IndexEntry,
  isListed,
  listedOf,
  OLDEST_IMAGE,
  partOfPosition,
} from '../../../../core/requests/request-list-rules.ts';
import { RECORD_STATUSES } from '../../../../core/requests/request-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';

const seconds = fc.integer({ min: -3, max: 3 });
const anEnded = fc.record({ expires: fc.option(seconds, { nil: undefined }), removed: seconds }).map(
  ({ expires, removed }): IndexEntry => ({
    PK: OLDEST_IMAGE,
    ttl: NOW.getTime() / 1000 + removed,
    ...(expires !== undefined && { expiresAt: atSeconds(expires).toISOString() }),
  }),
);

describe('the counts of ended requests', () => {
  test('tell at any later time what the entries tell, or nothing', () => {
    fc.assert(
      fc.property(
        fc.array(anEnded, { maxLength: 6 }),
        fc.constantFrom(undefined, ...RECORD_STATUSES),
        fc.integer({ min: 0, max: 4 }),
        (entries, status, later) => {
          const counts = countEntries(entries, NOW);
          const now = atSeconds(later);
          const listed = listedOf(counts, status, now);

          fc.pre(listed !== undefined);
          expect(listed).toBe(entries.filter((entry) => isListed(entry, status, now)).length);
        },
      ),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['before the first expires', 0, { succeeded: 2, expired: 0, failed: 1, all: 3 }],
    ['while they expire', 10, { succeeded: undefined, expired: undefined, failed: 1, all: 3 }],
    ['once the last has', 20, { succeeded: 0, expired: 2, failed: 1, all: 3 }],
    [
      'while they are removed',
      30,
      { succeeded: undefined, expired: undefined, failed: undefined, all: undefined },
    ],
    ['once the last is', 40, { succeeded: 0, expired: 0, failed: 0, all: 0 }],
  ])('tell the number of each status %s', (_, later, { all, ...expected }) => {
    const ttl = (second: number): number => atSeconds(second).getTime() / 1000;
    const expiresAt = (second: number): string => atSeconds(second).toISOString();
    const counts = countEntries(
      [
        { PK: 'a', ttl: ttl(40), expiresAt: expiresAt(10) },
        { PK: 'b', ttl: ttl(35), expiresAt: expiresAt(20) },
        { PK: 'c', ttl: ttl(30) },
      ],
      NOW,
    );
    const at = atSeconds(later);

    expect({
      succeeded: listedOf(counts, 'succeeded', at),
      expired: listedOf(counts, 'expired', at),
      failed: listedOf(counts, 'failed', at),
    }).toEqual(expected);
    expect(listedOf(counts, undefined, at)).toBe(all);
    expect(listedOf(counts, 'queued', at)).toBe(all === undefined ? undefined : 0);
  });
});

test('a part of a list is 9 h of it, and parts sort by time', () => {
  const at = (id: string): string => partOfPosition(OLDEST_IMAGE + id);

  expect(at('01JD4KXQ8M0000000000000001')).toBe('01JD4');
  expect(at('01JD4ZZZZZ0000000000000001')).toBe('01JD4');
  expect(partOfPosition(OLDEST_IMAGE) < at('01JD4')).toBe(true);
});
