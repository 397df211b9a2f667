import { describe, expect, test } from '@jest/globals';
import {
  checkUrls,
  type NewCreation,
  type ParsedCreation,
  withFieldErrors,
} from '../../../../core/creation/creation-fields.ts';
import { type FieldErrors, ValidationError } from '../../../../core/errors.ts';
import { findImageModel } from '../../../../core/models/catalog.ts';

const model = findImageModel('xQI3Pro');
if (!model) throw new Error('There is no xQI3Pro.');
const creation: NewCreation = { model, prompt: 'x', endUserEmail: 'ada@example.com', webhookUrl: undefined };

describe('wrong fields outside the body', () => {
  const refused: ParsedCreation<NewCreation> = {
    ok: false,
    error: new ValidationError({ prompt: 'is required' }),
    model: 'xQI3Pro',
    endUserEmail: undefined,
  };

  test('leave the creation as it is when there are none', () => {
    const parsed = { ok: true, creation } as const;

    expect(withFieldErrors(parsed, {})).toBe(parsed);
    expect(withFieldErrors(refused, {})).toBe(refused);
  });

  test('refuse a valid creation, whose model and end-user can still be looked up', () => {
    const judged = withFieldErrors({ ok: true, creation }, { 'referenceVideos[0]': 'is no video' });

    expect(judged).toMatchObject({ ok: false, model: 'xQI3Pro', endUserEmail: 'ada@example.com' });
    expect(!judged.ok && judged.error.fields).toEqual({ 'referenceVideos[0]': 'is no video' });
  });

  test('are reported together with those of the body', () => {
    const judged = withFieldErrors(refused, { page: 'is not a known field' });

    expect(judged).toMatchObject({ ok: false, model: 'xQI3Pro', endUserEmail: undefined });
    expect(!judged.ok && judged.error.fields).toEqual({
      prompt: 'is required',
      page: 'is not a known field',
    });
  });
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
  const NOT_HTTPS = 'must be an absolute https URL';

  test('are checked in the named fields, alone and in lists', () => {
    expect(problemsOf({ image: GOOD, references: [GOOD, GOOD], webhookUrl: GOOD })).toEqual({});
    expect(problemsOf({ image: 'x', references: [GOOD, 'y', 'z'], webhookUrl: 'ftp://a.example' })).toEqual({
      image: NOT_HTTPS,
      'references[1]': NOT_HTTPS,
      'references[2]': NOT_HTTPS,
      webhookUrl: NOT_HTTPS,
    });
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
  ])('of webhooks may not lead to a private or reserved address: %s', async (webhookUrl) => {
    expect(problemsOf({ webhookUrl })).toEqual({ webhookUrl: 'must lead to a public address' });
  });

  test.each(['http://localhost:3001/hook', 'https://127.0.0.1/hook', 'https://10.1.2.3/hook'])(
    'of webhooks may lead to private addresses where the deployment allows them: %s',
    (webhookUrl) => {
      expect(problemsOf({ webhookUrl }, [], true)).toEqual({});
    },
  );
});
