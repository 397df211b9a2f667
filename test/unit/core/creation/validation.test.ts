import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseImageRequest } from '../../../../core/creation/create-image-rules.ts';
import { fieldPath, isEmail, normalizeEmail, urlProblem } from '../../../../core/creation/validation.ts';
import { aGenerationBody } from '../../builders/bodies.ts';
import { withEnvironment } from '../../builders/environment.ts';

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
    const parsed = parseImageRequest(aGenerationBody({ endUserEmail: given }));

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
  ])('%j is none', (given) => {
    expect(isEmail(normalizeEmail(given))).toBe(false);
  });

  test('has at most 254 characters, 64 of them before the @', () => {
    expect(email(64, domain(189))).toHaveLength(254);
    expect(isEmail(email(64, domain(189)))).toBe(true);
    expect(isEmail(email(64, domain(190)))).toBe(false);
    expect(isEmail(email(65, domain(20)))).toBe(false);
  });

  test('is the same identity however it is written, and normalizing it again changes nothing', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.nat({ max: 3 }), (address, spaces) => {
        const identity = normalizeEmail(' '.repeat(spaces) + address.toUpperCase());

        expect(identity).toBe(normalizeEmail(address));
        expect(normalizeEmail(identity)).toBe(identity);
      }),
    );
  });
});

describe('a URL given by a caller', () => {
  const HTTPS_ONLY = 'must be an absolute https URL';

  test.each([
    'https://example.com',
    'https://example.com:8443/a/b.png?x=1#y',
    'HTTPS://EXAMPLE.COM/',
    'https://xn--bcher-kva.example/',
    `https://example.com/${'a'.repeat(2048 - 20)}`,
  ])('may be %s', (url) => {
    expect(urlProblem(url, false)).toBeUndefined();
  });

  test.each([
    ['http://example.com/', HTTPS_ONLY],
    ['http://127.0.0.1/', HTTPS_ONLY],
    ['http://localhost:3000/', HTTPS_ONLY],
    ['ftp://example.com/', HTTPS_ONLY],
    ['file:///etc/passwd', HTTPS_ONLY],
    ['data:image/png;base64,AAAA', HTTPS_ONLY],
    ['javascript:alert(1)', HTTPS_ONLY],
    ['//example.com/', HTTPS_ONLY],
    ['/a.png', HTTPS_ONLY],
    ['example.com', HTTPS_ONLY],
    ['', HTTPS_ONLY],
    ['https://', HTTPS_ONLY],
    ['https://exa mple.com/', HTTPS_ONLY],
    [' https://example.com/', HTTPS_ONLY],
    ['https://example.com/\n', HTTPS_ONLY],
    ['https://ada@example.com/', 'must not carry user information'],
    ['https://:secret@example.com/', 'must not carry user information'],
    ['https://ada:secret@example.com/', 'must not carry user information'],
    [`https://example.com/${'a'.repeat(2048 - 19)}`, 'must be at most 2048 characters'],
  ])('may not be %s', (url, problem) => {
    expect(urlProblem(url, false)).toBe(problem);
  });

  test.each([
    'http://localhost:3000/hook',
    'http://127.0.0.1:3000/',
    'http://127.8.9.1/',
    'http://[::1]:3000/',
    'https://example.com/',
  ])('may be %s where private targets are allowed', (url) => {
    expect(urlProblem(url, true)).toBeUndefined();
  });

  test.each([
    'http://example.com/',
    'http://10.0.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/',
    'http://0.0.0.0/',
    'http://128.0.0.1/',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://[::2]/',
    'ftp://localhost/',
  ])('may not be %s even there: plain http goes to loopback only', (url) => {
    expect(urlProblem(url, true)).toBe(HTTPS_ONLY);
  });

  test('is judged by ALLOW_PRIVATE_TARGETS, which must say exactly "true"', async () => {
    const webhookUrl = 'http://127.0.0.1:3000/';
    const allowedWhen = (value: string) =>
      withEnvironment(
        { ALLOW_PRIVATE_TARGETS: value },
        () => parseImageRequest(aGenerationBody({ webhookUrl, references: [webhookUrl] })).ok,
      );

    expect(await allowedWhen('true')).toBe(true);
    for (const value of ['false', '', '1', 'TRUE']) expect(await allowedWhen(value)).toBe(false);
  });
});

describe('the path of a field', () => {
  test.each<[PropertyKey[], string]>([
    [['prompt'], 'prompt'],
    [['references', 2], 'references[2]'],
    [['sequentialOptions', 'maxImages'], 'sequentialOptions.maxImages'],
    [['a', 0, 'b', 1, 2], 'a[0].b[1][2]'],
    [[], ''],
  ])('%j is written %p', (path, text) => {
    expect(fieldPath(path)).toBe(text);
  });
});
