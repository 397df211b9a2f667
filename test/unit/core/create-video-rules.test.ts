import '../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CATALOG } from '../../../core/catalog.ts';
import { type NewVideo, parseVideo } from '../../../core/create-video-rules.ts';
import type { FieldErrors } from '../../../core/errors.ts';
import { aVideoBody, urlsOf } from '../builders/bodies.ts';
import { withEnvironment } from '../builders/environment.ts';

const accepted = (overrides: Record<string, unknown>): NewVideo => {
  const { parsed } = parseVideo(aVideoBody(overrides));
  if (!parsed.ok) throw parsed.error;
  return parsed.creation;
};
const refused = (body: Record<string, unknown>): FieldErrors => {
  const { parsed } = parseVideo(body);
  return parsed.ok ? {} : { ...parsed.error.fields };
};
/** What is wrong with the least body once these fields are set. */
const problems = (overrides: Record<string, unknown>): FieldErrors => refused(aVideoBody(overrides));

const IMAGE = 'https://media.example.com/first.png';
const LAST = 'https://media.example.com/last.png';
/** The least that each model needs beyond a prompt. */
const NEEDED: Record<string, Record<string, unknown>> = { 'xW2.7S': { image: IMAGE } };
const least = (model: string) => ({ model, ...NEEDED[model] });

/** The published limits of every video model, written out: `GET /v1/models` and this must agree. */
const MODELS = [
  { model: 'xW2.7S', resolutions: ['720p', '1080p'], durationSec: [2, 15], inputs: false },
  { model: 'xW3.0s', resolutions: ['480p', '720p', '1080p'], durationSec: [2, 30], inputs: true },
  { model: 'xW3.0sPro', resolutions: ['1080p', '2k', '4k'], durationSec: [2, 30], inputs: true },
] as const;
const WITH_INPUTS = MODELS.filter(({ inputs }) => inputs);
const RATIOS = ['adaptive', '16:9', '4:3', '1:1', '3:4', '9:16'];
const LABELS = ['480p', '720p', '1080p', '2k', '4k', '1080P', '2K', '540p', ''];

