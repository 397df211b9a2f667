import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { aGeneration, type Caller, newCaller, sharedService } from './support/client.ts';
import { balance } from './support/ledger.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService(), 100);
});

const fieldsOf = async (body: unknown) => wrongFields(await caller.post('/v1/generations', body));

describe('A creation names every wrong field at once, by its path', () => {
  test('across the whole body', async () => {
    const body = {
      model: 'xSD4.5',
      prompt: ' ',
      endUserEmail: 'ada',
      size: '1x1',
      aspectRatio: 'round',
      n: 1.5,
      references: ['https://example.com/a.png', 'ftp://example.com/b.png', 3],
      sequential: 'always',
      sequentialOptions: { maxImages: 0, order: 'random' },
      webhookUrl: 'here',
      seed: 1,
      // A computed name: a literal one would set the prototype.
      ['__proto__']: 1,
      'a.b[0]': 1,
    };

    expect(await fieldsOf(body)).toEqual(
      [
        ...['prompt', 'endUserEmail', 'size', 'aspectRatio', 'n', 'references[1]', 'references[2]'],
        ...['sequential', 'sequentialOptions.maxImages', 'sequentialOptions.order', 'webhookUrl', 'seed'],
        ...['__proto__', 'a.b[0]'],
      ].sort(),
    );
  });

  test.each([
    [
      { references: [1, null, 'x', ['https://example.com/a.png']] },
      [0, 1, 2, 3].map((i) => `references[${i}]`),
    ],
    [
      { sequential: 'auto', sequentialOptions: { a: 1, b: 2 } },
      ['sequentialOptions.a', 'sequentialOptions.b'],
    ],
    [{ sequential: 'auto', sequentialOptions: [] }, ['sequentialOptions']],
    [
      { n: 16, size: '8K', references: Array(11).fill('https://example.com/a.png') },
      ['n', 'references', 'size'],
    ],
    [{ prompt: null, model: null, endUserEmail: null }, ['endUserEmail', 'model', 'prompt']],
  ])('such as %j', async (more, fields) => {
    expect(await fieldsOf(aGeneration({ model: 'xSD4.5', ...more }))).toEqual(fields);
  });
});

describe('Text that is not Unicode, or not a URL', () => {
  test.each([
    ['half of a surrogate pair', 'https://example.com/\ud800'],
    ['a line break', 'https://exam\nple.com/'],
    ['a tab', 'https://example.com/a\tb'],
    ['a null character', 'https://example.com/\u0000'],
  ])('is refused in a URL: %s', async (_what, url) => {
    expect(await fieldsOf(aGeneration({ webhookUrl: url }))).toEqual(['webhookUrl']);
    expect(await fieldsOf(aGeneration({ model: 'xSD4.5', references: [url] }))).toEqual(['references[0]']);
  });

  test('is refused in every other field', async () => {
    for (const field of ['model', 'prompt', 'endUserEmail', 'size', 'aspectRatio', 'sequential', 'a\ud800']) {
      expect(await fieldsOf(aGeneration({ [field]: 'a\ud800@example.com' }))).toEqual([field]);
    }
  });
});

test('Wrong query parameters and headers are reported along with the body', async () => {
  const { body } = await caller.post<{ error: { fields: Record<string, string> } }>(
    '/v1/generations?page=1',
    { ...aGeneration(), model: 'nope', size: '1x1' },
    { 'idempotency-key': 'x'.repeat(256) },
  );

  expect(Object.keys(body.error.fields).sort()).toEqual(['Idempotency-Key', 'model', 'page']);
});

test('Nothing was charged for any of these', async () => {
  expect(await balance(caller)).toBe(100);
});
