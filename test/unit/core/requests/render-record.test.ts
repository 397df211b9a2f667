import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ImageItem, RequestRecord, VideoItem } from '../../../../core/requests/records.ts';
import { recordUrl, renderQueued, renderRecord } from '../../../../core/requests/render-record.ts';
import type {
  ImageRequest,
  StoredOutput,
  StoredRequest,
  VideoRequest,
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
  const pollUrl = `https://api.example.com/v1/generations/${REQUEST_ID}`;
  const image = (index: number, size: string) => ({
    id: `${REQUEST_ID}_${index}`,
    size,
    expiresAt: EXPIRES_AT,
    url: `signed:${aStoredOutput(index).objectKey}?until=${EXPIRES_AT}`,
  });
  const images = [image(0, '1024x1024'), image(1, '1280x720')];
  const error = { code: 'provider_error', message: 'It broke.' };

  test.each<[string, ImageRequest, Date, object]>([
    ['queued', anImageRequest(), NOW, { pollUrl }],
    ['processing', anImageRequest({ status: 'processing', outputs: [aStoredOutput(0)] }), NOW, {}],
    ['succeeded', aSucceeded(), NOW, { images, cost: 8.001, finishedAt: FINISHED_AT }],
    ['failed', aFailed(), NOW, { error, finishedAt: FINISHED_AT }],
    ['expired', aSucceeded(), atSeconds(3600), { finishedAt: FINISHED_AT }],
  ])('that is %s has exactly the fields of that status', (status, request, now, own) => {
    expect(render(request, now)).toStrictEqual({ ...base, status, ...own });
  });

  test('that was just accepted is read where images are read', () => {
    expect(renderQueued(anImageRequest(), 'https://api.example.com')).toStrictEqual({
      ...{ ...base, status: 'queued', pollUrl },
    });
  });

  test('counts its references and never shows them', () => {
    const record = render(anImageRequest({ references: ['https://a.example/1', 'https://a.example/2'] }));

    expect(record).toMatchObject({ referencesCount: 2 });
    expect(JSON.stringify(record)).not.toContain('a.example');
  });

  test.each<[string, ImageRequest]>([
    ['outputs', aSucceeded({ outputs: undefined, costThousandths: undefined })],
    ['expiry', aSucceeded({ expiresAt: undefined })],
    ['error', aFailed({ error: undefined })],
    ['end', aFailed({ finishedAt: undefined })],
    ['end, if it succeeded,', aSucceeded({ finishedAt: undefined })],
    ['end, if it is expired,', aSucceeded({ finishedAt: undefined, expiresAt: NOW.toISOString() })],
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
    // Of another version.
    ['2K', 'cinema', '0x0'],
    ['8K', 'auto', '0x0'],
  ])('that could not be stored is marked so, with the size %s %s stands for', (size, aspectRatio, pixels) => {
    const record = render(aSucceeded({ size, aspectRatio, outputs: [aStoredOutput(0), { index: 1 }] }));

    expect(imagesOf(record)[1]).toStrictEqual({
      id: `${REQUEST_ID}_1`,
      size: pixels,
      expiresAt: EXPIRES_AT,
      error: { code: 'storage_failed' },
    });
  });

  test.each<[Partial<StoredOutput>, string]>([
    [{ width: 1_280, height: undefined }, '1280x2048'],
    [{ width: undefined, height: 720 }, '2048x720'],
  ])('of which %j is measured has the size %s', (measured, size) => {
    const outputs = [aStoredOutput(0, measured)];

    expect(imagesOf(render(aSucceeded({ size: '2K', outputs })))[0]).toMatchObject({ size });
  });

  test('that carries marks of origin says so', () => {
    const outputs = [aStoredOutput(0, { provenance: { c2pa: true } }), aStoredOutput(1)];
    const [marked, plain] = imagesOf(render(aSucceeded({ outputs })));

    expect(marked).toMatchObject({ provenance: { c2pa: true } });
    expect(marked).not.toHaveProperty('c2pa');
    expect(plain).not.toHaveProperty('provenance');
  });

  test.each([0, 7])('was made with the seed %i that its provider reports', (reportedSeed) => {
    expect(render(aSucceeded({ reportedSeed }))).toMatchObject({ seed: reportedSeed });
    expect(render(aSucceeded())).not.toHaveProperty('seed');
  });

  test('that names a file of another request gets no URL', () => {
    const foreign = aStoredOutput(0, { objectKey: `outputs/${VIDEO_ID}/0.png` });

    expect(imagesOf(render(aSucceeded({ outputs: [foreign] })))[0]).toMatchObject({
      error: { code: 'storage_failed' },
    });
  });

  test('has exactly one of url and error', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 15 }), (stored) => {
        const outputs = stored.map((isStored, index) => (isStored ? aStoredOutput(index) : { index }));
        const images = imagesOf(render(aSucceeded({ outputs })));

        expect(images.map((image) => 'url' in image)).toEqual(stored);
        expect(images.map((image) => 'error' in image)).toEqual(stored.map((isStored) => !isStored));
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

  test('has the duration of the stored file and the requested resolution', () => {
    const outputs = [aStoredVideo({ durationSec: 14.96, width: 1_280, height: 720 })];
    const [found] = videosOf(render(aDelivered({ resolution: '4k', durationSec: 15, outputs })));

    expect(found).toMatchObject({ duration: 14.96, resolution: '4k' });
  });

  test('without a stored file has an error and the requested duration', () => {
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
