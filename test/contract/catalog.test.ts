import { beforeAll, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { type Caller, newCaller, sharedService } from './support/client.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService(), 0);
});

const IMAGE = {
  type: 'image',
  endpoint: 'POST /v1/generations',
  billing: 'per_image',
  aspectRatios: ['auto', 'square', 'landscape', 'portrait'],
};

const VIDEO = {
  type: 'video',
  endpoint: 'POST /v1/videos',
  billing: 'per_second',
  defaultResolution: '1080p',
};

const REFERENCE_INPUTS = {
  requiresImage: false,
  inputModes: ['first_frame', 'last_frame', 'reference_images', 'reference_videos', 'reference_audios'],
  maxReferenceImages: 10,
  maxReferenceVideos: 5,
  maxReferenceAudios: 5,
  ratios: ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'],
  defaultRatio: 'adaptive',
  referenceVideoMaxSeconds: 15,
  maxCombinedSeconds: 30,
};

test('The catalog lists exactly the available models with their documented limits', async () => {
  const { status, body } = await caller.get('/v1/models');

  expect(status).toBe(200);
  // `toEqual` fails on any extra key, such as a rate.
  expect(body).toEqual({
    data: [
      {
        ...IMAGE,
        id: 'xSD4.5',
        sizePresets: ['2K', '4K'],
        defaultSize: '2K',
        explicitSize: {
          minTotalPixels: 3_686_400,
          maxTotalPixels: 16_777_216,
          minAspectRatio: 0.0625,
          maxAspectRatio: 16,
        },
        maxReferences: 10,
        maxImagesPerRequest: 15,
        capabilities: { sequential: true },
      },
      {
        ...IMAGE,
        id: 'xSD5Pro',
        sizePresets: ['1K', '1.5K', '2K'],
        defaultSize: '2K',
        explicitSize: {
          minTotalPixels: 921_600,
          maxTotalPixels: 4_624_220,
          minAspectRatio: 0.0625,
          maxAspectRatio: 16,
        },
        maxReferences: 10,
        maxImagesPerRequest: 15,
        capabilities: { sequential: false },
      },
      {
        ...IMAGE,
        id: 'xQI3Pro',
        sizePresets: ['1K', '1.5K', '2K'],
        defaultSize: '2K',
        explicitSize: {
          minTotalPixels: 262_144,
          maxTotalPixels: 4_194_304,
          minAspectRatio: 0.125,
          maxAspectRatio: 8,
        },
        maxReferences: 3,
        maxImagesPerRequest: 6,
        capabilities: { sequential: false },
      },
      {
        ...IMAGE,
        id: 'xZI1.0Pro',
        sizePresets: ['1K', '2K'],
        defaultSize: '1K',
        explicitSize: {
          minTotalPixels: 65_536,
          maxTotalPixels: 6_553_600,
          minAspectRatio: 0.1,
          maxAspectRatio: 10,
          minSide: 256,
          maxSide: 2560,
        },
        maxReferences: 0,
        maxImagesPerRequest: 1,
        capabilities: { sequential: false },
      },
      {
        ...VIDEO,
        id: 'xW2.7S',
        resolutions: ['720p', '1080p'],
        durationSec: { min: 2, max: 15, default: 5 },
        requiresImage: true,
      },
      {
        ...VIDEO,
        ...REFERENCE_INPUTS,
        id: 'xW3.0s',
        resolutions: ['480p', '720p', '1080p'],
        durationSec: { min: 2, max: 30, default: 5 },
      },
      {
        ...VIDEO,
        ...REFERENCE_INPUTS,
        id: 'xW3.0sPro',
        resolutions: ['1080p', '2k', '4k'],
        durationSec: { min: 2, max: 30, default: 5 },
      },
    ],
  });
});

test('The catalog contains no prices', async () => {
  const { body } = await caller.get('/v1/models');

  expect(JSON.stringify(body)).not.toMatch(/xtokens|price|cost|perImage|\brates?\b/i);
});

test('An unknown query parameter is refused by name', async () => {
  expect(wrongFields(await caller.get('/v1/models?type=image'))).toEqual(['type']);
});
