import { describe, expect, test } from '@jest/globals';
import { checkUrls, urlProblem } from '../../../../core/creation/creation-fields.ts';
import { imageSubmission } from '../../../../core/creation/submission.ts';
import { allowPrivateTargets } from '../../../../core/environment.ts';
import { type FieldErrors, ValidationError } from '../../../../core/errors.ts';
import type { ReadBody } from '../../../../core/fields.ts';
import { aGenerationBody } from '../../builders/bodies.ts';
import { NOW } from '../../builders/clocks.ts';
import { KEY_ID } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';

const HTTPS_ONLY = 'must be an absolute https URL';

describe('wrong fields outside the body', () => {
  const submit = (body: ReadBody, fields: FieldErrors) =>
    imageSubmission({ route: '', body, idempotencyKey: 'key', keyId: KEY_ID, fields, now: NOW });
  const OUTSIDE = { page: 'is not a known field' };

  test('refuse a valid body, whose model and end-user can still be looked up', () => {
    const body = { ok: true, body: aGenerationBody() } as const;

    expect(submit(body, {})).toMatchObject({ ok: true });
    expect(submit(body, OUTSIDE)).toMatchObject({
      ...{ ok: false, model: { id: 'xQI3Pro' }, endUserEmail: 'ada@example.com', idempotency: undefined },
      error: { fields: OUTSIDE },
    });
  });

  test('are reported together with those of the body', () => {
    expect(submit({ ok: true, body: aGenerationBody({ n: 0 }) }, OUTSIDE)).toMatchObject({
      error: { fields: { n: 'must be at least 1', ...OUTSIDE } },
    });
  });

  test('are reported together with a body that cannot be read, which keeps its own message without them', () => {
    const error = new ValidationError({ body: 'must be JSON' }, 'The request body must be JSON.');

    expect(submit({ ok: false, error }, {})).toMatchObject({ ok: false, error });
    expect(submit({ ok: false, error }, OUTSIDE)).toMatchObject({
      error: { fields: { body: 'must be JSON', ...OUTSIDE }, message: expect.stringContaining('body, page') },
    });
  });
});

describe('a URL given by a caller', () => {
  test.each([
    'https://example.com',
    'https://example.com:8443/a/b.png?x=1#y',
    'HTTPS://EXAMPLE.COM/',
    'https://xn--bcher-kva.example/',
    `https://example.com/${'a'.repeat(2048 - 20)}`,
  ])('may be %s', (url) => {
    expect(urlProblem(url, false)).toBeUndefined();
    expect(urlProblem(url, true)).toBeUndefined();
  });

  test.each([
    'http://localhost:3000/hook',
    'http://127.0.0.1:3000/',
    'http://127.8.9.1/',
    'http://[::1]:3000/',
    'http://localhost.:3000/',
    'http://files.localhost/',
    'http://[::ffff:127.0.0.1]/',
  ])('may be %s only where private targets are allowed', (url) => {
    expect(urlProblem(url, false)).toBe(HTTPS_ONLY);
    expect(urlProblem(url, true)).toBeUndefined();
  });

  test.each([
    ...['http://example.com/', 'http://10.0.0.1/', 'http://192.168.1.1/', 'http://169.254.169.254/'],
    ...['http://0.0.0.0/', 'http://128.0.0.1/', 'http://127.0.0.1.example.com/', 'http://[::2]/'],
    ...['http://[::ffff:10.0.0.1]/', 'http://mylocalhost/'],
    ...['http://localhost.example.com/', 'ftp://localhost/', 'ftp://example.com/', 'file:///etc/passwd'],
    ...['data:image/png;base64,AAAA', 'javascript:alert(1)', '//example.com/', '/a.png', 'example.com', ''],
    ...['https://', 'https://exa mple.com/', ' https://example.com/', 'https://example.com/\n'],
    ...['https://exam\nple.com/', 'https://example.com/a\tb', 'https://example.com/\u0000'],
    'https://example.com/\ud800',
  ])('may not be %j anywhere: plain http is for loopback only', (url) => {
    expect([urlProblem(url, false), urlProblem(url, true)]).toEqual([HTTPS_ONLY, HTTPS_ONLY]);
  });

  test.each([
    ['https://example.com:25/', 'must not use the port of another protocol'],
    ['https://example.com:0/', 'must not use the port of another protocol'],
    ['https://example.com:10080/hook', 'must not use the port of another protocol'],
    ['https://ada@example.com/', 'must not carry user information'],
    ['https://:secret@example.com/', 'must not carry user information'],
    ['https://ada:secret@example.com/', 'must not carry user information'],
    [`https://example.com/${'a'.repeat(2048 - 19)}`, 'must be at most 2048 characters'],
  ])('may not be %s', (url, problem) => {
    expect(urlProblem(url, false)).toBe(problem);
  });

  test.each(['true', 'false', '', '1', 'TRUE'])(
    'may be private if ALLOW_PRIVATE_TARGETS is %j: only "true" allows it',
    async (value) => {
      const url = 'http://127.0.0.1:3000/';
      const problem = await withEnvironment({ ALLOW_PRIVATE_TARGETS: value }, () =>
        urlProblem(url, allowPrivateTargets()),
      );

      expect(problem === undefined).toBe(value === 'true');
    },
  );
});

