import { beforeAll, describe, expect, test } from '@jest/globals';
import { wrongFields } from './support/answers.ts';
import { anUndrawnGeneration, type Caller, newCaller, sharedService } from './support/client.ts';

let caller: Caller;
beforeAll(async () => {
  caller = await newCaller(await sharedService());
});

const create = (body: Record<string, unknown>) =>
  caller.post<{ prompt: string; endUserEmail: string }>('/v1/generations', anUndrawnGeneration(body));

/** A prompt of this length; `[fail=content_policy]` makes the provider refuse it without drawing. */
const promptOf = (characters: number) => '[fail=content_policy]'.padEnd(characters, '.');

describe('model', () => {
  test.each([
    ['a video model', 'xW3.0s'],
    ['an unknown model', 'xSD9'],
    ['in the wrong case', 'xsd4.5'],
    ['the name of an inherited property', 'toString'],
    ['empty', ''],
    ['a number', 1],
    ['null', null],
  ])('is refused when it is %s', async (_what, model) => {
    expect(wrongFields(await create({ model }))).toEqual(['model']);
  });

  test('is checked before the fields whose rules depend on the model', async () => {
    expect(wrongFields(await create({ model: 'xSD9', size: '9x9', n: 99 }))).toEqual(['model']);
  });
});

describe('prompt', () => {
  test('is echoed trimmed', async () => {
    const { status, body } = await create({ prompt: ' \n [fail=content_policy] a  pier\t ' });

    expect([status, body.prompt]).toEqual([202, '[fail=content_policy] a  pier']);
  });

  test('holds at most 4,000 characters after trimming', async () => {
    expect((await create({ prompt: promptOf(4000) })).status).toBe(202);
    expect((await create({ prompt: `   ${promptOf(4000)}   ` })).status).toBe(202);
    expect(wrongFields(await create({ prompt: promptOf(4001) }))).toEqual(['prompt']);
  });

  test.each([[''], ['   \n\t'], [7], [null], [['a pier']]])('is refused when it is %j', async (prompt) => {
    expect(wrongFields(await create({ prompt }))).toEqual(['prompt']);
  });
});

describe('endUserEmail', () => {
  test('is echoed trimmed and in lower case', async () => {
    const { status, body } = await create({ endUserEmail: '  Ada.Lovelace+Test@Example.COM ' });

    expect([status, body.endUserEmail]).toEqual([202, 'ada.lovelace+test@example.com']);
  });

  test('holds at most 254 characters', async () => {
    const domain = `${Array(3).fill('d'.repeat(63)).join('.')}.com`;
    const longest = `${'l'.repeat(254 - 1 - domain.length)}@${domain}`;

    expect((await create({ endUserEmail: longest })).status).toBe(202);
    expect(wrongFields(await create({ endUserEmail: `l${longest}` }))).toEqual(['endUserEmail']);
  });

  test.each([
    [''],
    ['ada'],
    ['ada@'],
    ['@example.com'],
    ['ada@@example.com'],
    ['ada lovelace@example.com'],
    ['ada@example..com'],
    ['ada@example.com, bob@example.com'],
    [7],
    [null],
  ])('is refused when it is %j', async (endUserEmail) => {
    expect(wrongFields(await create({ endUserEmail }))).toEqual(['endUserEmail']);
  });
});

describe('n', () => {
  test.each([
    ['xSD4.5', 15],
    ['xSD5Pro', 15],
    ['xQI3Pro', 6],
    ['xZI1.0Pro', 1],
  ])('for %s is at most %i', async (model, most) => {
    expect((await create({ model, n: most })).status).toBe(202);
    expect(wrongFields(await create({ model, n: most + 1 }))).toEqual(['n']);
  });

  test.each([[0], [-1], [1.5], ['2'], [true], [null]])('is refused when it is %j', async (n) => {
    expect(wrongFields(await create({ model: 'xSD4.5', n }))).toEqual(['n']);
  });
});

