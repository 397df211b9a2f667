import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { idempotencyKeyProblem, idempotencyOf } from '../../../../core/creation/idempotency.ts';

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

describe('the fingerprint of a body', () => {
  test('does not depend on the order of fields, at any depth', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (body) => {
        expect(fingerprint(reordered(body))).toBe(fingerprint(body));
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
