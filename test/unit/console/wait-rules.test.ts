import { describe, expect, test } from '@jest/globals';
import { usualMilliseconds, waitTexts } from '../../../console/requests/wait-rules.ts';
import type { AnyRecord } from '../../../console/state/record-rules.ts';
import { atSeconds } from '../builders/clocks.ts';

const at = (second: number): string => atSeconds(second).toISOString();
const aRecord = (status: AnyRecord['status'], created: number, finished?: number): AnyRecord =>
  ({
    ...{ requestId: 'img_1', model: 'xQI3Pro', status, createdAt: at(created) },
    ...(finished !== undefined && { finishedAt: at(finished) }),
  }) as AnyRecord;
const LAST = 'A request that was accepted cannot be cancelled. You may leave this page.';

test('The usual time is that of the middle record that succeeded', () => {
  const records = [
    ...[aRecord('succeeded', 0, 9), aRecord('expired', 0, 2), aRecord('succeeded', 0, 7)],
    ...[aRecord('failed', 0, 1), aRecord('queued', 0)],
  ];

  expect(usualMilliseconds(records)).toBe(7_000);
  expect(usualMilliseconds([])).toBeUndefined();
});

describe('the wait of a request', () => {
  test('in the queue has the requests before it, and the time that is left', () => {
    const wait = { record: aRecord('queued', 0), now: atSeconds(12), earlier: { count: 2, isAll: true } };

    expect(waitTexts({ ...wait, usual: 40_000 })).toEqual([
      'It has waited for its turn for 12 s.',
      '2 requests of yours for this model are before it.',
      'Such requests took about 40 s lately: some 28 s are left.',
      LAST,
    ]);
    expect(waitTexts({ ...wait, earlier: { count: 1, isAll: true }, usual: undefined })[1]).toBe(
      '1 request of yours for this model is before it.',
    );
    expect(waitTexts({ ...wait, earlier: { count: 50, isAll: false }, usual: undefined })[1]).toMatch(
      /^More than 50 requests /,
    );
  });

  test('under way does not count others, and says when it takes longer than usual', () => {
    const earlier = { count: 2, isAll: true };
    const record = aRecord('processing', 0);

    expect(waitTexts({ record, now: atSeconds(50), earlier, usual: 40_000 })).toEqual([
      'It has been under way for 50 s.',
      'Such requests took about 40 s lately: this one takes longer.',
      LAST,
    ]);
  });

  test('is told without what is not known yet, and by a clock that is behind', () => {
    const record = aRecord('queued', 10);

    expect(waitTexts({ record, now: atSeconds(5), earlier: undefined, usual: undefined })).toEqual([
      'It has waited for its turn for 1 s.',
      LAST,
    ]);
  });
});
