import { describe, expect, test } from '@jest/globals';
import {
  bodyOf,
  type FormValues,
  fieldsOf,
  messagesFor,
  messagesOf,
  messageText,
  otherMessages,
  shownFields,
  valuesOf,
} from '../../../console/make/form-rules.ts';
import { CATALOG, type CatalogModel, findModel } from '../../../core/models/catalog.ts';
import type { Model } from '../../../packages/client/src/types.ts';
import { brokenBounds } from './catalog-bounds.ts';

const modelOf = (id: string): Model => findModel(id) as CatalogModel as Model;
const COMPLETE = { prompt: 'a lighthouse', endUserEmail: 'ada@example.com' };
const messagesIn = (id: string, values: FormValues) =>
  messagesOf(modelOf(id), bodyOf(modelOf(id), values), false);

/** What is shown at a field, for the values of a form. */
const shownAt = (id: string, values: FormValues, path: string) => {
  const field = shownFields(modelOf(id), values).find((one) => one.path === path);
  return field && messagesFor(field, messagesIn(id, values)).map(({ text }) => text);
};

const BROKEN = CATALOG.flatMap(brokenBounds);

describe('a bound of the catalog', () => {
  test('is walked for every model', () => {
    expect(Map.groupBy(BROKEN, ({ model }) => model).size).toBe(CATALOG.length);
    expect(BROKEN.length).toBeGreaterThan(60);
  });

  test.each(BROKEN)('of $model that is broken ($bound) is said at $field, and nowhere else', (broken) => {
    const { model, field, values } = broken;

    expect(Object.keys(messagesIn(model, values))).toEqual([field]);
    const label = fieldsOf(modelOf(model)).find(({ path }) => path === field)?.label ?? '';
    expect(shownAt(model, values, field)).toEqual([
      messageText(label, messagesIn(model, values)[field] ?? ''),
    ]);
  });

  test.each(CATALOG.map(({ id }) => id))('of %s is kept by an otherwise empty form', (id) => {
    const image = findModel(id);
    const needsImage = image?.type === 'video' && image.requiresImage;
    const values = { ...COMPLETE, ...(needsImage && { image: 'https://example.com/frame.png' }) };

    expect(messagesIn(id, values)).toEqual({});
  });
});

describe('the body of a form', () => {
  test('leaves out what is empty, and nests what a path nests', () => {
    const values = { ...COMPLETE, size: '', n: '1', sequential: 'auto', 'sequentialOptions.maxImages': '4' };

    expect(bodyOf(modelOf('xSD4.5'), values)).toEqual({
      ...{ model: 'xSD4.5', ...COMPLETE, n: 1, sequential: 'auto' },
      sequentialOptions: { maxImages: 4 },
    });
  });

  test('has lists of URLs by line, without empty ones at their end', () => {
    const references = 'https://example.com/a\n\nhttps://example.com/b\n\n';

    expect(bodyOf(modelOf('xSD4.5'), { ...COMPLETE, references }).references).toEqual([
      'https://example.com/a',
      '',
      'https://example.com/b',
    ]);
    expect(bodyOf(modelOf('xSD4.5'), { ...COMPLETE, references: '\n\n' })).not.toHaveProperty('references');
  });

  test('has parameters that are true or false as such, and none that the model decides', () => {
    const values = { ...COMPLETE, seed: '7', generateAudio: 'false', promptExtend: '' };
    const body = bodyOf(modelOf('xW3.0s'), values);

    expect(body).toMatchObject({ seed: 7, generateAudio: false });
    expect(body).not.toHaveProperty('promptExtend');
    expect(valuesOf(modelOf('xW3.0s'), body)).toMatchObject({ seed: '7', generateAudio: 'false' });
  });

  test('has what is no number as it was typed, so that the service’s own rule refuses it', () => {
    expect(shownAt('xSD4.5', { ...COMPLETE, n: 'two' }, 'n')).toEqual(['Images must be a whole number']);
    expect(shownAt('xW3.0s', { ...COMPLETE, durationSec: '2.5' }, 'durationSec')).toEqual([
      'Seconds must be a whole number',
    ]);
  });
});

