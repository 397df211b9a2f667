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
    ['ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['ada\uFE6Bexample\u2024com', 'ada@example.com'],
    ['\u3000ada@example.com\u00A0', 'ada@example.com'],
    ['rene\u0301@example.com', 'ren\u00e9@example.com'],
    ['\u{1D41A}da@example.com', 'ada@example.com'],
    ['\uFB01@example.com', 'fi@example.com'],
    ['\u212Aelvin@example.com', 'kelvin@example.com'],
    ['ada@xn--bcher-kva.example', 'ada@bücher.example'],
    ['ADA@XN--BCHER-KVA.example', 'ada@bücher.example'],
    [`${' '.repeat(2_000 - 'ada@example.com'.length)}ada@example.com`, 'ada@example.com'],
    [`${' '.repeat(2_000 - 'ada@xn--p1ai.com'.length)}ada@xn--p1ai.com`, 'ada@рф.com'],
    ['ada@mail.xn--fsqu00a.xn--55qw42g', 'ada@mail.例子.公益'],
    ['xn--bcher-kva@example.com', 'xn--bcher-kva@example.com'],
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
    'ada\u00ad@example.com',
    'ada\u034f@example.com',
    'ada\u115f@example.com',
    'ada\u17b4@example.com',
    'ada\u180b@example.com',
    'ada\u2060@example.com',
    'ada\u3164@example.com',
    'ada\ufe0f@example.com',
    'ada\uffa0@example.com',
    'ada\u{e0100}@example.com',
    'ada@exam\u3164ple.com',
    'ada@exam\ufe0fple.com',
    'ada@exam\u00adple.xn--p1ai',
    'ada@xn--bcher-kva\u200b.example',
    'ada@exam%70le.xn--p1ai',
    'xn--bcher-kva.example',
    'bcher.xn--p1ai',
    'ada@example.com/.xn--p1ai',
    'ada@example.com?.xn--p1ai',
    'ada@example.com#.xn--p1ai',
    'ada@xn--p1ai\u3002com',
    'ada@xn--\u0000.example',
    'ada@xn--a.example',
    'ada@xn--99999999.example',
    'ada@xn--bcher-kva_.example',
    `${' '.repeat(2_000)}ada@example.com`,
    `${'\ufdfa'.repeat(100_000)}@example.com`,
  ])('%j is not one', (given) => {
    expect(isEmail(normalizeEmail(given))).toBe(false);
  });

  test('has at most 254 characters, 64 of them before the @', () => {
    expect(email(64, domain(189))).toHaveLength(254);
    expect(isEmail(email(64, domain(189)))).toBe(true);
    expect(isEmail(email(64, domain(190)))).toBe(false);
    expect(isEmail(email(65, domain(20)))).toBe(false);
  });

  test('has one identity in any spelling, and normalizing once is enough', () => {
    const spelled = fc.string({ unit: 'grapheme', maxLength: 20 }).map((local) => `${local}@example.com`);
    fc.assert(
      fc.property(spelled, fc.emailAddress(), fc.nat({ max: 3 }), (unicode, address, spaces) => {
        expect(normalizeEmail(' '.repeat(spaces) + address.toUpperCase())).toBe(normalizeEmail(address));
        for (const each of [unicode, address]) {
          const identity = normalizeEmail(each);
          for (const form of ['NFC', 'NFD', 'NFKC', 'NFKD'] as const) {
            expect(normalizeEmail(each.normalize(form))).toBe(identity);
          }
          expect(normalizeEmail(identity)).toBe(identity);
        }
      }),
    );
  });
});