describe('sequential', () => {
  test('is accepted by a model that supports it', async () => {
    expect((await create({ model: 'xSD4.5', sequential: 'auto' })).status).toBe(202);
  });

  test.each(['xSD5Pro', 'xQI3Pro', 'xZI1.0Pro'])('is refused by %s', async (model) => {
    expect(wrongFields(await create({ model, sequential: 'auto' }))).toEqual(['sequential']);
  });

  test.each([['Auto'], ['disabled'], [''], [true], [null]])(
    'is refused when it is %j',
    async (sequential) => {
      expect(wrongFields(await create({ model: 'xSD4.5', sequential }))).toEqual(['sequential']);
    },
  );

  test('requires n = 1', async () => {
    expect((await create({ model: 'xSD4.5', sequential: 'auto', n: 1 })).status).toBe(202);
    expect(wrongFields(await create({ model: 'xSD4.5', sequential: 'auto', n: 2 }))).toEqual(['n']);
  });
});

describe('sequentialOptions.maxImages', () => {
  const references = (count: number) =>
    Array.from({ length: count }, (_, i) => `https://example.com/${i}.png`);
  const sequence = (sequentialOptions: unknown, more: Record<string, unknown> = {}) =>
    create({ model: 'xSD4.5', sequential: 'auto', sequentialOptions, ...more });

  test.each([1, 15])('is accepted when it is %i', async (maxImages) => {
    expect((await sequence({ maxImages })).status).toBe(202);
  });

  test.each([[0], [16], [-1], [2.5], ['3'], [null]])('is refused when it is %j', async (maxImages) => {
    expect(wrongFields(await sequence({ maxImages }))).toEqual(['sequentialOptions.maxImages']);
  });

  test('plus the number of references is at most maxImagesPerRequest', async () => {
    expect((await sequence({ maxImages: 5 }, { references: references(10) })).status).toBe(202);
    expect(wrongFields(await sequence({ maxImages: 6 }, { references: references(10) }))).toEqual([
      'sequentialOptions.maxImages',
    ]);
  });

  test('is refused without sequential', async () => {
    expect(wrongFields(await create({ model: 'xSD4.5', sequentialOptions: { maxImages: 2 } }))).toEqual([
      'sequentialOptions.maxImages',
    ]);
  });

  test.each([[null], [[]], ['auto'], [3]])('is refused when its parent is %j', async (options) => {
    expect(wrongFields(await sequence(options))).toEqual(['sequentialOptions']);
  });
});

describe('Unknown fields', () => {
  test('are refused by name, or by path when nested', async () => {
    const body = { model: 'xSD4.5', sequential: 'auto', sequentialOptions: { max: 2 }, seed: 1, N: 2 };

    expect(wrongFields(await create(body))).toEqual(['N', 'seed', 'sequentialOptions.max']);
  });

  test('are refused when named like inherited object properties', async () => {
    const body = JSON.stringify(
      anUndrawnGeneration({ model: 'xSD4.5', sequential: 'auto', sequentialOptions: { toString: 1 } }),
    );
    const withInherited = body.replace('{', '{"__proto__":{},"constructor":1,');

    expect(wrongFields(await caller.post('/v1/generations', withInherited))).toEqual([
      '__proto__',
      'constructor',
      'sequentialOptions.toString',
    ]);
  });
});

describe('Every error is reported at once', () => {
  test('across all fields', async () => {
    const answer = await caller.post('/v1/generations', {
      model: 'xSD4.5',
      prompt: '',
      size: '1K',
      aspectRatio: 'round',
      n: 16,
      references: ['https://example.com/a.png', 'ftp://example.com/b.png', 3],
      sequential: 'never',
      sequentialOptions: { maxImages: 0, min: 1 },
      webhookUrl: 'example.com',
      seed: 1,
    });

    expect(wrongFields(answer)).toEqual(
      [
        'aspectRatio',
        'endUserEmail',
        'n',
        'prompt',
        'references[1]',
        'references[2]',
        'seed',
        'sequential',
        'sequentialOptions.maxImages',
        'sequentialOptions.min',
        'size',
        'webhookUrl',
      ].sort(),
    );
  });

  test('for null, which is not the same as absent', async () => {
    const optional = [
      'size',
      'aspectRatio',
      'n',
      'references',
      'sequential',
      'sequentialOptions',
      'webhookUrl',
    ];

    const answer = await create(Object.fromEntries(optional.map((name) => [name, null])));

    expect(wrongFields(answer)).toEqual(optional.sort());
  });

  test('for values of the wrong type', async () => {
    const optional = [
      'size',
      'aspectRatio',
      'n',
      'references',
      'sequential',
      'sequentialOptions',
      'webhookUrl',
    ];

    const answer = await create(Object.fromEntries(optional.map((name) => [name, true])));

    expect(wrongFields(answer)).toEqual(optional.sort());
  });
});
