import '../../builders/environment.ts';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  idempotencyKeyProblem,
  idempotencyOf,
  keepKeyWrite,
  keptRequest,
} from '../../../../core/creation/idempotency.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { ACCOUNT_ID, REQUEST_ID } from '../../builders/entities.ts';

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

  test('is 1 to 255 printable ASCII characters, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300, size: 'max' }), (key) => {
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

  test('tells any two bodies apart that differ in more than the order of fields', () => {
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
  ])('tells %j from %j', (one, other) => {
    expect(fingerprint(one)).not.toBe(fingerprint(other));
  });

  test('keeps a field named __proto__', () => {
    expect(fingerprint(JSON.parse('{"__proto__":{"n":1}}'))).not.toBe(fingerprint({}));
  });

  test('is of one route', () => {
    expect(fingerprint({}, 'POST /v1/videos')).not.toBe(fingerprint({}));
  });
});

describe('what a key led to', () => {
  const kept = { requestId: REQUEST_ID, fingerprint: 'f' };
  const item = { ...kept, keptUntil: atSeconds(86_400).toISOString() };

  test('is written on the condition that the key is free, or its 24 h are over', () => {
    expect(keepKeyWrite(ACCOUNT_ID, { keyDigest: 'd', fingerprint: 'f' }, REQUEST_ID, NOW)).toStrictEqual({
      Put: {
        TableName: 'table',
        Item: {
          PK: `ACCOUNT#${ACCOUNT_ID}`,
          SK: 'IDEMPOTENCY#d',
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
  ])('is known %p s later, whether or not it was swept: %p', (seconds, isKept) => {
    expect(keptRequest(item, atSeconds(seconds))).toEqual(isKept ? expect.objectContaining(kept) : undefined);
  });

  test('is nothing for a key that was never used', () => {
    expect(keptRequest(undefined, NOW)).toBeUndefined();
  });
});
