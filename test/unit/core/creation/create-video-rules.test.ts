import { describe, expect, test } from '@jest/globals';
import { parseVideoRequest } from '../../../../core/creation/create-video-rules.ts';
import { CATALOG } from '../../../../core/models/catalog.ts';
import { aVideoBody, urlsOf } from '../../builders/bodies.ts';
import { accepted, IMAGE, LAST, least, MODELS, problems, refused } from './parsed-videos.ts';

const RATIOS = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'];
const LABELS = ['480p', '720p', '1080p', '2k', '4k', '1080P', '2K', '540p', ''];

test('MODELS has every video model', () => {
  const ids = CATALOG.filter(({ type }) => type === 'video').map(({ id }) => id);

  expect(MODELS.map(({ model }) => model)).toEqual(ids);
});

describe('a creation of a video', () => {
  test('needs a model, a prompt and an end-user, and has defaults for all else', () => {
    const { model, ...rest } = accepted({});

    expect(model.id).toBe('xW3.0s');
    expect(rest).toStrictEqual({
      prompt: 'waves',
      endUserEmail: 'ada@example.com',
      resolution: '1080p',
      durationSec: 5,
      ratio: 'adaptive',
      referenceImages: [],
      referenceVideos: [],
      referenceAudios: [],
    });
    expect(refused({})).toEqual({
      model: 'is required',
      prompt: 'is required',
      endUserEmail: 'is required',
    });
  });

  test('of a model without ratios has none', () => {
    const { model, ...rest } = accepted(least('xW2.7S'));

    expect(model.id).toBe('xW2.7S');
    expect(rest).toStrictEqual({
      prompt: 'waves',
      endUserEmail: 'ada@example.com',
      resolution: '1080p',
      durationSec: 5,
      image: IMAGE,
      referenceImages: [],
      referenceVideos: [],
      referenceAudios: [],
    });
  });

  test('keeps every given field', () => {
    const frames = {
      model: 'xW3.0sPro',
      resolution: '4k',
      durationSec: 30,
      ratio: '9:16',
      image: IMAGE,
      lastFrame: LAST,
      webhookUrl: 'https://hooks.example.com/x',
    };
    const references = {
      referenceImages: urlsOf('png', 2),
      referenceVideos: urlsOf('mp4', 1),
      referenceAudios: urlsOf('mp3', 3),
    };

    const { model, ...rest } = accepted(frames);
    expect({ ...rest, model: model.id }).toMatchObject(frames);
    expect(accepted(references)).toMatchObject(references);
  });

  test('reports every wrong field at once, by its dotted path', () => {
    const fields = refused({
      model: 'xW3.0s',
      prompt: '  ',
      endUserEmail: 'nobody',
      resolution: '4k',
      durationSec: 31,
      image: 'ftp://media.example.com/first.png',
      lastFrame: 7,
      ratio: '21:9',
      referenceImages: [...urlsOf('png', 1), 'http://media.example.com/1.png', null],
      referenceVideos: 'https://media.example.com/clip.mp4',
      referenceAudios: urlsOf('mp3', 6),
      webhookUrl: 'http://hooks.example.com/',
      n: 2,
    });

    expect(fields).toEqual({
      prompt: 'must not be empty',
      endUserEmail: 'must be an email address of at most 254 characters',
      resolution: 'must be one of 480p, 720p, 1080p',
      durationSec: 'must be from 2 to 30',
      image: 'must be an absolute https URL',
      lastFrame: 'must be a string',
      ratio: 'must be one of adaptive, 16:9, 4:3, 1:1, 3:4, 9:16',
      'referenceImages[1]': 'must be an absolute https URL',
      'referenceImages[2]': 'must be a string',
      referenceVideos: 'must be an array of URLs',
      referenceAudios: 'must hold at most 5 URLs',
      webhookUrl: 'must be an absolute https URL',
      n: 'is not a known field',
    });
  });

  const FIELDS = [
    ...['model', 'prompt', 'endUserEmail', 'resolution', 'durationSec', 'image', 'lastFrame'],
    ...['referenceImages', 'referenceVideos', 'referenceAudios', 'ratio', 'webhookUrl'],
  ];
  test.each(FIELDS)('refuses null for %s: a field is absent or has its type', (name) => {
    expect(Object.keys(problems({ [name]: null }))).toEqual([name]);
  });

  test.each([
    ['resolution', 1080],
    ['durationSec', '5'],
    ['image', [IMAGE]],
    ['lastFrame', { url: LAST }],
    ['referenceImages', IMAGE],
    ['referenceVideos', { 0: IMAGE }],
    ['ratio', 1],
  ])('refuses %s of another type: %j', (name, value) => {
    expect(Object.keys(problems({ [name]: value }))).toEqual([name]);
  });

  test.each(['n', 'size', 'references', 'billedSeconds', 'Image', 'constructor', '__proto__'])(
    'refuses the unknown field %s',
    (name) => {
      const body = { ...aVideoBody(), ...JSON.parse(`{ ${JSON.stringify(name)}: 1 }`) };

      expect(Object.entries(refused(body))).toEqual([[name, 'is not a known field']]);
    },
  );

  test.each(['xW3', 'XW3.0S', '', 'xQI3Pro', 'constructor'])(
    'may not be of %p, which is not a video model',
    (model) => {
      expect(problems({ model })).toEqual({ model: 'is not a video model' });
    },
  );

  test('that is refused still carries its model and end-user', () => {
    const parsed = parseVideoRequest(aVideoBody({ endUserEmail: ' Ada@Example.com', durationSec: 0 }), false);

    expect(parsed).toMatchObject({ ok: false, model: { id: 'xW3.0s' }, endUserEmail: 'ada@example.com' });
  });
});

describe.each(MODELS)('$model', ({ model, resolutions, durationSec: [shortest, longest], inputs }) => {
  test.each(LABELS)('takes the resolution %p only when it publishes it', (resolution) => {
    const expected = (resolutions as readonly string[]).includes(resolution)
      ? {}
      : { resolution: `must be one of ${resolutions.join(', ')}` };

    expect(problems({ ...least(model), resolution })).toEqual(expected);
  });

  test('makes videos of its shortest to its longest duration, by whole seconds', () => {
    const outside = { durationSec: `must be from ${shortest} to ${longest}` };

    for (const durationSec of [shortest, longest]) {
      expect(accepted({ ...least(model), durationSec })).toMatchObject({ durationSec });
    }
    for (const durationSec of [shortest - 1, longest + 1]) {
      expect(problems({ ...least(model), durationSec })).toEqual(outside);
    }
    expect(problems({ ...least(model), durationSec: 0 })).toEqual({ durationSec: 'must be at least 1' });
    expect(problems({ ...least(model), durationSec: -1 })).toEqual({ durationSec: 'must be at least 1' });
    expect(problems({ ...least(model), durationSec: 2.5 })).toEqual({
      durationSec: 'must be a whole number',
    });
  });

  test.each([...RATIOS, '21:9', 'auto', ''])('takes the ratio %p only when it publishes it', (ratio) => {
    const expected = inputs
      ? RATIOS.includes(ratio)
        ? {}
        : { ratio: `must be one of ${RATIOS.join(', ')}` }
      : { ratio: `${model} takes no ratio` };

    expect(problems({ ...least(model), ratio })).toEqual(expected);
  });
});
