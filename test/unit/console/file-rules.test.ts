import { describe, expect, test } from '@jest/globals';
import {
  contentTypeOf,
  fieldsForFile,
  isOwnFile,
  limitsText,
  localProblem,
  requestOfOutput,
  uploadExpiry,
} from '../../../console/make/file-rules.ts';
import { type CatalogModel, findModel } from '../../../core/models/catalog.ts';
import type { Model } from '../../../packages/client/src/types.ts';

const modelOf = (id: string): Model => findModel(id) as CatalogModel as Model;
const MIB = 1024 * 1024;
const FRAMES = {
  types: ['image/jpeg', 'image/png'],
  ...{ maxBytes: 20 * MIB, minSide: 240, maxSide: 8_000, maxRatio: 8, alpha: false as const },
};
const PNG = { contentType: 'image/png', sizeBytes: MIB, width: 640, height: 480, hasAlpha: false };
const AUDIO = { types: ['audio/mpeg'], maxBytes: MIB, minSeconds: 1, maxSeconds: 15 };

describe('a file', () => {
  test.each([
    ['a.png', 'image/png', 'image/png'],
    ['a.JPG', '', 'image/jpeg'],
    ['photo.heic', '', 'image/heic'],
    ['a.wav', 'audio/x-wav', 'audio/wav'],
    ['a.mp3', 'audio/mp3', 'audio/mpeg'],
    ['clip.mov', 'video/quicktime', 'video/quicktime'],
    ['notes', '', ''],
  ])('is of the type that it says, or that its name has: %s, %s', (name, type, expected) => {
    expect(contentTypeOf({ name, type })).toBe(expected);
  });

  test.each([
    [PNG, undefined],
    [{ contentType: 'image/png', sizeBytes: 1 }, undefined],
    [{ ...PNG, hasAlpha: true }, 'has an alpha channel; the model takes PNG without one'],
    [{ ...PNG, sizeBytes: 21 * MIB }, 'has 21 MB; the model takes up to 20 MB'],
    [{ ...PNG, width: 8 }, 'has 8x480 pixels; the model takes sides of 240 to 8,000'],
    [
      { ...PNG, width: 4_000, height: 300 },
      'has 4000x300 pixels; the model takes aspect ratios of 1:8 to 8:1',
    ],
    [{ ...PNG, contentType: 'image/gif' }, 'is GIF; the model takes JPEG and PNG'],
    [{ ...PNG, contentType: 'video/mp4' }, 'is MP4, not an image'],
    [{ ...PNG, contentType: '' }, 'has a type that is not known'],
  ])('is judged by the limits of the model, as the service would: %#', (facts, expected) => {
    expect(localProblem(facts, 'image', FRAMES)).toBe(expected);
  });

  test('of sound is judged by its length, and any picture passes where no limits are known', () => {
    const sound = { contentType: 'audio/mpeg', sizeBytes: 1, durationMs: 20_000 };

    expect(localProblem(sound, 'audio', AUDIO)).toBe('lasts 20 s; the model takes 1 to 15 s');
    expect(localProblem({ ...PNG, width: 1 }, 'image', undefined)).toBeUndefined();
  });
});

test('The fields that take a file are those of its medium that the model has', () => {
  const paths = (id: string, medium: 'image' | 'video' | 'audio') =>
    fieldsForFile(modelOf(id), medium).map(({ path }) => path);

  expect(paths('xZI1.0Pro', 'image')).toEqual([]);
  expect(paths('xSD4.5', 'image')).toEqual(['references']);
  expect(paths('xW2.7S', 'image')).toEqual(['image']);
  expect(paths('xW3.0s', 'image')).toEqual(['image', 'lastFrame', 'referenceImages']);
  expect(paths('xW3.0s', 'video')).toEqual(['referenceVideos']);
  expect(paths('xW3.0s', 'audio')).toEqual(['referenceAudios']);
});

test('Limits are said in words', () => {
  expect(limitsText(FRAMES)).toBe('JPEG, PNG (PNG without alpha), up to 20 MB, sides of 240 to 8,000 px');
  expect(limitsText(AUDIO)).toBe('MP3, up to 1 MB, 1 to 15 s');
  expect(limitsText(undefined)).toBe('');
});

test('The URL of an upload tells until when it can be used, that of an output whose it is', () => {
  const upload = 'https://x.example/files/uploads/gbpU19FWWdFhTOE9z0hoQy/upl_01M8CMXHJ3TZC8MEXZF0JEPFYX.png';
  const output = 'https://x.example/files/outputs/vid_01M8CMXHJ3TZC8MEXZF0JEPFYX/0.mp4?Signature=x';

  expect(uploadExpiry(upload)?.toISOString().slice(0, 10)).toBe('2026-11-28');
  expect(requestOfOutput(output)).toBe('vid_01M8CMXHJ3TZC8MEXZF0JEPFYX');
  expect([upload, output].map(isOwnFile)).toEqual([true, true]);
  expect(uploadExpiry(output)).toBeUndefined();
  expect(requestOfOutput(upload)).toBeUndefined();
  expect(isOwnFile('https://x.example/uploads/a.png')).toBe(false);
});
