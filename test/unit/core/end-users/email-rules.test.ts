import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { isEmail, normalizeEmail } from '../../../../core/end-users/email-rules.ts';
import { aGenerationBody } from '../../builders/bodies.ts';

const email = (local: number, labels: string): string => `${'a'.repeat(local)}@${labels}`;
/** A domain of `length` characters, in labels of at most 60. */
const domain = (length: number): string => {
  let name = 'example.com';
  while (name.length < length) name = `${'d'.repeat(Math.min(60, length - name.length - 1))}.${name}`;
  return name;
};

describe('an email address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['  Ada.Lovelace@Example.COM \n', 'ada.lovelace@example.com'],
    ['ada+generation-service@example.com', 'ada+generation-service@example.com'],
    ["o'brien_1%x@mail.example.co.uk", "o'brien_1%x@mail.example.co.uk"],
    ['ÄDA@BÜCHER.example', 'äda@bücher.example'],
    ['用户@例子.广告', '用户@例子.广告'],
  ])('%j identifies the end-user %s', (given, identity) => {
    const parsed = parseImageRequest(aGenerationBody({ endUserEmail: given }), false);

    expect(parsed).toMatchObject({ ok: true, creation: { endUserEmail: identity } });
  });

  test.each([
    '',
    ' ',
    'ada',
    'ada@',
    '@example.com',
    'ada@example',
    'ada@@example.com',
    'ada@ex@ample.com',
    'ada lovelace@example.com',
    'ada@exa mple.com',
    '.ada@example.com',
    'ada.@example.com',
    'a..da@example.com',
    'ada@.example.com',
    'ada@example..com',
    'ada@example.com.',
    'ada@-example.com',
    'ada@example-.com',
    'Ada <ada@example.com>',
    '"ada"@example.com',
    'ada@[127.0.0.1]',
    'ada,bob@example.com',
    'ada\u0000@example.com',
    'ada\u200b@example.com',
    'ada\ud800@example.com',
  ])('%j is not one', (given) => {
    expect(isEmail(normalizeEmail(given))).toBe(false);
  });

  test('has at most 254 characters, 64 of them before the @', () => {
    expect(email(64, domain(189))).toHaveLength(254);
    expect(isEmail(email(64, domain(189)))).toBe(true);
    expect(isEmail(email(64, domain(190)))).toBe(false);
    expect(isEmail(email(65, domain(20)))).toBe(false);
  });

  test('has one identity in any spelling, and normalizing is idempotent', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.nat({ max: 3 }), (address, spaces) => {
        const identity = normalizeEmail(' '.repeat(spaces) + address.toUpperCase());

        expect(identity).toBe(normalizeEmail(address));
        expect(normalizeEmail(identity)).toBe(identity);
      }),
    );
  });
});
