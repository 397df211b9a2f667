import { describe, expect, test } from '@jest/globals';
import {
  type AnyRecord,
  idsUpToHorizon,
  isFinished,
  lossText,
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

describe('two lists in one order', () => {
  const list = (ids: string[], hasMore: boolean) => ({ ids, hasMore });

  test('are shown down to where both have been read', () => {
    const images = list(['img_09', 'img_07', 'img_05'], true);
    const videos = list(['vid_08', 'vid_02'], true);

    const { ids, hasMore, limitedBy } = idsUpToHorizon([images, videos]);

    expect(ids).toEqual(['img_09', 'vid_08', 'img_07', 'img_05']);
    expect(hasMore).toBe(true);
    expect(limitedBy).toEqual([images]);
  });

  test('are shown in full once nothing is left to read', () => {
    expect(idsUpToHorizon([list(['img_03'], false), list(['vid_02', 'vid_01'], false)])).toEqual({
      ...{ ids: ['img_03', 'vid_02', 'vid_01'], hasMore: false, limitedBy: [] },
    });
  });

  test('wait for a list of which nothing has been found yet', () => {
    const videos = list([], true);

    expect(idsUpToHorizon([list(['img_03'], false), videos])).toEqual({
      ...{ ids: [], hasMore: true, limitedBy: [videos] },
    });
  });
});

describe('what was lost of a request', () => {
  const lost = (id: string) => ({
    id,
    size: '256x256',
    expiresAt: EXPIRES_AT,
    error: { code: 'storage_failed' },
  });
  const images = [image('a'), image('b', 'img_01_1'), lost('img_01_2')];
  const record = { ...succeeded(), images } as AnyRecord;

  test('is counted by the outputs that could not be stored', () => {
    expect(lossText(record)).toBe('2 of 3');
    expect(lossText(succeeded(image('a')))).toBeUndefined();
    expect(lossText(processing)).toBeUndefined();
  });

  test('is counted by what was asked, where outputs were never made, but not of a sequence', () => {
    const input = { size: '2K', aspectRatio: 'auto', n: 4, references: [] };

    expect(lossText({ ...record, input } as AnyRecord)).toBe('2 of 4');
    expect(lossText({ ...succeeded(image('a')), input } as AnyRecord)).toBe('1 of 4');
    expect(
      lossText({ ...succeeded(image('a')), input: { ...input, sequential: 'auto' } } as AnyRecord),
    ).toBeUndefined();
  });
});
