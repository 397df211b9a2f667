import { describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  idsIn,
  isFinished,
  merge,
  newestFirst,
  outputsOf,
  statusAt,
} from '../../../console/state/record-rules.ts';

const common = {
  ...{ requestId: 'img_01', model: 'xSD4.5', prompt: 'a lighthouse', referencesCount: 0 },
  ...{ endUserEmail: 'ada@example.com', createdAt: '2026-11-22T09:00:00.000Z' },
};
const EXPIRES_AT = '2026-11-23T08:00:00.000Z';
const finishedAt = '2026-11-22T09:00:10.000Z';
const image = (url: string, id = 'img_01_0') => ({ id, size: '256x256', expiresAt: EXPIRES_AT, url });
const succeeded = (...images: ReturnType<typeof image>[]): AnyRecord => ({
  ...common,
  ...{ status: 'succeeded', images, cost: 4, finishedAt },
});
const processing: AnyRecord = { ...common, status: 'processing' };
const urlsOf = (record: AnyRecord) => outputsOf(record).map(({ url }) => url);

describe('what is known of a request, after another read', () => {
  test('keeps the first URL of each output, though each read signs another', () => {
    const known = merge(processing, succeeded(image('a?1'), image('b?1', 'img_01_1')));

    expect(urlsOf(merge(known, succeeded(image('a?2'), image('b?2', 'img_01_1'))))).toEqual(['a?1', 'b?1']);
  });

  test('takes the new URL of an output whose first one was refused', () => {
    const known = succeeded(image('a?1'), image('b?1', 'img_01_1'));

    expect(urlsOf(merge(known, succeeded(image('a?2'), image('b?2', 'img_01_1')), new Set(['a?1'])))).toEqual(
      ['a?2', 'b?1'],
    );
  });

  test('is not reopened by an answer that comes late', () => {
    expect(merge(succeeded(image('a?1')), processing).status).toBe('succeeded');
    expect(merge(processing, { ...processing, status: 'queued', pollUrl: 'x' }).status).toBe('queued');
  });

  test('has no outputs once they expired', () => {
    expect(outputsOf(merge(succeeded(image('a?1')), { ...common, status: 'expired', finishedAt }))).toEqual(
      [],
    );
  });
});

test('A request reads as expired from its expiry on, without a read', () => {
  expect(statusAt(succeeded(image('a')), new Date(Date.parse(EXPIRES_AT) - 1))).toBe('succeeded');
  expect(statusAt(succeeded(image('a')), new Date(EXPIRES_AT))).toBe('expired');
  expect(statusAt(processing, new Date(EXPIRES_AT))).toBe('processing');
});

test('A status of a later version counts as unfinished, so that it is read again', () => {
  expect(['queued', 'processing', 'paused'].map((status) => isFinished({ status }))).toEqual([
    ...[false, false, false],
  ]);
  expect(['succeeded', 'failed', 'expired'].every((status) => isFinished({ status }))).toBe(true);
});

test('Requests of both kinds are in one order, the newest first, each once', () => {
  expect(newestFirst(['img_01', 'vid_03', 'img_02', 'vid_03'])).toEqual(['vid_03', 'img_02', 'img_01']);
});

test('The history names each request by its debit, not again by its refund', () => {
  const entries = [
    { reason: 'refund', reference: 'vid_1' },
    { reason: 'generation', reference: 'vid_1' },
    { reason: 'topup', reference: 'top-up' },
  ];

  expect(idsIn(entries)).toEqual(['vid_1']);
});
