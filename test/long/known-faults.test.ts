import { beforeAll, describe, expect, test } from '@jest/globals';
import { measureApart } from '../simulation/child.ts';
import type { Measured } from '../simulation/known-faults/measurements.ts';

/** A free permit is used within this long while the loop lives. */
const PROMISED_MS = 5_000;
/** The promise is of the admission; the dispatch that it wakes has a second to start and to call. */
const CALLED_MS = PROMISED_MS + 1_000;

/** It takes some 10 s. */
const TIMEOUT_MS = 300_000;

let measured: Measured<'known faults'>;
beforeAll(async () => {
  measured = await measureApart('known faults', TIMEOUT_MS);
});

describe('when a route limit fails just as a video is done at its provider', () => {
  const OUTAGES = [4, 8, 15].flatMap((seconds) => [
    { mode: 'throttles', seconds },
    { mode: 'hangs', seconds },
  ]);

  test.each(OUTAGES)(
    'the next request is called within 5 s of its recovery: it $mode for $seconds s',
    ({ mode, seconds }) => {
      const outages = measured.outages.filter((one) => one.mode === mode && one.outageSeconds === seconds);

      expect(outages.length).toBeGreaterThan(1);
      expect(outages.filter(({ calledAfterMs }) => calledAfterMs > CALLED_MS)).toEqual([]);
      // A route limit that fails gives no permit.
      expect(outages.filter(({ calledAfterMs }) => calledAfterMs < 0)).toEqual([]);
    },
  );
});

describe('when a task hangs at its provider with one of two permits', () => {
  test('the waiting requests are called through the other permit, each within 5 s of the end of the one before', () => {
    const { called, calledAfterMs, mostAtOnce } = measured.hanging;

    expect(called).toBe(6);
    expect(Math.max(...calledAfterMs)).toBeLessThanOrEqual(PROMISED_MS);
    expect(mostAtOnce).toBe(2);
  });
});

describe('when the loop dies as it admits requests', () => {
  const isLate = ({ lateMs, nextLateMs }: Measured<'known faults'>['deaths'][number]): boolean =>
    Math.max(lateMs, nextLateMs) > 0;

  test('between waking a request and taking it off the queue, the next one does not wait for the 200 s in which its file is stored', () => {
    const deaths = measured.deaths.filter(
      ({ when, command }) => when === 'after' && command === 'SendTaskSuccessCommand',
    );

    // Of the first request and of the next.
    expect(deaths).toHaveLength(2);
    expect(deaths.filter(isLate)).toEqual([]);
  });

  test.each(['before', 'after'] as const)(
    '%s any call about the queue, each is called within 5 s of its turn, or of the next run',
    (when) => {
      const deaths = measured.deaths.filter((death) => death.when === when);

      // It reads the route limit, the accounts and the queue entry, takes the permit, wakes the request, and takes it off the queue: twice.
      expect(deaths.length).toBeGreaterThanOrEqual(12);
      expect(deaths.filter(isLate)).toEqual([]);
    },
  );
});

describe('when a request begins to wait between the reads of a tick', () => {
  test('it is admitted within 5 s, whichever of its own writes come between them', () => {
    const { tornReads } = measured;
    const reads = tornReads.filter(({ commands }) => commands.every((command) => /Get|Query/.test(command)));

    // Of the route limit, the accounts and the queue entries, in the ticks until the loop ends.
    expect(reads.length).toBeGreaterThanOrEqual(20);
    expect(tornReads.filter(({ calledAfterMs }) => calledAfterMs > PROMISED_MS)).toEqual([]);
  });
});

describe('an hour after its deletion, nothing is left', () => {
  const NOTHING = { deletionStatus: 200, status: 404, items: [], files: [], isUnfinished: false };

  test.each([20, 90, 180])(
    'of a request whose end-user was removed while the indexes were %d s behind',
    (lagSeconds) => {
      const [left] = measured.indexLags.filter((one) => one.lagSeconds === lagSeconds);

      expect(left).toEqual({ ...NOTHING, lagSeconds });
    },
  );

  test('of a request whose webhook was being attempted', () => {
    expect(measured.webhookTrace).toEqual(NOTHING);
  });
});

describe('the daily verification of the ledgers', () => {
  test.each([
    { isDeleted: false, which: 'an existing request' },
    { isDeleted: true, which: 'a deleted request' },
  ])('finds a second refund of $which, and nothing before it', ({ isDeleted }) => {
    const [verified] = measured.secondRefunds.filter((one) => one.isDeleted === isDeleted);

    expect(verified?.before).toBe(0);
    expect(verified?.after).toBeGreaterThan(0);
  });
});

describe('of a model with two routes, while the first provider', () => {
  const ROWS = ['refuses', 'hangs', 'revoked', 'breaks'].flatMap((mode) =>
    [1, 15].flatMap((minutes) => ['image', 'video'].map((kind) => ({ mode, minutes, kind }))),
  );

  test.each(ROWS)(
    '$mode for $minutes min, no $kind is called twice, and all succeed that it may not have taken',
    (row) => {
      const found = measured.failovers.find(
        ({ mode, minutes, kind }) => mode === row.mode && minutes === row.minutes && kind === row.kind,
      );

      expect(found).toMatchObject({ repeated: 0, lost: 0 });
      expect((found?.requests ?? 0) - (found?.taken ?? 0)).toBeGreaterThanOrEqual(
        row.mode === 'hangs' ? 0 : 8,
      );
    },
  );

  test('is paused, requests are called at another route within a second, and four try it in a quarter of an hour', () => {
    const long = measured.failovers.filter(({ minutes, mode }) => minutes === 15 && mode !== 'hangs');

    expect(long).toHaveLength(6);
    for (const { callsWhileOpen, longestMs } of long) {
      expect(longestMs).toBeGreaterThan(0);
      expect(longestMs).toBeLessThan(1_000);
      expect(callsWhileOpen).toBeLessThanOrEqual(4);
    }
  });

  test('says nothing, videos are called elsewhere once the first calls have run into their time limit', () => {
    const silent = measured.failovers.find(
      ({ mode, minutes, kind }) => mode === 'hangs' && minutes === 15 && kind === 'video',
    );

    expect(silent?.longestMs).toBeGreaterThan(0);
    expect(silent?.longestMs).toBeLessThan(1_000);
    expect(silent?.callsWhileOpen).toBeLessThanOrEqual(4);
  });
});