test('these are all video models there are', () => {
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
      webhookUrl: undefined,
      resolution: '1080p',
      durationSec: 5,
      billedSeconds: 5,
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
      webhookUrl: undefined,
      resolution: '1080p',
      durationSec: 5,
      billedSeconds: 5,
      image: IMAGE,
      referenceImages: [],
      referenceVideos: [],
      referenceAudios: [],
    });
  });

  test('keeps every field it is given', () => {
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
    expect({ ...rest, model: model.id }).toMatchObject({ ...frames, billedSeconds: 30 });
    expect(accepted(references)).toMatchObject(references);
  });

  test('names every wrong field at once, by its dotted path', () => {
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
  test.each(FIELDS)('takes no null for %s: a field is left out or has its type', (name) => {
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

  test.each(['xW3', 'XW3.0S', '', 'xQI3Pro', 'constructor'])('may not be of %p: no video model', (model) => {
    expect(problems({ model })).toEqual({ model: 'is not a video model' });
  });

  test('that is refused tells what can be looked up for it all the same', () => {
    const { parsed } = parseVideo(aVideoBody({ endUserEmail: ' Ada@Example.com', durationSec: 0 }));

    expect(parsed).toMatchObject({ ok: false, model: 'xW3.0s', endUserEmail: 'ada@example.com' });
  });

  test('is read without throwing, whatever JSON it is: accepted, or refused naming a field', () => {
    const anything = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(IMAGE, '1080p', 5, [IMAGE]));
    const body = fc
      .record(Object.fromEntries([...FIELDS, 'surprise'].map((name) => [name, anything])))
      .chain((fields) => fc.subarray(Object.entries(fields), { maxLength: 3 }));
    const outcomes = { accepted: 0, refused: 0 };

    fc.assert(
      fc.property(body, (fields) => {
        const { parsed } = parseVideo(aVideoBody(Object.fromEntries(fields)));
        outcomes[parsed.ok ? 'accepted' : 'refused']++;
        if (!parsed.ok) expect(Object.keys(parsed.error.fields).length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
    expect(outcomes.accepted).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
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
      expect(accepted({ ...least(model), durationSec })).toMatchObject({
        durationSec,
        billedSeconds: durationSec,
      });
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

describe('frames', () => {
  test('of xW2.7S: the first is required, and there is no last', () => {
    expect(problems({ model: 'xW2.7S' })).toEqual({ image: 'is required' });
    expect(problems({ model: 'xW2.7S', image: IMAGE })).toEqual({});
    expect(problems({ model: 'xW2.7S', image: IMAGE, lastFrame: LAST })).toEqual({
      lastFrame: 'xW2.7S takes no last frame',
    });
    expect(problems({ model: 'xW2.7S', lastFrame: LAST })).toEqual({
      image: 'is required',
      lastFrame: 'xW2.7S takes no last frame',
    });
  });

  test.each(WITH_INPUTS)('of $model: none, the first, or both, but not the last alone', ({ model }) => {
    expect(problems({ model })).toEqual({});
    expect(problems({ model, image: IMAGE })).toEqual({});
    expect(problems({ model, image: IMAGE, lastFrame: LAST })).toEqual({});
    expect(problems({ model, lastFrame: LAST })).toEqual({
      lastFrame: 'is only accepted together with image',
    });
  });

  test.each(['image', 'lastFrame'])('are https URLs without user information: %s', (name) => {
    const withFirst = (url: string) => ({ image: IMAGE, [name]: url });

    expect(problems(withFirst('http://media.example.com/a.png'))).toEqual({
      [name]: 'must be an absolute https URL',
    });
    expect(problems(withFirst('https://u:p@media.example.com/a.png'))).toEqual({
      [name]: 'must not carry user information',
    });
    expect(problems(withFirst(`https://media.example.com/${'a'.repeat(2048)}`))).toEqual({
      [name]: 'must be at most 2048 characters',
    });
  });
});

describe('references', () => {
  const LIMITS = [
    ['referenceImages', 10],
    ['referenceVideos', 5],
    ['referenceAudios', 5],
  ] as const;
  const cases = WITH_INPUTS.flatMap(({ model }) => LIMITS.map(([name, most]) => ({ model, name, most })));

  test.each(cases)('of $model: at most $most of $name', ({ model, name, most }) => {
    expect(accepted({ model, [name]: urlsOf('x', most) })[name]).toEqual(urlsOf('x', most));
    expect(problems({ model, [name]: urlsOf('x', most + 1) })).toEqual({
      [name]: `must hold at most ${most} URLs`,
    });
  });

  test.each(LIMITS)('of xW2.7S: none of %s, but an empty list is fine', (name, _most) => {
    expect(accepted({ ...least('xW2.7S'), [name]: [] })[name]).toEqual([]);
    expect(problems({ ...least('xW2.7S'), [name]: urlsOf('x', 1) })).toEqual({ [name]: 'xW2.7S takes none' });
  });

  test('of all kinds go together', () => {
    const all = Object.fromEntries(LIMITS.map(([name, most]) => [name, urlsOf('x', most)]));

    expect(accepted(all)).toMatchObject(all);
  });

  test.each(LIMITS)('and frames exclude each other: %s', (name, _most) => {
    const problem = { [name]: 'cannot be combined with image or lastFrame' };

    expect(problems({ image: IMAGE, [name]: urlsOf('x', 1) })).toEqual(problem);
    expect(problems({ image: IMAGE, lastFrame: LAST, [name]: urlsOf('x', 1) })).toEqual(problem);
    expect(problems({ image: IMAGE, [name]: [] })).toEqual({});
  });

  test('are each checked, and named by their place', () => {
    const wrong = ['https://ok.example.com/a.mp4', 'http://plain.example.com/b.mp4', 'not a url', 7];

    expect(problems({ referenceVideos: wrong })).toEqual({
      'referenceVideos[1]': 'must be an absolute https URL',
      'referenceVideos[2]': 'must be an absolute https URL',
      'referenceVideos[3]': 'must be a string',
    });
  });

  test('may lie on the own machine where the deployment allows that', async () => {
    const local = { referenceVideos: ['http://127.0.0.1:9000/clip.mp4'] };

    expect(problems(local)).toEqual({ 'referenceVideos[0]': 'must be an absolute https URL' });
    await withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () => expect(problems(local)).toEqual({}));
  });
});

describe('the clips that are left to be measured', () => {
  const clipsOf = (overrides: Record<string, unknown>) => parseVideo(aVideoBody(overrides)).clips;
  const referenceVideos = urlsOf('mp4', 2);

  test('are the reference videos, with the length of the output', () => {
    expect(clipsOf({ referenceVideos })).toMatchObject({ urls: referenceVideos, durationSec: 5 });
    expect(clipsOf({ referenceVideos, durationSec: 12 })).toMatchObject({ durationSec: 12 });
    expect(clipsOf({ referenceVideos })?.model.id).toBe('xW3.0s');
  });

  test.each<[string, Record<string, unknown>]>([
    ['without any', {}],
    ['with an empty list', { referenceVideos: [] }],
    ['with one whose URL is wrong', { referenceVideos: [...referenceVideos, 'http://a.example/c.mp4'] }],
    ['with too many', { referenceVideos: urlsOf('mp4', 6) }],
    ['beside a frame', { referenceVideos, image: IMAGE }],
    ['of a model that takes none', { ...least('xW2.7S'), referenceVideos }],
    ['of an unknown model', { model: 'none', referenceVideos }],
    ['of an image model', { model: 'xQI3Pro', referenceVideos }],
  ])('are none %s', (_, overrides) => {
    expect(clipsOf(overrides)).toBeUndefined();
  });

  test('are there although something else is wrong, so that all of it is told at once', () => {
    const { parsed, clips } = parseVideo(aVideoBody({ referenceVideos, prompt: '', durationSec: 99 }));

    expect(parsed.ok).toBe(false);
    expect(clips).toMatchObject({ urls: referenceVideos, durationSec: undefined });
  });
});
