import { describe, expect, test } from '@jest/globals';
import { ValidationError } from '../../../core/errors.ts';
import { ApiRequest, checkAll, wrongFields } from '../../../functions/http/api-request.ts';
import { PAGE_QUERY } from '../../../functions/http/queries.ts';
import { anApiEvent } from '../builders/api-events.ts';
import { NOW } from '../builders/clocks.ts';

const aRequest = (options: Parameters<typeof anApiEvent>[0]) => new ApiRequest(anApiEvent(options), NOW);
const KIB = 1024;

describe('the body of a request', () => {
  const readBody = (body: unknown, isBase64Encoded = false) => aRequest({ body, isBase64Encoded }).readBody();
  /** A JSON object of exactly this many bytes. */
  const ofBytes = (bytes: number, filler = 'a') =>
    `{"prompt":"${filler.repeat((bytes - 13) / Buffer.byteLength(filler))}"}`;

  test.each([
    ['is missing', undefined],
    ['is empty', ''],
    ['is an empty object', '{}'],
  ])('counts as {} when it %s', (_, body) => {
    expect(readBody(body)).toEqual({ ok: true, body: {} });
  });

  test('is a JSON object, base64 or not', () => {
    const text = '{"prompt":"ünïcode 🌊"}';

    expect(readBody(text)).toEqual({ ok: true, body: { prompt: 'ünïcode 🌊' } });
    expect(readBody(Buffer.from(text).toString('base64'), true)).toEqual(readBody(text));
  });

  test.each([
    ['a byte of another encoding', Buffer.from('{"prompt":"caf\\u00e9 \u00e9"}', 'latin1')],
    ['half a character', Buffer.from('{"prompt":"ü"}').subarray(0, 12)],
    ['a surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ])('is refused when it is not UTF-8: %s', (_, bytes) => {
    expect(readBody(bytes.toString('base64'), true)).toMatchObject({
      ok: false,
      error: { code: 'validation_error', fields: { body: 'must be UTF-8' } },
    });
  });

  test('may begin with a byte order mark, which is no part of it', () => {
    const marked = (text: string) => readBody(Buffer.from(`\uFEFF${text}`).toString('base64'), true);

    expect(marked('{"prompt":"\uFEFFx"}')).toEqual({ ok: true, body: { prompt: '\uFEFFx' } });
    expect(readBody('\uFEFF{"n":1}')).toEqual({ ok: true, body: { n: 1 } });
    expect(marked('')).toEqual({ ok: true, body: {} });
    expect(marked('\uFEFF{}')).toMatchObject({ ok: false });
  });

  test('may hold the replacement character itself', () => {
    const text = '{"prompt":"\ufffd"}';

    expect(readBody(Buffer.from(text).toString('base64'), true)).toEqual({
      ok: true,
      body: { prompt: '\ufffd' },
    });
  });

  test('keeps a field of any name, so that it can be refused', () => {
    const read = readBody('{"__proto__":1,"constructor":2}');

    expect(read.ok && Object.keys(read.body)).toEqual(['__proto__', 'constructor']);
  });

  test.each([
    ['{', 'must be JSON'],
    ['prompt=x', 'must be JSON'],
    ["{'prompt':1}", 'must be JSON'],
    [' ', 'must be JSON'],
    ['null', 'must be a JSON object'],
    ['[]', 'must be a JSON object'],
    ['[{"prompt":"x"}]', 'must be a JSON object'],
    ['"text"', 'must be a JSON object'],
    ['5', 'must be a JSON object'],
    ['true', 'must be a JSON object'],
  ])('is refused when it is %j: it %s', (body, problem) => {
    expect(readBody(body)).toMatchObject({
      ok: false,
      error: { code: 'validation_error', fields: { body: problem } },
    });
  });

  test('may have 256 KiB on the wire and not a byte more', () => {
    const tooLarge = { ok: false, error: { fields: { body: 'must be at most 256 KiB' } } };
    const inBase64 = (text: string) => readBody(Buffer.from(text).toString('base64'), true);

    expect(readBody(ofBytes(256 * KIB))).toMatchObject({ ok: true });
    expect(readBody(ofBytes(256 * KIB + 1))).toMatchObject(tooLarge);
    expect(inBase64(ofBytes(256 * KIB))).toMatchObject({ ok: true });
    expect(inBase64(ofBytes(256 * KIB + 1))).toMatchObject(tooLarge);
    expect(readBody(ofBytes(256 * KIB + 1, 'é'))).toMatchObject(tooLarge);
  });
});

describe('the query of a request', () => {
  const page = (query: Record<string, string[]>) => aRequest({ query }).query(PAGE_QUERY);
  const refusal = (query: Record<string, string[]>): Record<string, string> => {
    try {
      page(query);
    } catch (error) {
      if (error instanceof ValidationError) return { ...error.fields };
      throw error;
    }
    return {};
  };

  test('defaults to the first page of 20', () => {
    expect(aRequest({}).query(PAGE_QUERY)).toEqual({ page: 1, pageSize: 20 });
    expect(page({})).toEqual({ page: 1, pageSize: 20 });
  });

  test.each([
    [
      { page: ['1'], pageSize: ['1'] },
      { page: 1, pageSize: 1 },
    ],
    [
      { page: ['1000000'], pageSize: ['50'] },
      { page: 1_000_000, pageSize: 50 },
    ],
    [{ pageSize: ['7'] }, { page: 1, pageSize: 7 }],
  ])('may be %j', (query, expected) => {
    expect(page(query)).toEqual(expected);
  });

  const PAGE_TEXT = 'must be a whole number from 1 to 1000000';
  const SIZE_TEXT = 'must be a whole number from 1 to 50';

  test.each([
    [{ page: ['0'] }, { page: 'must be at least 1' }],
    [{ page: ['1000001'] }, { page: 'must be at most 1000000' }],
    [{ pageSize: ['0'] }, { pageSize: 'must be at least 1' }],
    [{ pageSize: ['51'] }, { pageSize: 'must be at most 50' }],
    [{ page: ['-1'] }, { page: PAGE_TEXT }],
    [{ page: [''] }, { page: PAGE_TEXT }],
    [{ page: ['x'] }, { page: PAGE_TEXT }],
    [{ page: ['1.0'] }, { page: PAGE_TEXT }],
    [{ page: ['1e3'] }, { page: PAGE_TEXT }],
    [{ page: ['0x10'] }, { page: PAGE_TEXT }],
    [{ page: [' 1'] }, { page: PAGE_TEXT }],
    [{ page: ['٣'] }, { page: PAGE_TEXT }],
    [{ pageSize: ['99999999999999999999'] }, { pageSize: SIZE_TEXT }],
    [{ page: ['1', '2'] }, { page: 'is given more than once' }],
    [{ page: ['1', '1'] }, { page: 'is given more than once' }],
    [{ Page: ['1'] }, { Page: 'is not a known field' }],
    [{ cursor: ['x'] }, { cursor: 'is not a known field' }],
    [{ constructor: ['x'] }, { constructor: 'is not a known field' }],
    [
      { page: ['0'], pageSize: ['x'], cursor: ['a', 'b'] },
      { page: 'must be at least 1', pageSize: SIZE_TEXT, cursor: 'is given more than once' },
    ],
  ])('may not be %j', (query, fields) => {
    expect(refusal(query as unknown as Record<string, string[]>)).toEqual(fields);
  });

  test('may not name __proto__', () => {
    expect(Object.keys(refusal(JSON.parse('{"__proto__":["x"]}')))).toEqual(['__proto__']);
    expect(Object.keys(refusal(JSON.parse('{"__proto__":["x","y"]}')))).toEqual(['__proto__']);
  });
});

describe('a parameter of the path', () => {
  const parameter = (value: string) => aRequest({ pathParameters: { email: value } });

  test.each([
    ['a%2Bb%40example.com', 'a+b@example.com'],
    ['a+b@example.com', 'a+b@example.com'],
    ['j%C3%BCrgen@example.com', 'jürgen@example.com'],
    ['a%2525@example.com', 'a%25@example.com'],
    ['a%2Fb@example.com', 'a/b@example.com'],
  ])('%j is decoded once: %j', (given, expected) => {
    expect(parameter(given).pathParameter('email')).toBe(expected);
    expect(parameter(given).emailParameter()).toBe(expected);
  });

  test.each(['%', '%2', '%zz', '%C3', '%C3%28', '%ED%A0%80'])('%j is refused: it is not UTF-8', (given) => {
    for (const read of [parameter(given).pathParameter, parameter(given).emailParameter]) {
      expect(() => read.call(parameter(given), 'email')).toThrow(
        expect.objectContaining({ code: 'validation_error', fields: { email: 'is not URL-encoded UTF-8' } }),
      );
    }
  });

  test('that is an email address is normalized, and any other is refused', () => {
    expect(parameter('%20ADA@Example.com%20').emailParameter()).toBe('ada@example.com');
    for (const given of ['', 'ada', 'a%0Ab@example.com', `${'a'.repeat(250)}@b.cd`]) {
      expect(() => parameter(given).emailParameter()).toThrow(
        expect.objectContaining({ fields: { email: 'must be an email address' } }),
      );
    }
  });
});

describe('the Idempotency-Key of a request', () => {
  test('that is given more than once is refused, however its name is spelled', () => {
    const event = anApiEvent({ headers: { 'Idempotency-Key': 'b' } });
    for (const multiValueHeaders of [
      { 'Idempotency-Key': ['a', 'b'] },
      { 'idempotency-key': ['a'], 'Idempotency-Key': ['a'] },
    ]) {
      const request = new ApiRequest({ ...event, multiValueHeaders }, NOW);

      expect(() => request.idempotencyKey()).toThrow(
        expect.objectContaining({ fields: { 'Idempotency-Key': 'is given more than once' } }),
      );
    }
  });

  const keyIn = (headers: Record<string, string>) => aRequest({ headers }).idempotencyKey();

  test('is found in any case of the header name', () => {
    expect(keyIn({ 'IDEMPOTENCY-KEY': 'k' })).toBe('k');
    expect(keyIn({ 'Idempotency-Key': 'k' })).toBe('k');
  });

  test('is undefined when absent', () => {
    expect(keyIn({})).toBeUndefined();
  });

  test.each(['', 'é', 'x'.repeat(256)])('is refused as a field when it is %j', (key) => {
    expect(() => keyIn({ 'Idempotency-Key': key })).toThrow(
      expect.objectContaining({ fields: { 'Idempotency-Key': 'must be 1 to 255 printable characters' } }),
    );
  });
});

describe('the rest of a request', () => {
  test('has case-insensitive headers', () => {
    const request = aRequest({ headers: { AUTHORIZATION: 'Bearer x' } });

    expect(request.header('authorization')).toBe('Bearer x');
    expect(request.header('Authorization')).toBe('Bearer x');
    expect(request.header('X-Other')).toBeUndefined();
  });

  test('has the parameters of its route, and no other', () => {
    const request = aRequest({ resource: '/v1/things/{id}', pathParameters: { id: 'a' } });

    expect(request.pathParameter('id')).toBe('a');
    expect(() => request.pathParameter('email')).toThrow('Route /v1/things/{id} has no parameter email.');
  });
});

describe('several checks of one request', () => {
  const wrong = (field: string) => () => {
    throw new ValidationError({ [field]: 'is wrong' });
  };
  const right = () => 'fine';

  test('report everything wrong at once', () => {
    expect(() => checkAll(wrong('page'), right, wrong('model'))).toThrow(
      expect.objectContaining({ name: 'ValidationError', fields: { page: 'is wrong', model: 'is wrong' } }),
    );
  });

  test('report a field named __proto__ like any other', () => {
    const fields = wrongFields(right, wrong('__proto__'), wrong('page'));

    expect(Object.keys(fields)).toEqual(['__proto__', 'page']);
  });

  test('pass when nothing is wrong', () => {
    expect(wrongFields(right, right)).toEqual({});
    expect(() => checkAll(right)).not.toThrow();
  });

  test('hide no other error', () => {
    const broken = () => {
      throw new TypeError('a bug');
    };

    expect(() => wrongFields(wrong('page'), broken)).toThrow('a bug');
  });
});
