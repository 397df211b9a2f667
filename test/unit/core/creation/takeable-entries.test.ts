import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ENTRY_STATES,
  inOrderOfTaking,
  mayTake,
  type TakeableEntry,
} from '../../../../core/creation/takeable-entries.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import { NOW } from '../../builders/clocks.ts';
import { anImageRequest } from '../../builders/entities.ts';

type Status = StoredRequest['status'];
interface Given {
  state?: TakeableEntry['state'];
  retry?: number;
  /** Seconds since the last change. */
  ago?: number;
  /** The state of its request; absent for a deleted request, or one that is not written yet. */
  status?: Status;
}
const entry = ({ state = 'released', retry = 0, ago = 1, status }: Given = {}) => ({
  ...{ state, retry, status, ago },
  at: new Date(NOW.getTime() - ago * 1000).toISOString(),
});
type Made = ReturnType<typeof entry>;
const requestOf = ({ status }: Made) => (status === undefined ? undefined : anImageRequest({ status }));
const ordered = (entries: readonly Made[], ownRetry: number) =>
  inOrderOfTaking(entries, ownRetry, requestOf, NOW);

describe('an entry', () => {
  test.each([
    ['open', 0, 0, false],
    ['open', 1, 0, true],
    ['open', 1, 1, false],
    ['open', 1, 2, false],
    ['released', 0, 0, true],
    ['released', 1, 0, true],
    ['released', 0, 3, true],
    ['answered', 0, 0, false],
    ['answered', 1, 0, true],
    ['answered', 1, 1, true],
    ['answered', 1, 2, true],
  ] as const)('that is %s: a call of %i retries takes that of %i retries: %s', (state, own, retry, taken) => {
    expect(mayTake(entry({ state, retry }), own, NOW)).toBe(taken);
  });

  test.each([
    ['open', 600],
    ['released', 600],
    ['answered', 10],
  ] as const)('that is %s may be taken for %i s', (state, seconds) => {
    for (const [ago, taken] of [
      [seconds - 1, true],
      [seconds, false],
      [seconds + 1, false],
    ] as const)
      expect(mayTake(entry({ state, ago }), 1, NOW)).toBe(taken);
  });
});

describe('a retry', () => {
  const OWN = 3;
  /** Entries from the best to the last. */
  const BEST_FIRST = [
    entry({ retry: 2, status: 'succeeded' }),
    entry({ retry: 2, status: 'processing' }),
    entry({ state: 'open', retry: 2 }),
    entry({ retry: 1, status: 'failed' }),
    entry({ retry: 4, status: 'queued' }),
    entry({ state: 'open', retry: 1 }),
    entry({ state: 'open', retry: 0 }),
    entry({ state: 'answered', retry: 2, ago: 3, status: 'succeeded' }),
    entry({ state: 'answered', retry: 1, ago: 2, status: 'succeeded' }),
    entry({ state: 'answered', retry: 1, ago: 3 }),
    entry({ state: 'answered', retry: 3, ago: 5, status: 'succeeded' }),
    entry({ state: 'answered', retry: 5, ago: 1, status: 'succeeded' }),
  ];

  test('takes what its previous attempt left, then what other clients left, then what was answered', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(BEST_FIRST), (some) => {
        const expected = BEST_FIRST.filter((each) => some.includes(each));
        expect(ordered(some, OWN)).toEqual(expected);
      }),
    );
  });

  test('keeps the given order among entries that are equally good', () => {
    const equal = [1, 2, 3].map((ago) => entry({ retry: 2, ago, status: 'succeeded' }));
    const ofOthers = [0, 4, 1].map((retry) => entry({ retry, status: 'succeeded' }));

    expect(ordered([...ofOthers, ...equal], OWN)).toEqual([...equal, ...ofOthers]);
  });
});

test('a first call takes ended requests before running ones, whoever released them', () => {
  const [running, ofRetry, ended] = [
    entry({ status: 'processing' }),
    entry({ retry: 2, status: 'succeeded' }),
    entry({ status: 'succeeded' }),
  ];

  expect(ordered([running, ofRetry, ended], 0)).toEqual([ofRetry, ended, running]);
});

test.each(ENTRY_STATES)(
  'an entry that is %s is taken with a failed request unless that was answered',
  (state) => {
    const failed = entry({ state, status: 'failed' });

    expect(ordered([failed], 1)).toEqual(state === 'answered' ? [] : [failed]);
  },
);
