import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  clipsOf,
  gotAll,
  isRemoved,
  removalTime,
  routesOfRequest,
  type StoredRequest,
  statusAt,
} from '../../../../core/requests/request-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anImageRequest, aStoredOutput, aStoredVideo, aVideoRequest } from '../../builders/entities.ts';

const EXPIRES_AT = atSeconds(3600).toISOString();

describe('the status a request reads as', () => {
  test('turns to expired exactly at expiresAt, to the millisecond', () => {
    const expiresAtMs = Date.parse(EXPIRES_AT);
    const aroundExpiry = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -1e10, max: 1e10 }));
    fc.assert(
      fc.property(aroundExpiry, (offsetMs) => {
        const status = statusAt(
          anImageRequest({ status: 'succeeded', expiresAt: EXPIRES_AT }),
          new Date(expiresAtMs + offsetMs),
        );

        expect(status).toBe(offsetMs >= 0 ? 'expired' : 'succeeded');
      }),
    );
  });

  test.each([
    anImageRequest(),
    anImageRequest({ status: 'processing' }),
    anImageRequest({ status: 'failed' }),
  ])('never expires while it is $status', (request) => {
    expect(statusAt(request, new Date('2999-01-01T00:00:00.000Z'))).toBe(request.status);
  });
});

describe('a request past retention', () => {
  test.each([
    [-0.001, false],
    [0, true],
    [0.001, true],
  ])('reads as absent %p s after its ttl: %p', (seconds, isGone) => {
    expect(
      isRemoved(anImageRequest({ status: 'failed', ttl: NOW.getTime() / 1000 }), atSeconds(seconds)),
    ).toBe(isGone);
  });

  test('is never an unfinished one', () => {
    expect(isRemoved(anImageRequest(), new Date('2999-01-01T00:00:00.000Z'))).toBe(false);
  });

  test.each([
    ['2026-11-20T09:00:00.000Z', 90, '2027-02-18T09:00:00.000Z'],
    ['2026-11-20T09:00:00.000Z', 0, '2026-11-20T09:00:00.000Z'],
    ['2026-11-20T09:00:00.001Z', 0.5, '2026-11-20T21:00:01.000Z'],
    ['2026-11-20T09:00:00.999Z', 0.5, '2026-11-20T21:00:01.000Z'],
  ])('that ended at %s is removed %p days later, at %s: whole seconds, never early', (endedAt, days, at) => {
    expect(removalTime(endedAt, days)).toBe(Date.parse(at) / 1000);
  });
});

test.each<[string, StoredRequest, boolean]>([
  ['an image of one', anImageRequest({ status: 'succeeded', outputs: [aStoredOutput(0)] }), true],
  ['an image of two', anImageRequest({ status: 'succeeded', images: 2, outputs: [aStoredOutput(0)] }), false],
  ['a video', aVideoRequest({ status: 'succeeded', outputs: [aStoredVideo()] }), true],
  ['no video', aVideoRequest({ status: 'succeeded' }), false],
  ['an image, but has not ended', anImageRequest({ status: 'processing' }), false],
])('a request that got %s has all or not: %#', (_, request, expected) => {
  expect(gotAll(request)).toBe(expected);
});

test('a request may be at its route and at those where it was', () => {
  const assignment = { route: 'fal/one', number: 2 };

  expect(routesOfRequest({ assignment, formerRoutes: ['fal/zero'] })).toEqual(['fal/one', 'fal/zero']);
  expect(routesOfRequest({ assignment })).toEqual(['fal/one']);
  expect(routesOfRequest({})).toEqual([]);
});

test('a video has copies of its reference videos, if any, and an image has none', () => {
  expect(clipsOf(aVideoRequest({ clips: ['clips/1'] }))).toEqual(['clips/1']);
  expect(clipsOf(aVideoRequest())).toEqual([]);
  expect(clipsOf(anImageRequest())).toEqual([]);
});
