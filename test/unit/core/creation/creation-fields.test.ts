import '../../builders/environment.ts';
import { describe, expect, test } from '@jest/globals';
import {
  alsoWrong,
  checkUrls,
  type NewCreation,
  type ParsedCreation,
} from '../../../../core/creation/creation-fields.ts';
import { type FieldErrors, ValidationError } from '../../../../core/errors.ts';
import { findImageModel } from '../../../../core/models/catalog.ts';
import { withEnvironment } from '../../builders/environment.ts';

const model = findImageModel('xQI3Pro');
if (!model) throw new Error('There is no xQI3Pro.');
const creation: NewCreation = { model, prompt: 'x', endUserEmail: 'ada@example.com', webhookUrl: undefined };

describe('what is wrong beside a body', () => {
  const refused: ParsedCreation<NewCreation> = {
    ok: false,
    error: new ValidationError({ prompt: 'is required' }),
    model: 'xQI3Pro',
    endUserEmail: undefined,
  };

  test('leaves the creation as it is when it is nothing', () => {
    const parsed = { ok: true, creation } as const;

    expect(alsoWrong(parsed, {})).toBe(parsed);
    expect(alsoWrong(refused, {})).toBe(refused);
  });

  test('refuses a creation that was fine, whose model and end-user can still be looked up', () => {
    const judged = alsoWrong({ ok: true, creation }, { 'referenceVideos[0]': 'is no video' });

    expect(judged).toMatchObject({ ok: false, model: 'xQI3Pro', endUserEmail: 'ada@example.com' });
    expect(!judged.ok && judged.error.fields).toEqual({ 'referenceVideos[0]': 'is no video' });
  });

  test('is told with what was wrong already', () => {
    const judged = alsoWrong(refused, { page: 'is not a known field' });

    expect(judged).toMatchObject({ ok: false, model: 'xQI3Pro', endUserEmail: undefined });
    expect(!judged.ok && judged.error.fields).toEqual({
      prompt: 'is required',
      page: 'is not a known field',
    });
  });
});

describe('the URLs of a body', () => {
  const problemsOf = (body: Record<string, unknown>, names: string[] = ['image', 'references']) => {
    const fields: FieldErrors = {};
    checkUrls(body, names, fields);
    return fields;
  };
  const GOOD = 'https://media.example.com/a.png';
  const NOT_HTTPS = 'must be an absolute https URL';

  test('are checked where they are named, alone and in lists', () => {
    expect(problemsOf({ image: GOOD, references: [GOOD, GOOD], webhookUrl: GOOD })).toEqual({});
    expect(problemsOf({ image: 'x', references: [GOOD, 'y', 'z'], webhookUrl: 'ftp://a.example' })).toEqual({
      image: NOT_HTTPS,
      'references[1]': NOT_HTTPS,
      'references[2]': NOT_HTTPS,
      webhookUrl: NOT_HTTPS,
    });
  });

  test('are not looked for in other fields, nor in what is no text', () => {
    expect(problemsOf({ other: 'x', image: 7, references: [null, 7, {}], webhookUrl: ['x'] })).toEqual({});
  });

  test('are the body’s own: what every object has is none of them', () => {
    expect(problemsOf({}, ['constructor', 'toString'])).toEqual({});
    expect(problemsOf(Object.create({ image: 'x', webhookUrl: 'x' }))).toEqual({});
  });

  test('keep what was said of them before', () => {
    const fields: FieldErrors = { image: 'is required' };
    checkUrls({ image: 'x' }, ['image'], fields);

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
  ])('of webhooks lead to no host of ours or of nobody: %s', async (webhookUrl) => {
    expect(problemsOf({ webhookUrl })).toEqual({ webhookUrl: 'must lead to a public address' });
  });

  test.each(['http://localhost:9/hook', 'https://127.0.0.1/hook', 'https://10.1.2.3/hook'])(
    'of webhooks may lead to the own machine and network where the deployment allows that: %s',
    (webhookUrl) =>
      withEnvironment({ ALLOW_PRIVATE_TARGETS: 'true' }, () =>
        expect(problemsOf({ webhookUrl })).toEqual({}),
      ),
  );
});
