import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Medium } from '../../../../core/errors.ts';
import { newUploadId } from '../../../../core/ids.ts';
import type { StoredRequest } from '../../../../core/requests/request-rules.ts';
import {
  inputsExpiry,
  ownerOf,
  ownInputProblem,
  requestsNamed,
} from '../../../../core/uploads/own-inputs.ts';
import { NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, anImageRequest, aVideoRequest } from '../../builders/entities.ts';

const THEIRS = 'acc_01JD4KXQ8M0000000000000001';
const DAY_MS = 86_400_000;
const inMs = (ms: number) => new Date(NOW.getTime() + ms).toISOString();
const upload = (extension = 'png', accountId = ACCOUNT_ID, ageMs = 0) =>
  `uploads/${ownerOf(accountId)}/${newUploadId(new Date(NOW.getTime() - ageMs))}.${extension}`;
const madeOf = (request: StoredRequest, overrides: Partial<StoredRequest> = {}): StoredRequest => {
  const objectKey = `outputs/${request.requestId}/0.${request.kind === 'image' ? 'png' : 'mp4'}`;
  return {
    ...request,
    ...{ status: 'succeeded', finishedAt: inMs(0), expiresAt: inMs(1), outputs: [{ index: 0, objectKey }] },
    ...overrides,
  } as StoredRequest;
};
const image = madeOf(anImageRequest());
const video = madeOf(aVideoRequest());
const outputOf = ({ requestId, kind }: StoredRequest, name = `0.${kind === 'image' ? 'png' : 'mp4'}`) =>
  `outputs/${requestId}/${name}`;
const problemOf = (url: string, medium: Medium = 'image', requests: readonly StoredRequest[] = []) =>
  ownInputProblem({ field: 'x', url, medium }, { accountId: ACCOUNT_ID, requests, now: NOW });

describe('an own file as an input', () => {
  test('can be an upload of two days, and of the kind of the field', () => {
    expect(problemOf(upload())).toBeUndefined();
    expect(problemOf(upload('mp4'), 'video')).toBeUndefined();
    expect(problemOf(upload('png', ACCOUNT_ID, 2 * DAY_MS - 1))).toBeUndefined();
    for (const ageMs of [2 * DAY_MS, 3 * DAY_MS])
      expect(problemOf(upload('png', ACCOUNT_ID, ageMs))).toBe('is an upload that has expired');
    expect(problemOf(upload('png', THEIRS))).toBe('is an upload of another account');
    expect(problemOf(upload('mp4'))).toBe('is a video, not an image');
    expect(problemOf(upload('png'), 'audio')).toBe('is an image, not an audio');
    expect(problemOf(upload('exe'))).toBe('is not an image');
  });

  test('can be an output of the account, until it expires', () => {
    expect(problemOf(outputOf(image), 'image', [image])).toBeUndefined();
    expect(problemOf(outputOf(video), 'video', [image, video])).toBeUndefined();
    expect(problemOf(outputOf(video), 'image', [video])).toBe('is a video, not an image');
    // No upload is of this type.
    const webm = madeOf(video, { outputs: [{ index: 0, objectKey: outputOf(video, '0.webm') }] });
    expect(problemOf(outputOf(video, '0.webm'), 'video', [webm])).toBeUndefined();
    expect(problemOf(outputOf(video, '0.webm'), 'image', [webm])).toBe('is a video, not an image');
  });

  test.each<[string, StoredRequest[], string]>([
    ['of a request that is not there', [], 'is not an output of yours'],
    ['of another account', [madeOf(image, { accountId: THEIRS })], 'is not an output of yours'],
    ['that was not made', [madeOf(image, { outputs: [] })], 'is not an output of yours'],
    ['that could not be stored', [madeOf(image, { outputs: [{ index: 0 }] })], 'is not an output of yours'],
    [
      'of a request past its retention',
      [madeOf(image, { ttl: NOW.getTime() / 1000 })],
      'is not an output of yours',
    ],
    ['that has expired', [madeOf(image, { expiresAt: inMs(0) })], 'is an output that has expired'],
    ['long after that', [madeOf(image, { expiresAt: inMs(-DAY_MS) })], 'is an output that has expired'],
  ])('is refused where it is an output %s', (_, requests, problem) => {
    expect(problemOf(outputOf(image), 'image', requests)).toBe(problem);
  });

  test('is no other file at our address, and no URL elsewhere is refused here', () => {
    expect(problemOf('https://files.example.com/clips/x/0.mp4', 'video')).toBe(
      'is not an upload or an output of yours',
    );
    expect(problemOf('https://files.example.com./openapi.json')).toBe(
      'is not an upload or an output of yours',
    );
    expect(problemOf('https://pictures.example.com/outputs/x/0.png')).toBeUndefined();
  });

  test('is looked for by its request, each once', () => {
    const texts = [outputOf(image), upload(), 'https://a.example/0.png', outputOf(image, '1.png')];
    const inputs = texts.map((url) => ({ field: 'x', medium: 'image' as const, url }));

    expect(requestsNamed(inputs)).toEqual([image.requestId]);
  });

  test('is gone when the first of those that are named is', () => {
    const expiry = (...texts: string[]) =>
      inputsExpiry(
        texts.map((url) => ({ field: 'x', medium: 'image' as const, url })),
        [image],
      );

    expect(expiry('https://a.example/0.png')).toBeUndefined();
    expect(expiry(upload())).toBe(inMs(2 * DAY_MS));
    expect(expiry(upload('png', ACCOUNT_ID, DAY_MS), upload())).toBe(inMs(DAY_MS));
    expect(expiry(upload(), outputOf(image))).toBe(inMs(1));
  });

  test('never shows the account, and is of one account only', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, another) => {
        expect(ownerOf(one) === ownerOf(another)).toBe(one === another);
        expect(ownerOf(one)).toMatch(/^[\w-]{22}$/);
      }),
    );
  });
});
