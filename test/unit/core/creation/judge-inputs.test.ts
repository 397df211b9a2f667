import { describe, expect, test } from '@jest/globals';
import type { InputMeasure } from '../../../../core/creation/input-measuring.ts';
import { judgeInputs, type MeasuredInput } from '../../../../core/creation/judge-inputs.ts';

const upload = (extension: string) => `uploads/${'o'.repeat(22)}/upl_01JD4KXQ8M0000000000000000.${extension}`;
const picture = (facts: Partial<Extract<InputMeasure, { contentType: string }>> = {}): InputMeasure => ({
  ...{ contentType: 'image/png', sizeBytes: 1000, width: 640, height: 480 },
  ...facts,
});
const input = (measure: InputMeasure, url = 'https://a.example/1', index = 0): MeasuredInput => ({
  ...{ field: `references[${index}]`, medium: 'image', url, measure },
});
const ONLY_PNG = { route: 'one', limits: { image: { types: ['image/png'] } } };
const ONLY_WEBP = { route: 'two', limits: { image: { types: ['image/webp'] } } };
const ANY = { route: 'three', limits: {} };

describe('input files as measured', () => {
  test('are refused by field where no route takes them, in the words of the first', () => {
    const inputs = [input(picture()), input(picture({ contentType: 'image/gif' }), undefined, 1)];

    expect(judgeInputs(inputs, [ONLY_PNG, ONLY_WEBP])).toEqual({
      fields: { 'references[1]': 'is GIF; the model takes PNG' },
      unfitRoutes: [],
    });
  });

  test('are accepted where one route takes all of them, and the others are named', () => {
    const webp = input(picture({ contentType: 'image/webp' }));

    expect(judgeInputs([webp], [ONLY_PNG, ONLY_WEBP])).toEqual({ fields: {}, unfitRoutes: ['one'] });
    expect(judgeInputs([webp], [ONLY_PNG, ANY])).toEqual({ fields: {}, unfitRoutes: ['one'] });
    expect(judgeInputs([webp, input(picture())], [ONLY_PNG, ONLY_WEBP, ANY]).unfitRoutes).toEqual([
      'one',
      'two',
    ]);
    expect(judgeInputs([webp], [])).toEqual({ fields: {}, unfitRoutes: [] });
  });

  test('are refused where one cannot be used, whatever the routes take', () => {
    const inputs = [
      input({ problem: 'is cut off' }),
      input(picture({ contentType: 'image/gif' }), undefined, 1),
    ];

    expect(judgeInputs(inputs, [ONLY_PNG]).fields).toEqual({ 'references[0]': 'is cut off' });
  });

  test.each([
    [403, 'is not there: it was not uploaded, or was removed'],
    [404, 'is not there: it was not uploaded, or was removed'],
    [500, 'could not be fetched'],
    [undefined, 'could not be fetched'],
  ])('say of a file of ours that answers %p: %s', (status, problem) => {
    const measure = { problem: 'could not be fetched', ...(status !== undefined && { status }) };

    expect(judgeInputs([input(measure, upload('png'))], [ANY]).fields).toEqual({ 'references[0]': problem });
    expect(judgeInputs([input(measure)], [ANY]).fields).toEqual({ 'references[0]': 'could not be fetched' });
  });

  test.each([
    ['png', 'image/png', undefined],
    ['png', 'image/jpeg', 'is JPEG, and was declared as PNG'],
    ['jpg', 'image/png', 'is PNG, and was declared as JPEG'],
    ['mov', 'video/mp4', undefined],
    ['mp4', 'video/quicktime', undefined],
    ['heic', 'image/heif', undefined],
    ['heif', 'image/heic', undefined],
    ['mp4', 'video/webm', 'is WebM, and was declared as MP4'],
    ['png', 'image/heic', 'is HEIC, and was declared as PNG'],
    ['heif', 'image/png', 'is PNG, and was declared as HEIF'],
    ['mov', 'image/heif', 'is HEIF, and was declared as QuickTime'],
  ])('are what they were declared to be: .%s of %s: %p', (extension, contentType, problem) => {
    const { fields } = judgeInputs([input(picture({ contentType }), upload(extension))], [ANY]);

    expect(fields['references[0]']).toBe(problem);
  });

  test('are too long together on the field of the list', () => {
    const sound = (index: number): MeasuredInput => ({
      ...{ field: `referenceAudios[${index}]`, medium: 'audio', url: 'https://a.example/1.mp3' },
      measure: { contentType: 'audio/mpeg', sizeBytes: 1, durationMs: 8_000 },
    });
    const route = { route: 'one', limits: { audio: { maxTotalSeconds: 15 } } };

    expect(judgeInputs([sound(0), sound(1)], [route]).fields).toEqual({
      referenceAudios: 'last 16 s together; the model takes up to 15 s',
    });
  });
});
