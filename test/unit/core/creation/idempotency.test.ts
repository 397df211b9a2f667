import '../../builders/environment.ts';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  idempotencyKeyProblem,
  idempotencyOf,
  insertIdempotencyRecordWrite,
  repeatedRequestId,
  toIdempotencyRecord,
} from '../../../../core/creation/idempotency.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';
import { anyCharacter } from '../../builders/texts.ts';

const ROUTE = 'POST /v1/generations';
const fingerprint = (body: unknown, route = ROUTE) => idempotencyOf('key', route, body).fingerprint;
const digest = (text: string) => createHash('sha256').update(text).digest('hex');

describe('an Idempotency-Key', () => {
  test.each(['a', ' ', '~', 'x'.repeat(255), '5f2c-11 "quoted" \\ #', '!@$%^&*()'])('can be %j', (key) => {
    expect(idempotencyKeyProblem(key)).toBeUndefined();
  });

  test.each(['', 'x'.repeat(256), 'a\tb', 'a\n', '\u007f', '\u0000', 'é', '🌊', '\u00a0'])(
    'cannot be %j',
    (key) => {
      expect(idempotencyKeyProblem(key)).toBe('must be 1 to 255 printable characters');
    },
  );

  test('is any 1 to 255 printable ASCII characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 300, size: 'max' }), (key) => {
        const fits =
          key.length >= 1 && key.length <= 255 && [...key].every((each) => each >= ' ' && each <= '~');

        expect(idempotencyKeyProblem(key) === undefined).toBe(fits);
      }),
      { numRuns: 500 },
    );
  });

  test('is kept as a digest of its own, which says nothing of the body', () => {
    expect(idempotencyOf('key', ROUTE, { prompt: 'a' }).keyDigest).toBe(digest('key'));
    expect(idempotencyOf('key', ROUTE, { prompt: 'b' }).keyDigest).toBe(digest('key'));
    expect(idempotencyOf('Key', ROUTE, {}).keyDigest).not.toBe(digest('key'));
  });
});

/** The same JSON value with the fields of every object in another order. */
const reordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reordered);
  if (value === null || typeof value !== 'object') return value;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, nested] of Object.entries(value).reverse()) copy[name] = reordered(nested);
  return copy;
};

/** A value as JSON carries it: -0 is 0. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe('the fingerprint of a body', () => {
  test('does not depend on the order of fields, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (body) => {
        expect(fingerprint(reordered(body))).toBe(fingerprint(body));
      }),
    );
  });

  test('differs for any two bodies that differ in more than field order', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.jsonValue({ maxDepth: 3 }), (one, other) => {
        fc.pre(!isDeepStrictEqual(plain(one), plain(other)));
        expect(fingerprint(one)).not.toBe(fingerprint(other));
      }),
    );
  });

  test.each<[unknown, unknown]>([
    [{ n: 1 }, { n: '1' }],
    [{ n: 1 }, { n: 2 }],
    [{ n: 1 }, {}],
    [{ n: null }, {}],
    [{ references: ['a', 'b'] }, { references: ['b', 'a'] }],
    [{ a: { b: 1 } }, { a: [{ b: 1 }] }],
    [{ prompt: 'a' }, { prompt: 'A' }],
    [{ prompt: 'a' }, { prompt: 'a ' }],
    [
      { 1: 'a', 2: 'b' },
      { 1: 'b', 2: 'a' },
    ],
  ])('differs for %j and %j', (one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other));
  });

  test('keeps a field named __proto__', () => {
    expect(fingerprint(JSON.parse('{"__proto__":{"n":1}}'))).not.toBe(fingerprint({}));
  });

  test('differs by route', () => {
    expect(fingerprint({}, 'POST /v1/videos')).not.toBe(fingerprint({}));
  });
});

describe('the record of a key', () => {
  const record = { requestId: REQUEST_ID, fingerprint: 'f' };
  const item = { ...record, keptUntil: atSeconds(86_400).toISOString() };

  test('is written only if the key is free or its 24 h have passed', () => {
    const idempotency = { keyDigest: 'd', fingerprint: 'f' };
    expect(insertIdempotencyRecordWrite(ACCOUNT_ID, idempotency, REQUEST_ID, NOW)).toStrictEqual({
      Put: {
        TableName: 'table',
        Item: {
          PK: `IDEMPOTENCY#${ACCOUNT_ID}`,
          SK: 'KEY#d',
          fingerprint: 'f',
          requestId: REQUEST_ID,
          keptUntil: atSeconds(86_400).toISOString(),
          ttl: NOW.getTime() / 1000 + 86_400,
        },
        ConditionExpression: 'attribute_not_exists(PK) OR keptUntil <= :now',
        ExpressionAttributeValues: { ':now': NOW.toISOString() },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    });
  });

  test.each([
    [0, true],
    [86_399.999, true],
    [86_400, false],
    [86_400.001, false],
  ])('is valid %p s later, even if TTL has not removed it: %p', (seconds, isValid) => {
    expect(toIdempotencyRecord(item, atSeconds(seconds))).toEqual(
      isValid ? expect.objectContaining(record) : undefined,
    );
  });

  test('does not exist for a key that was never used', () => {
    expect(toIdempotencyRecord(undefined, NOW)).toBeUndefined();
  });

  test('names the request that the same key and body created', () => {
    expect(repeatedRequestId({ keyDigest: 'd', fingerprint: 'f' }, record)).toBe(REQUEST_ID);
    expect(repeatedRequestId({ keyDigest: 'd', fingerprint: 'g' }, record)).toBeUndefined();
    expect(repeatedRequestId({ keyDigest: 'd', fingerprint: 'f' }, undefined)).toBeUndefined();
    expect(repeatedRequestId(undefined, undefined)).toBeUndefined();
  });
});
