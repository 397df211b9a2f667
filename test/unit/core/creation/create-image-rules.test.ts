import { describe, expect, test } from '@jest/globals';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { aGenerationBody, references } from '../../builders/bodies.ts';
import { accepted, problems, refused } from './parsed-images.ts';

describe('a creation of images', () => {
  test('needs a model, a prompt and an end-user, and nothing else', () => {
    const { model, ...rest } = accepted({});

    expect(model.id).toBe('xQI3Pro');
    expect(rest).toEqual({
      prompt: 'a lighthouse',
      endUserEmail: 'ada@example.com',
      size: '2K',
      aspectRatio: 'auto',
      images: 1,
      sequential: false,
      references: [],
      webhookUrl: undefined,
    });
    expect(refused({})).toEqual({
      model: 'is required',
      prompt: 'is required',
      endUserEmail: 'is required',
    });
  });

  test('keeps every given field', () => {
    const { model, ...rest } = accepted({
      model: 'xSD4.5',
      size: '4K',
      aspectRatio: 'portrait',
      references: references(2),
      sequential: 'auto',
      sequentialOptions: { maxImages: 5 },
      webhookUrl: 'https://hooks.example.com/x',
    });

    expect(model.id).toBe('xSD4.5');
    expect(rest).toEqual({
      prompt: 'a lighthouse',
      endUserEmail: 'ada@example.com',
      size: '4K',
      aspectRatio: 'portrait',
      images: 5,
      sequential: true,
      references: references(2),
      webhookUrl: 'https://hooks.example.com/x',
    });
  });

  test('reports every wrong field at once, by its dotted path', () => {
    const fields = refused({
      model: 'xSD4.5',
      prompt: '  ',
      endUserEmail: 'nobody',
      size: '1K',
      aspectRatio: 'wide',
      n: 0,
      references: ['https://images.example.com/0.png', 7, 'ftp://images.example.com/2.png'],
      sequential: 'on',
      sequentialOptions: { maxImages: 0, order: 'any' },
      webhookUrl: 'http://hooks.example.com/',
      colour: 'red',
    });

    expect(fields).toEqual({
      prompt: 'must not be empty',
      endUserEmail: 'must be an email address of at most 254 characters',
      size: 'must be one of 2K, 4K or <width>x<height> in whole pixels',
      aspectRatio: 'must be one of auto, square, landscape, portrait',
      n: 'must be at least 1',
      'references[1]': 'must be a string',
      'references[2]': 'must be an absolute https URL',
      sequential: 'must be auto',
      'sequentialOptions.maxImages': 'must be at least 1',
      'sequentialOptions.order': 'is not a known field',
      webhookUrl: 'must be an absolute https URL',
      colour: 'is not a known field',
    });
  });

  test.each([
    ...['model', 'prompt', 'endUserEmail', 'size', 'aspectRatio', 'n', 'references', 'sequential'],
    ...['sequentialOptions', 'webhookUrl'],
  ])('refuses null for %s: a field is absent or has its type', (name) => {
    expect(Object.keys(problems({ [name]: null }))).toEqual([name]);
  });

  test.each([
    ['model', 4.5],
    ['prompt', ['a', 'lighthouse']],
    ['endUserEmail', { email: 'ada@example.com' }],
    ['size', 2048],
    ['aspectRatio', true],
    ['n', '2'],
    ['references', 'https://images.example.com/0.png'],
    ['references', { 0: 'https://images.example.com/0.png' }],
    ['sequential', true],
    ['sequentialOptions', 5],
    ['sequentialOptions', [{ maxImages: 5 }]],
    ['webhookUrl', false],
  ])('refuses %s of another type: %j', (name, value) => {
    expect(Object.keys(problems({ [name]: value }))).toEqual([name]);
  });

  test.each(['colour', 'Prompt', 'toString', 'constructor', '__proto__'])(
    'refuses the unknown field %s',
    (name) => {
      const body = { ...aGenerationBody(), ...JSON.parse(`{ ${JSON.stringify(name)}: 1 }`) };

      expect(Object.entries(refused(body))).toEqual([[name, 'is not a known field']]);
    },
  );

  test.each(['order', 'constructor', '__proto__'])('refuses the unknown nested field %s', (name) => {
    const sequentialOptions = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`);

    expect(problems({ model: 'xSD4.5', sequential: 'auto', sequentialOptions })).toEqual({
      [`sequentialOptions.${name}`]: 'is not a known field',
    });
  });

  test('refuses too many references for themselves, not the length of a sequence because of them', () => {
    const references = Array.from({ length: 11 }, (_, index) => `https://a.example/${index}.png`);
    const sequence = { sequential: 'auto', sequentialOptions: { maxImages: 15 } };

    expect(problems({ model: 'xSD4.5', references, ...sequence })).toEqual({
      references: 'must hold at most 10 URLs',
    });
  });
});

