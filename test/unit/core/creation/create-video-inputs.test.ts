import { describe, expect, test } from '@jest/globals';
import { urlsOf } from '../../builders/bodies.ts';
import { accepted, IMAGE, LAST, least, MODELS, problems } from './parsed-videos.ts';

const WITH_INPUTS = MODELS.filter(({ inputs }) => inputs);

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

  test.each(['image', 'lastFrame'])('are https URLs: %s', (name) => {
    expect(problems({ image: IMAGE, [name]: 'http://media.example.com/a.png' })).toEqual({
      [name]: 'must be an absolute https URL',
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
    expect(problems({ lastFrame: LAST, [name]: urlsOf('x', 1) })).toEqual({
      ...{ lastFrame: 'is only accepted together with image', ...problem },
    });
  });

  test('are checked one by one and reported by index', () => {
    const wrong = ['https://ok.example.com/a.mp4', 'http://plain.example.com/b.mp4', 'not a url', 7];

    expect(problems({ referenceVideos: wrong })).toEqual({
      'referenceVideos[1]': 'must be an absolute https URL',
      'referenceVideos[2]': 'must be an absolute https URL',
      'referenceVideos[3]': 'must be a string',
    });
  });

  test('may be on the local machine where private targets are allowed', () => {
    const local = { referenceVideos: ['http://127.0.0.1:9000/clip.mp4'] };

    expect(problems(local)).toEqual({ 'referenceVideos[0]': 'must be an absolute https URL' });
    expect(problems(local, true)).toEqual({});
  });
});
