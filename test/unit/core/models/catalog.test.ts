import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { CATALOG, findImageModel, findModel } from '../../../../core/models/catalog.ts';
import { ImageModelData, VideoModelData } from '../../../../core/models/model-data.ts';
import { modelProblems } from '../../../../core/models/model-problems.ts';

const imageEntry = {
  type: 'image',
  endpoint: 'POST /v1/generations',
  billing: 'per_image',
  aspectRatios: ['auto', 'square', 'landscape', 'portrait'],
};
const videoEntry = { type: 'video', endpoint: 'POST /v1/videos', billing: 'per_second' };
const referenceInputs = {
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

const bounds = (
  minTotalPixels: number,
  maxTotalPixels: number,
  minAspectRatio: number,
  maxAspectRatio: number,
  sides = {},
) => ({ minTotalPixels, maxTotalPixels, minAspectRatio, maxAspectRatio, ...sides });

/** The tables of the public contract, written out. */
const PUBLISHED = [
  {
    ...imageEntry,
    id: 'xSD4.5',
    sizePresets: ['2K', '4K'],
    defaultSize: '2K',
    explicitSize: bounds(3686400, 16777216, 0.0625, 16),
    maxReferences: 10,
    maxImagesPerRequest: 15,
    capabilities: { sequential: true },
  },
  {
    ...imageEntry,
    id: 'xSD5Pro',
    sizePresets: ['1K', '1.5K', '2K'],
    defaultSize: '2K',
    explicitSize: bounds(921600, 4624220, 0.0625, 16),
    maxReferences: 10,
    maxImagesPerRequest: 15,
    capabilities: { sequential: false },
  },
  {
    ...imageEntry,
    id: 'xQI3Pro',
    sizePresets: ['1K', '1.5K', '2K'],
    defaultSize: '2K',
    explicitSize: bounds(262144, 4194304, 0.125, 8),
    maxReferences: 3,
    maxImagesPerRequest: 6,
    capabilities: { sequential: false },
  },
  {
    ...imageEntry,
    id: 'xZI1.0Pro',
    sizePresets: ['1K', '2K'],
    defaultSize: '1K',
    explicitSize: bounds(65536, 6553600, 0.1, 10, { minSide: 256, maxSide: 2560 }),
    maxReferences: 0,
    maxImagesPerRequest: 1,
    capabilities: { sequential: false },
  },
  {
    ...videoEntry,
    id: 'xW2.7S',
    resolutions: ['720p', '1080p'],
    defaultResolution: '1080p',
    durationSec: { min: 2, max: 15, default: 5 },
    requiresImage: true,
  },
  {
    ...videoEntry,
    id: 'xW3.0s',
    resolutions: ['480p', '720p', '1080p'],
    defaultResolution: '1080p',
    durationSec: { min: 2, max: 30, default: 5 },
    ...referenceInputs,
  },
  {
    ...videoEntry,
    id: 'xW3.0sPro',
    resolutions: ['1080p', '2k', '4k'],
    defaultResolution: '1080p',
    durationSec: { min: 2, max: 30, default: 5 },
    ...referenceInputs,
  },
];

describe('the catalog', () => {
  test.each(PUBLISHED.map((entry) => [entry.id, entry] as const))(
    'publishes %s with exactly the fields and limits of the contract',
    (id, entry) => {
      const { parameters: _, ...published } = JSON.parse(
        JSON.stringify(CATALOG.find((model) => model.id === id)),
      );

      expect(published).toStrictEqual(entry);
    },
  );

  test('holds the seven models of the contract in its order, and no other', () => {
    expect(CATALOG.map(({ id }) => id)).toEqual(PUBLISHED.map(({ id }) => id));
  });

  test('says which parameters a model has, with their ranges, beside the contract', () => {
    const parameters = CATALOG.map((model) => [
      model.id,
      (model.parameters ?? []).map(({ name, max, maxCharacters }) =>
        [name, max ?? maxCharacters].filter((part) => part !== undefined).join(' '),
      ),
    ]);

    expect(Object.fromEntries(parameters)).toEqual({
      'xSD4.5': [],
      xSD5Pro: [],
      xQI3Pro: ['seed 2147483647', 'negativePrompt 500', 'promptExtend'],
      'xZI1.0Pro': ['seed 2147483647'],
      'xW2.7S': ['seed 2147483647', 'negativePrompt 500', 'promptExtend'],
      'xW3.0s': ['seed 2147483647', 'generateAudio', 'promptExtend'],
      'xW3.0sPro': ['seed 2147483647', 'generateAudio', 'promptExtend'],
    });
  });

  test('is data of the form that an operator gives models in', () => {
    const text = readFileSync(new URL('../../../../core/models/catalog.json', import.meta.url), 'utf8');

    for (const model of JSON.parse(text)) {
      const schema = model.type === 'image' ? ImageModelData : VideoModelData;
      expect(modelProblems(schema.parse(model))).toEqual([]);
    }
  });

  test('never states a rate', () => {
    expect(JSON.stringify(CATALOG)).not.toMatch(/rate"|price|cost|token/i);
  });

  test.each(PUBLISHED)('finds $id by its id, and as an image model only when it is one', ({ id, type }) => {
    expect(findModel(id)?.id).toBe(id);
    expect(findImageModel(id)?.id).toBe(type === 'image' ? id : undefined);
  });

  test.each(['xSD4', 'xsd4.5', '', 'constructor', '__proto__'])('knows no model %p', (id) => {
    expect(findModel(id)).toBeUndefined();
    expect(findImageModel(id)).toBeUndefined();
  });
});