describe('the model', () => {
  test.each(['xSD4', 'XSD4.5', '', 'xW3.0s', 'constructor'])(
    'may not be %p, which is not an image model',
    (model) => {
      expect(problems({ model, size: '9x9', n: 99 })).toEqual({ model: 'is not an image model' });
    },
  );

  test('is part of a refusal, so that its settings can still be looked up', () => {
    const parsed = parseImageRequest(aGenerationBody({ endUserEmail: ' Ada@Example.com', n: 0 }), false);

    expect(parsed).toMatchObject({ ok: false, model: { id: 'xQI3Pro' }, endUserEmail: 'ada@example.com' });
  });
});

describe('the prompt', () => {
  test('is trimmed', () => {
    expect(accepted({ prompt: '\n\t a lighthouse\u00a0 ' }).prompt).toBe('a lighthouse');
  });

  test.each([
    ['one character', 'x'],
    ['a character between invisible ones', '\u200bé\u200d'],
    ['4,000 characters', 'x'.repeat(4000)],
    ['4,000 characters between spaces', `  ${'x'.repeat(4000)}  `],
    ['4,000 characters of two code units each', '🌊'.repeat(4000)],
  ])('may have %s', (_, prompt) => {
    expect(accepted({ prompt }).prompt).toBe(prompt.trim());
  });

  test.each([
    ['nothing', '', 'must not be empty'],
    ['spaces only', ' \n\t\u2003', 'must not be empty'],
    ['invisible characters only', '\u200b\u200d\ufeff\u2060\u00ad', 'must not be empty'],
    ['fillers and blanks only', '\u3164\u115f\u2800 \u180e', 'must not be empty'],
    ['blanks of other scripts only', '\u{1d159}\u{16fe4}\uffa0\u1680\u3000', 'must not be empty'],
    ['noncharacters only', '\uffff\ufdd0\u{10ffff}', 'must not be empty'],
    ['tags and selectors only', '\u{e0041}\ufe0f\u202e\u0000', 'must not be empty'],
    ['4,001 characters', 'x'.repeat(4001), 'must be at most 4000 characters'],
    ['4,001 characters of two code units each', '🌊'.repeat(4001), 'must be at most 4000 characters'],
    ['a lone high surrogate', 'wave \ud83c', 'must be well-formed Unicode'],
    ['a lone low surrogate', '\udf0a wave', 'must be well-formed Unicode'],
  ])('may not have %s', (_, prompt, problem) => {
    expect(problems({ prompt })).toEqual({ prompt: problem });
  });
});

describe('n', () => {
  test.each([
    ['xSD4.5', 15],
    ['xSD5Pro', 15],
    ['xQI3Pro', 6],
    ['xZI1.0Pro', 1],
  ])('of %s goes from 1 to %p', (model, most) => {
    expect(accepted({ model, n: 1 }).images).toBe(1);
    expect(accepted({ model, n: most }).images).toBe(most);
    expect(problems({ model, n: most + 1 })).toEqual({ n: `must be at most ${most}` });
    expect(problems({ model, n: 0 })).toEqual({ n: 'must be at least 1' });
  });

  test('does not count references', () => {
    expect(accepted({ model: 'xSD5Pro', n: 15, references: references(10) }).images).toBe(15);
  });

  test.each([1.5, -1, 1e20, '1'])('may not be %p', (n) => {
    expect(Object.keys(problems({ n }))).toEqual(['n']);
  });
});
