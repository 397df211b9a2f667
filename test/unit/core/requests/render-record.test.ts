import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type ImageItem,
  type RequestRecord,
  recordUrl,
  renderQueued,
  renderRecord,
  type VideoItem,
} from '../../../../core/requests/render-record.ts';
import {
  type ImageRequest,
  isRemoved,
  removalTime,
  type StoredRequest,
  statusAt,
  type VideoRequest,
} from '../../../../core/requests/request-rules.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import {
  anImageRequest,
  aStoredOutput,
  aStoredVideo,
  aVideoRequest,
  EMAIL,
  REQUEST_ID,
  VIDEO_ID,
} from '../../builders/entities.ts';

const render = (request: StoredRequest, now: Date = NOW): RequestRecord =>
  renderRecord(request, {
    now,
    publicBaseUrl: 'https://api.example.com',
    signUrl: (objectKey, expiresAt) => `signed:${objectKey}?until=${expiresAt}`,
  });

const FINISHED_AT = atSeconds(30).toISOString();
const EXPIRES_AT = atSeconds(3600).toISOString();
const aSucceeded = (overrides: Partial<ImageRequest> = {}): ImageRequest =>
  anImageRequest({
    status: 'succeeded',
    images: 2,
    outputs: [aStoredOutput(0), aStoredOutput(1, { width: 1280, height: 720 })],
    finishedAt: FINISHED_AT,
    expiresAt: EXPIRES_AT,
    costThousandths: 8_001,
    refundThousandths: 0,
    ttl: atSeconds(7200).getTime() / 1000,
    ...overrides,
  });
const aFailed = (overrides: Partial<ImageRequest> = {}): ImageRequest =>
  anImageRequest({
    status: 'failed',
    error: { code: 'provider_error', message: 'It broke.' },
    finishedAt: FINISHED_AT,
    refundThousandths: 4_000,
    ttl: atSeconds(7200).getTime() / 1000,
    ...overrides,
  });

const base = {
  requestId: REQUEST_ID,
  model: 'xQI3Pro',
  prompt: 'a lighthouse',
  referencesCount: 0,
  endUserEmail: EMAIL,
  createdAt: NOW.toISOString(),
};

describe('a generation record', () => {
  test('that is queued has a pollUrl and nothing of a result', () => {
    const queued = {
      ...base,
      status: 'queued',
      pollUrl: `https://api.example.com/v1/generations/${REQUEST_ID}`,
    };

    expect(render(anImageRequest())).toStrictEqual(queued);
    expect(renderQueued(anImageRequest(), 'https://api.example.com')).toStrictEqual(queued);
  });

  test('that is processing has its base fields only', () => {
    expect(render(anImageRequest({ status: 'processing', outputs: [aStoredOutput(0)] }))).toStrictEqual({
      ...base,
      status: 'processing',
    });
  });

  test('that succeeded has its images, its cost as a decimal, and when it finished', () => {
    const image = (index: number, size: string) => ({
      id: `${REQUEST_ID}_${index}`,
      size,
      expiresAt: EXPIRES_AT,
      url: `signed:${aStoredOutput(index).objectKey}?until=${EXPIRES_AT}`,
    });

    expect(render(aSucceeded())).toStrictEqual({
      ...base,
      status: 'succeeded',
      images: [image(0, '1024x1024'), image(1, '1280x720')],
      cost: 8.001,
      finishedAt: FINISHED_AT,
    });
  });

  test('that failed has its error and when it finished', () => {
    expect(render(aFailed())).toStrictEqual({
      ...base,
      status: 'failed',
      error: { code: 'provider_error', message: 'It broke.' },
      finishedAt: FINISHED_AT,
    });
  });

  test('that is expired has when it finished, and neither images nor cost', () => {
    expect(render(aSucceeded(), atSeconds(3600))).toStrictEqual({
      ...base,
      status: 'expired',
      finishedAt: FINISHED_AT,
    });
  });

  test('counts its references and never shows them', () => {
    const record = render(anImageRequest({ references: ['https://a.example/1', 'https://a.example/2'] }));

    expect(record.referencesCount).toBe(2);
    expect(JSON.stringify(record)).not.toContain('a.example');
  });

  test.each<[string, ImageRequest]>([
    ['outputs', aSucceeded({ outputs: undefined, costThousandths: undefined })],
    ['expiry', aSucceeded({ expiresAt: undefined })],
    ['error', aFailed({ error: undefined })],
    ['end', aFailed({ finishedAt: undefined })],
  ])('is not made up from a stored request without its %s', (_, request) => {
    expect(() => render(request)).toThrow(/lacks what that status stands for/);
  });
});

const imagesOf = (record: RequestRecord): ImageItem[] => ('images' in record ? record.images : []);
const videosOf = (record: RequestRecord): VideoItem[] => ('videos' in record ? record.videos : []);

describe('an image of a record', () => {
  test.each<[string, ImageRequest['aspectRatio'], string]>([
    ['2K', 'auto', '2048x2048'],
    ['2K', 'landscape', '2560x1440'],
    ['1K', 'portrait', '720x1280'],
    ['1600x900', 'auto', '1600x900'],
  ])('that could not be stored is marked so, with the size %s %s stands for', (size, aspectRatio, pixels) => {
    const record = render(aSucceeded({ size, aspectRatio, outputs: [aStoredOutput(0), { index: 1 }] }));

    expect(imagesOf(record)[1]).toStrictEqual({
      id: `${REQUEST_ID}_1`,
      size: pixels,
      expiresAt: EXPIRES_AT,
      error: { code: 'storage_failed' },
    });
  });

  test('has exactly one of url and error, whatever was stored', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 15 }), (stored) => {
        const outputs = stored.map((isStored, index) => (isStored ? aStoredOutput(index) : { index }));
        const images = imagesOf(render(aSucceeded({ outputs })));

        expect(images.map(({ url }) => url !== undefined)).toEqual(stored);
        expect(images.map(({ error }) => error !== undefined)).toEqual(stored.map((isStored) => !isStored));
      }),
    );
  });
});