describe('the values of a form that is filled in as a request was', () => {
  test.each([
    [
      'xSD4.5',
      {
        size: '2560x1440',
        aspectRatio: 'auto',
        n: 3,
        references: ['https://a.example/1', 'https://a.example/2'],
      },
    ],
    [
      'xSD4.5',
      {
        ...{
          size: '2K',
          aspectRatio: 'portrait',
          n: 1,
          sequential: 'auto',
          sequentialOptions: { maxImages: 7 },
        },
        webhookUrl: 'https://a.example/hook',
      },
    ],
    [
      'xW3.0s',
      {
        resolution: '480p',
        durationSec: 12,
        ratio: '9:16',
        image: 'https://a.example/1',
        lastFrame: 'https://a.example/2',
      },
    ],
    [
      'xW3.0sPro',
      { resolution: '4k', durationSec: 2, ratio: 'adaptive', referenceVideos: ['https://a.example/1'] },
    ],
  ])('give its body again: %s %j', (id, input) => {
    const body = { ...COMPLETE, ...input };

    expect(bodyOf(modelOf(id), valuesOf(modelOf(id), body))).toEqual({ model: id, ...body });
  });

  test('are none for empty lists, nor for what the model does not have', () => {
    const body = { ...COMPLETE, references: [], durationSec: 3 };

    expect(valuesOf(modelOf('xSD4.5'), body)).toEqual({ model: 'xSD4.5', ...COMPLETE });
  });
});

describe('a message', () => {
  test.each([
    ['is required', 'Prompt is required'],
    ['must be at most 4000 characters', 'Prompt must be at most 4000 characters'],
    ['xZI1.0Pro takes no references', 'xZI1.0Pro takes no references'],
    ['10x10 is too small: …', '10x10 is too small: …'],
  ])('%s reads %s', (text, shown) => {
    expect(messageText('Prompt', text)).toBe(shown);
  });
});

test('A field shows what it is by default, and ratios as people write them', () => {
  const image = fieldsOf(modelOf('xSD4.5'));
  const video = fieldsOf(modelOf('xW3.0s'));
  const byDefault = (fields: typeof image) =>
    fields.flatMap(({ path, byDefault: value }) => (value === undefined ? [] : [[path, value]]));

  expect(byDefault(image)).toEqual([
    ['aspectRatio', 'auto'],
    ['size', '2K'],
    ['promptExtend', 'default'],
  ]);
  expect(byDefault(video)).toEqual([
    ['ratio', 'adaptive'],
    ['resolution', '1080p'],
    ['generateAudio', 'default'],
    ['promptExtend', 'default'],
  ]);
  expect(image.find(({ path }) => path === 'size')?.hint).toBe(
    'A custom size is <width>x<height>: 3,686,400 to 16,777,216 pixels, ratio 1:16 to 16:1.',
  );
});

describe('a field', () => {
  test('that the model does not take is shown only while it holds something', () => {
    const paths = (values: FormValues) => shownFields(modelOf('xZI1.0Pro'), values).map(({ path }) => path);

    expect(paths(COMPLETE)).toEqual([
      ...['prompt', 'endUserEmail', 'aspectRatio', 'size', 'n', 'seed', 'webhookUrl'],
    ]);
    expect(paths({ ...COMPLETE, references: 'https://example.com/a' })).toContain('references');
  });

  test('that is a list says what is wrong with the third URL at the third', () => {
    const references = 'https://example.com/a\nhttps://example.com/b\nftp://example.com/c';
    const model = modelOf('xSD4.5');
    const field = fieldsOf(model).find(({ path }) => path === 'references');

    expect(field && messagesFor(field, messagesIn('xSD4.5', { ...COMPLETE, references }))).toEqual([
      { text: 'URL 3 must be an absolute https URL', place: 3 },
    ]);
  });

  test('says whose addresses it takes: those of this machine only where the service calls them', () => {
    const model = modelOf('xSD4.5');
    const body = bodyOf(model, { ...COMPLETE, webhookUrl: 'http://127.0.0.1:9000/hook' });

    expect(messagesOf(model, body, true)).toEqual({});
    expect(messagesOf(model, body, false)).toEqual({ webhookUrl: 'must be an absolute https URL' });
    const local = bodyOf(model, { ...COMPLETE, webhookUrl: 'https://[::1]/hook' });
    expect(messagesOf(model, local, false)).toEqual({ webhookUrl: 'must lead to a public address' });
  });
});

test('A message of no field is shown with the name that it is about', () => {
  const model = modelOf('xSD4.5');

  expect(
    otherMessages(fieldsOf(model), { model: 'is not an image model', n: 'x', 'references[1]': 'y' }),
  ).toEqual(['model is not an image model']);
});
