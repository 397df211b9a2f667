import { describe, expect, jest, test } from '@jest/globals';
import * as z from 'zod/mini';
import { logger } from '../../../core/observability.ts';
import {
  answerText,
  logUnreadable,
  numberOf,
  optional,
  optionalNumber,
  parseJson,
  readBody,
  reportedSeed,
  saidText,
  urlOf,
} from '../../../providers/http.ts';

const NO_NUMBERS = [undefined, null, '5', Number.NaN, Number.POSITIVE_INFINITY, true, [5], { value: 5 }];

describe('a part of an answer', () => {
  test.each([0, -1, 5.04, 2 ** 60])('is the number %d', (number) => {
    expect(z.parse(optionalNumber(), number)).toBe(number);
    expect(numberOf({ duration: number }, 'duration')).toBe(number);
  });

  test.each(NO_NUMBERS)('is no number, and hides nothing else: %p', (value) => {
    expect(z.parse(optionalNumber(), value)).toBeUndefined();
    expect(numberOf({ duration: value }, 'duration')).toBeUndefined();
  });

  test.each([undefined, null, 5, 'text', {}, { other: 5 }])('%j has no number of that name', (value) => {
    expect(numberOf(value, 'duration')).toBeUndefined();
  });

  test.each<[unknown, string | undefined]>([
    ['why', 'why'],
    ...['', 5, null, undefined, {}, ['why']].map((value): [unknown, undefined] => [value, undefined]),
  ])('%j is the text %p', (value, text) => {
    expect(z.parse(saidText(), value)).toBe(text);
  });

  test('is an id or a URL that may be absent, empty or null, and nothing else', () => {
    for (const absent of [undefined, null, '']) expect(z.parse(answerText(), absent)).toBeUndefined();
    expect(z.parse(answerText(), 'a')).toBe('a');
    expect(z.safeParse(answerText(), 5).success).toBe(false);
    expect([undefined, null, 5].map((value) => z.parse(optional(z.number()), value))).toEqual([
      ...[undefined, undefined, 5],
    ]);
    expect(z.safeParse(optional(z.number()), '5').success).toBe(false);
  });

  test.each<[unknown, string | undefined]>([
    ['https://a', 'https://a'],
    [{ url: 'https://a', width: 5 }, 'https://a'],
    [{ url: '' }, undefined],
    [{ url: null }, undefined],
    [{ href: 'https://a' }, undefined],
    [['https://a'], undefined],
    ['', undefined],
    [null, undefined],
    [5, undefined],
  ])('%j has the URL %p', (file, url) => {
    expect(urlOf(file)).toBe(url);
  });

  test.each([undefined, -1, 1.5, 2 ** 53, Number.NaN])('is no seed: %p', (seed) => {
    expect(reportedSeed(seed)).toEqual({});
  });

  test.each([0, 1, 2 ** 53 - 1])('is the seed %d', (seed) => {
    expect(reportedSeed(seed)).toEqual({ seed });
  });

  test('is read by its form, or not at all', () => {
    const form = z.object({ id: z.string() });

    expect(readBody(form, { id: 'a', more: 1 })).toEqual({ id: 'a' });
    for (const other of [undefined, null, 'a', {}, { id: 5 }]) expect(readBody(form, other)).toBeUndefined();
    expect([parseJson('{"a":1}'), parseJson('<html>'), parseJson('')]).toEqual([
      { a: 1 },
      undefined,
      undefined,
    ]);
  });
});

describe('an answer that cannot be read', () => {
  /** The shape by which an answer is logged; undefined when it is not. */
  const shapeOf = (body: unknown, status = 200): unknown => {
    const logged = jest.spyOn(logger, 'error').mockImplementation(() => undefined);
    logUnreadable('fal', 'query', status, body);
    const [, told] = logged.mock.calls[0] ?? [];
    logged.mockRestore();
    return (told as { shape?: unknown } | undefined)?.shape;
  };
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  const fieldsOf = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1]));

  test.each([
    [undefined, 'no JSON'],
    [null, 'null'],
    ['a secret', 'string'],
    [[1, 2, 'a'], '[number|string]'],
    [[], '[]'],
    [{}, '{}'],
    [{ task_id: 1, 'a key of a user': 1 }, '{task_id:number,?:number}'],
    [{ [`a${'b'.repeat(39)}`]: 1, [`a${'b'.repeat(40)}`]: 1 }, `{a${'b'.repeat(39)}:number,?:number}`],
    [nested(5), '{a:{a:{a:{a:{a:number}}}}}'],
    [nested(6), '{a:{a:{a:{a:{a:…}}}}}'],
  ])('is logged by its keys and types, without its content: %j', (body, shape) => {
    expect(shapeOf(body)).toBe(shape);
  });

  test('is cut to 30 fields and 2,000 characters', () => {
    expect(shapeOf(fieldsOf(30))).toMatch(/^\{field0:number,.*field29:number\}$/);
    expect(shapeOf(fieldsOf(31))).toMatch(/field29:number,…\}$/);
    expect(shapeOf(Array.from({ length: 30 }, (_, index) => fieldsOf(index + 1)))).toHaveLength(2_000);
  });

  test('is logged once with each status, and a hundred times in all', () => {
    expect([shapeOf({ once: 1 }), shapeOf({ once: 2 })]).toEqual(['{once:number}', undefined]);
    expect(shapeOf({ once: 1 }, 500)).toBe('{once:number}');
    const logged = Array.from({ length: 200 }, (_, index) => shapeOf({}, index)).filter(Boolean).length;

    // Those before it count, too.
    expect(logged).toBeLessThan(100);
    expect(logged).toBeGreaterThan(70);
    expect(shapeOf({ new: 1 })).toBeUndefined();
  });
});