describe('a video record', () => {
  const videoBase = {
    requestId: VIDEO_ID,
    model: 'xW3.0s',
    prompt: 'waves',
    endUserEmail: EMAIL,
    createdAt: NOW.toISOString(),
  };
  const pollUrl = `https://api.example.com/v1/videos/${VIDEO_ID}`;
  const ended: Partial<VideoRequest> = {
    finishedAt: FINISHED_AT,
    expiresAt: EXPIRES_AT,
    ttl: atSeconds(7200).getTime() / 1000,
  };
  const aDelivered = (overrides: Partial<VideoRequest> = {}): VideoRequest =>
    aVideoRequest({
      status: 'succeeded',
      outputs: [aStoredVideo()],
      costThousandths: 50_000,
      refundThousandths: 0,
      ...ended,
      ...overrides,
    });
  const error = { code: 'content_policy', message: 'refused' } as const;
  const video = {
    id: `${VIDEO_ID}_0`,
    duration: 5.04,
    resolution: '1080p',
    expiresAt: EXPIRES_AT,
    url: `signed:${aStoredVideo().objectKey}?until=${EXPIRES_AT}`,
  };

  test.each<[string, VideoRequest, Date, object]>([
    ['queued', aVideoRequest(), NOW, { pollUrl }],
    ['processing', aVideoRequest({ status: 'processing', outputs: [aStoredVideo()] }), NOW, {}],
    ['succeeded', aDelivered(), NOW, { videos: [video], cost: 50, finishedAt: FINISHED_AT }],
    ['failed', aVideoRequest({ status: 'failed', error, ...ended }), NOW, { error, finishedAt: FINISHED_AT }],
    ['expired', aDelivered(), atSeconds(3600), { finishedAt: FINISHED_AT }],
  ])('that is %s has exactly the fields of that status', (status, request, now, own) => {
    expect(render(request, now)).toStrictEqual({ ...videoBase, status, ...own });
  });

  test('that was just accepted is read where videos are read', () => {
    expect(renderQueued(aVideoRequest(), 'https://api.example.com')).toMatchObject({ pollUrl });
    expect(recordUrl('https://api.example.com', aVideoRequest())).toBe(pollUrl);
    expect(recordUrl('https://api.example.com', anImageRequest())).toBe(
      `https://api.example.com/v1/generations/${REQUEST_ID}`,
    );
  });

  test('tells the length of the stored file, and the resolution that was asked for', () => {
    const outputs = [aStoredVideo({ durationSec: 14.96, width: 1_280, height: 720 })];
    const [found] = videosOf(render(aDelivered({ resolution: '4k', durationSec: 15, outputs })));

    expect(found).toMatchObject({ duration: 14.96, resolution: '4k' });
  });

  test('whose file could not be stored would be marked so, with the length that was asked for', () => {
    expect(videosOf(render(aDelivered({ outputs: [{ index: 0 }] })))).toStrictEqual([
      {
        id: `${VIDEO_ID}_0`,
        duration: 5,
        resolution: '1080p',
        expiresAt: EXPIRES_AT,
        error: { code: 'storage_failed' },
      },
    ]);
  });

  test('shows nothing of what it was made from, nor of how it was billed', () => {
    const inputs = {
      image: 'https://caller.example/first.png',
      lastFrame: 'https://caller.example/last.png',
      referenceVideos: ['https://caller.example/clip.mp4'],
      webhookUrl: 'https://caller.example/hook',
      billedSeconds: 12,
    };

    const text = JSON.stringify(render(aDelivered(inputs)));

    expect(text).not.toContain('caller.example');
    expect(text).not.toMatch(/billedSeconds|Thousandths|referencesCount/);
  });
});

describe('the status of a record', () => {
  test('turns to expired exactly at expiresAt, to the millisecond', () => {
    const expiresAtMs = Date.parse(EXPIRES_AT);
    const aroundExpiry = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -1e10, max: 1e10 }));
    fc.assert(
      fc.property(aroundExpiry, (offsetMs) => {
        const status = statusAt(aSucceeded(), new Date(expiresAtMs + offsetMs));

        expect(status).toBe(offsetMs >= 0 ? 'expired' : 'succeeded');
      }),
    );
  });

  test.each([anImageRequest(), anImageRequest({ status: 'processing' }), aFailed()])(
    'never expires while it is $status',
    (request) => {
      expect(statusAt(request, new Date('2999-01-01T00:00:00.000Z'))).toBe(request.status);
    },
  );
});

describe('a record past its retention', () => {
  test.each([
    [-0.001, false],
    [0, true],
    [0.001, true],
  ])('is gone %p s after its ttl: %p', (seconds, isGone) => {
    expect(isRemoved(aFailed({ ttl: NOW.getTime() / 1000 }), atSeconds(seconds))).toBe(isGone);
  });

  test('is never one that has not ended', () => {
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