describe('the URLs of a body', () => {
  const problemsOf = (
    body: Record<string, unknown>,
    names: string[] = ['image', 'references'],
    allowPrivate = false,
  ) => {
    const fields: FieldErrors = {};
    checkUrls(body, names, allowPrivate, fields);
    return fields;
  };
  const GOOD = 'https://media.example.com/a.png';

  test('are checked in the named fields, alone and in lists', () => {
    expect(problemsOf({ image: GOOD, references: [GOOD, GOOD], webhookUrl: GOOD })).toEqual({});
    expect(problemsOf({ image: 'x', references: [GOOD, 'y', 'z'], webhookUrl: 'ftp://a.example' })).toEqual({
      image: HTTPS_ONLY,
      'references[1]': HTTPS_ONLY,
      'references[2]': HTTPS_ONLY,
      webhookUrl: HTTPS_ONLY,
    });
  });

  test('are checked one by one in the longest list that a model takes, and not in a longer one', () => {
    const wrong = (count: number) => problemsOf({ references: Array(count).fill('x') });

    expect(Object.keys(wrong(10))).toHaveLength(10);
    expect(wrong(11)).toEqual({});
  });

  test('are not checked in other fields, nor in values that are not strings', () => {
    expect(problemsOf({ other: 'x', image: 7, references: [null, 7, {}], webhookUrl: ['x'] })).toEqual({});
  });

  test('are own fields of the body only, not inherited ones', () => {
    expect(problemsOf({}, ['constructor', 'toString'])).toEqual({});
    expect(problemsOf(Object.create({ image: 'x', webhookUrl: 'x' }))).toEqual({});
  });

  test('keep the message they have already', () => {
    const fields: FieldErrors = { image: 'is required' };
    checkUrls({ image: 'x' }, ['image'], false, fields);

    expect(fields).toEqual({ image: 'is required' });
  });

  test.each([
    'https://localhost/hook',
    'https://127.0.0.1/hook',
    'https://10.1.2.3/hook',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/hook',
    'https://[::ffff:10.0.0.1]/hook',
    'https://0x7f.1/hook',
  ])('of webhooks may not lead to a private or reserved address: %s', (webhookUrl) => {
    expect(problemsOf({ webhookUrl })).toEqual({ webhookUrl: 'must lead to a public address' });
  });

  test.each(['http://localhost:3001/hook', 'https://127.0.0.1/hook', 'https://10.1.2.3/hook'])(
    'of webhooks may lead to private addresses where the deployment allows them: %s',
    (webhookUrl) => {
      expect(problemsOf({ webhookUrl }, [], true)).toEqual({});
    },
  );
});
