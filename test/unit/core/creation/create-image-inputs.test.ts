import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { aGenerationBody, references } from '../../builders/bodies.ts';
import { accepted, problems } from './parsed-images.ts';

describe('size and aspect ratio', () => {
  test.each([
    ['xSD4.5', '2K'],
    ['xSD5Pro', '2K'],
    ['xQI3Pro', '2K'],
    ['xZI1.0Pro', '1K'],
  ])('of %s are %s and auto when left out', (model, size) => {
    expect(accepted({ model })).toMatchObject({ size, aspectRatio: 'auto' });
  });

  test.each(['auto', 'square', 'landscape', 'portrait'])('of a preset may be %s', (aspectRatio) => {
    expect(accepted({ size: '1K', aspectRatio })).toMatchObject({ size: '1K', aspectRatio });
  });

  test.each(['16:9', 'Auto', 'AUTO ', ''])('may not be %j', (aspectRatio) => {
    expect(Object.keys(problems({ aspectRatio }))).toEqual(['aspectRatio']);
  });

  test('must be auto with an explicit size', () => {
    expect(accepted({ size: '1600x900', aspectRatio: 'auto' }).size).toBe('1600x900');
    expect(problems({ size: '1600x900', aspectRatio: 'landscape' })).toEqual({
      aspectRatio: 'must be auto with an explicit size',
    });
  });

  test('are both reported when the explicit size is also out of bounds', () => {
    expect(Object.keys(problems({ size: '16x16', aspectRatio: 'square' }))).toEqual(['size', 'aspectRatio']);
  });
});

describe('references', () => {
  test.each([
    ['xSD4.5', 10],
    ['xSD5Pro', 10],
    ['xQI3Pro', 3],
  ])('of %s are at most %p', (model, most) => {
    expect(accepted({ model, references: references(most) }).references).toEqual(references(most));
    expect(problems({ model, references: references(most + 1) })).toEqual({
      references: `must hold at most ${most} URLs`,
    });
  });

  test('are refused by a model that takes none, but an empty list is fine', () => {
    expect(accepted({ model: 'xZI1.0Pro', references: [] }).references).toEqual([]);
    expect(problems({ model: 'xZI1.0Pro', references: references(1) })).toEqual({
      references: 'xZI1.0Pro takes no references',
    });
  });

  test('are checked one by one and reported by index', () => {
    const wrong = ['https://ok.example.com/', 'http://plain.example.com/', 'not a url'];

    expect(problems({ references: wrong })).toEqual({
      'references[1]': 'must be an absolute https URL',
      'references[2]': 'must be an absolute https URL',
    });
  });
});

describe('a sequence', () => {
  const sequence = (overrides: Record<string, unknown>) => ({
    model: 'xSD4.5',
    sequential: 'auto',
    ...overrides,
  });

  test.each([
    [0, 15],
    [1, 14],
    [10, 5],
  ])('with %p references yields up to %p images by default', (count, images) => {
    expect(accepted(sequence({ references: references(count) }))).toMatchObject({ sequential: true, images });
    expect(accepted(sequence({ references: references(count), sequentialOptions: {} })).images).toBe(images);
  });

  test.each([
    [0, 15],
    [3, 12],
    [10, 5],
  ])('with %p references may ask for 1 to %p images, 15 with the references', (count, most) => {
    const asking = (maxImages: number) =>
      sequence({ references: references(count), sequentialOptions: { maxImages } });

    expect(accepted(asking(1)).images).toBe(1);
    expect(accepted(asking(most)).images).toBe(most);
    expect(problems(asking(most + 1))).toEqual({
      'sequentialOptions.maxImages': `must be at most ${most}${count > 0 ? ` with ${count} references` : ''}`,
    });
    expect(problems(asking(16))).toEqual({ 'sequentialOptions.maxImages': 'must be at most 15' });
    expect(Object.keys(problems(asking(0)))).toEqual(['sequentialOptions.maxImages']);
  });

  test.each(['xSD5Pro', 'xQI3Pro', 'xZI1.0Pro'])('is not made by %s', (model) => {
    expect(problems({ model, sequential: 'auto' })).toEqual({ sequential: `${model} makes no sequences` });
  });

  test.each(['none', 'AUTO', '', true, null])('is requested by auto, not by %p', (sequential) => {
    expect(problems({ model: 'xSD4.5', sequential })).toEqual({ sequential: 'must be auto' });
  });

  test('accepts no n but 1', () => {
    expect(accepted(sequence({ n: 1, sequentialOptions: { maxImages: 4 } })).images).toBe(4);
    expect(problems(sequence({ n: 2 }))).toEqual({ n: 'must be 1 with sequential' });
  });

  test('is required for sequentialOptions.maxImages', () => {
    expect(problems({ model: 'xSD4.5', sequentialOptions: { maxImages: 4 } })).toEqual({
      'sequentialOptions.maxImages': 'is only accepted with sequential',
    });
  });

  test.each([1.5, '4', null, 1e20])('takes a whole number for maxImages, not %p', (maxImages) => {
    expect(problems(sequence({ sequentialOptions: { maxImages } }))).toEqual({
      'sequentialOptions.maxImages': 'must be a whole number',
    });
  });

  test('never delivers more than its model makes, including references', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 12 }),
        fc.option(fc.integer({ min: -1, max: 17 }), { nil: undefined }),
        (count, maxImages) => {
          const options = maxImages === undefined ? {} : { sequentialOptions: { maxImages } };
          const parsed = parseImageRequest(
            aGenerationBody(sequence({ references: references(count), ...options })),
            false,
          );
          const fits =
            count <= 10 && (maxImages === undefined || (maxImages >= 1 && maxImages + count <= 15));

          expect(parsed.ok).toBe(fits);
          if (parsed.ok) expect(parsed.creation.images + count).toBeLessThanOrEqual(15);
        },
      ),
    );
  });
});
