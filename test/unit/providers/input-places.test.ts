import { describe, expect, test } from '@jest/globals';
import { classify, type ProviderErrors } from '../../../providers/error-classes.ts';
import { FAL_ERRORS, pathOf } from '../../../providers/fal/errors.ts';
import { ARK_ERRORS } from '../../../providers/modelark/errors.ts';
import { MODEL_STUDIO_ERRORS } from '../../../providers/modelstudio/errors.ts';

/** The place of an input that was refused with these words, without the reason. */
const placeOf = (errors: ProviderErrors, error: { at?: string; message?: string }): object => {
  const { reason: _, ...place } = classify(errors, { code: 'InvalidParameter', ...error }, 400).input ?? {};
  return place;
};

describe('a place in a call to fal', () => {
  test.each<[(string | number)[], object]>([
    [['prompt'], { field: 'prompt' }],
    [['image_url'], { field: 'image' }],
    [['start_image_url'], { field: 'image' }],
    [['end_image_url'], { field: 'lastFrame' }],
    [['image_urls', 0], { field: 'references[0]' }],
    [['image_urls', 12], { field: 'references[12]' }],
    [['reference_image_urls', 1], { field: 'referenceImages[1]' }],
    [['reference_video_urls', 2], { field: 'referenceVideos[2]' }],
    [['reference_audio_urls', 3], { field: 'referenceAudios[3]' }],
    [['image_urls'], { medium: 'image' }],
    [['reference_image_urls'], { medium: 'image' }],
    [['reference_video_urls'], { medium: 'video' }],
    [['reference_audio_urls'], { medium: 'audio' }],
    [['image_size'], { field: 'size' }],
    [['image_size', 'width'], { field: 'size' }],
    [['num_images'], { field: 'n' }],
    [['max_images'], { field: 'sequentialOptions.maxImages' }],
    [['resolution'], { field: 'resolution' }],
    [['aspect_ratio'], { field: 'ratio' }],
    [['duration'], { field: 'durationSec' }],
    [['other'], {}],
    [[], {}],
  ])('is named to the caller by its own field: %j', (loc, place) => {
    expect(placeOf(FAL_ERRORS, { at: pathOf(['body', ...loc]) })).toEqual(place);
  });

  test.each<[(string | number)[], string]>([
    [['body', 'image_urls', 0], 'image_urls[0]'],
    [['body', 'image_size', 'width'], 'image_size.width'],
    [['body', 'loras', 1, 'path'], 'loras[1].path'],
    [['body'], ''],
    [[], ''],
  ])('%j is the path %j', (loc, path) => {
    expect(pathOf(loc)).toBe(path);
  });
});

describe('a place in a call to ModelArk', () => {
  test.each<[string, object]>([
    ['content[0]', { field: 'prompt' }],
    ['content[1]', { file: 0 }],
    ['content[12].image_url', { file: 11 }],
    ['image[0]', { file: 0 }],
    ['image[9]', { file: 9 }],
    ['image', { medium: 'image' }],
    ['prompt', { field: 'prompt' }],
    ['text', { field: 'prompt' }],
    ['size', { field: 'size' }],
    ['resolution', { field: 'resolution' }],
    ['ratio', { field: 'ratio' }],
    ['duration', { field: 'durationSec' }],
    ['sequential_image_generation_options.max_images', { field: 'sequentialOptions.maxImages' }],
    ['other', {}],
  ])('is named to the caller by its own field, in `param` and in a message: %s', (at, place) => {
    expect(placeOf(ARK_ERRORS, { at })).toEqual(place);
    const told = placeOf(ARK_ERRORS, { message: `The parameter \`${at}\` is not valid.` });
    expect(told).toMatchObject(place);
    expect(Object.keys(told).filter((key) => key !== 'medium')).toEqual(
      Object.keys(place).filter((key) => key !== 'medium'),
    );
  });

  test('is that of `param` where the message has another', () => {
    expect(placeOf(ARK_ERRORS, { at: 'size', message: 'The `ratio` does not fit.' })).toEqual({
      field: 'size',
    });
  });
});

describe('a place in a call to Model Studio', () => {
  test.each<[string, object]>([
    ['input.media[0].url', { file: 0 }],
    ['input.media.2.url', { file: 2 }],
    ['messages[0].content[1].image', { file: 1 }],
    ['messages.0.content.2.image', { file: 2 }],
    ['input.prompt', { field: 'prompt' }],
    ['the prompt', { field: 'prompt' }],
    ['parameters.size', { field: 'size' }],
    ['parameters.n', { field: 'n' }],
    ['parameters.resolution', { field: 'resolution' }],
    ['parameters.ratio', { field: 'ratio' }],
    ['parameters.duration', { field: 'durationSec' }],
    ['parameters.seed', {}],
  ])('is named to the caller by its own field: %s', (place, expected) => {
    expect(placeOf(MODEL_STUDIO_ERRORS, { message: `${place} is wrong` })).toMatchObject(expected);
    expect('field' in placeOf(MODEL_STUDIO_ERRORS, { message: `${place} is wrong` })).toBe(
      'field' in expected,
    );
  });
});
