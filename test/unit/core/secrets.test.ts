import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { acceptedTexts, isSecretEmpty, isSecretSet, readSecret } from '../../../core/secrets.ts';
import { isTransient } from '../../../core/transient-errors.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { stopTime } from '../builders/stop-time.ts';
import { secrets } from '../fakes/fresh-secrets.ts';

beforeEach(() => {
  clearCaches();
});
afterEach(() => {
  jest.useRealTimers();
});

describe('a secret', () => {
  test('is read once in 5 min', async () => {
    stopTime(NOW);
    secrets.set('arn:x', 'old');
    expect(await readSecret('arn:x')).toBe('old');
    secrets.set('arn:x', 'new');

    stopTime(atSeconds(299));
    expect(await readSecret('arn:x')).toBe('old');
    stopTime(atSeconds(301));
    expect(await readSecret('arn:x')).toBe('new');
  });

  test('without a value is an error', async () => {
    await expect(readSecret('arn:none')).rejects.toMatchObject({ name: 'SecretUnreadableError' });
  });

  test.each<[string, boolean, Error]>([
    ['throttled', true, Object.assign(new Error('Rate exceeded'), { name: 'ThrottlingException' })],
    ['not answered', true, Object.assign(new Error('too late'), { name: 'TimeoutError' })],
    ['broken', true, Object.assign(new Error('oops'), { $metadata: { httpStatusCode: 500 } })],
    ['refused', false, Object.assign(new Error('no'), { name: 'AccessDeniedException' })],
  ])('whose read is %s keeps the cause, transient: %s', async (_, transient, cause) => {
    secrets.client.rejects(cause);

    const error = await readSecret('arn:x').catch((reason: unknown) => reason);

    expect(error).toMatchObject({
      name: 'SecretUnreadableError',
      message: `Secret arn:x could not be read: ${cause.name}: ${cause.message}`,
      cause,
    });
    expect(isTransient(error)).toBe(transient);
  });
});

describe('the texts that a secret accepts', () => {
  const later = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
  const DAY_MS = 86_400_000;

  test('are the current one alone before its first rotation', async () => {
    secrets.set('arn:first', 'one', NOW);

    expect(await acceptedTexts('arn:first', NOW)).toEqual(['one']);
  });

  test('are the one before, too, for a day after the rotation', async () => {
    secrets.set('arn:rotated', 'one', later(-DAY_MS));
    secrets.set('arn:rotated', 'two', NOW);

    expect(await acceptedTexts('arn:rotated', later(DAY_MS - 1))).toEqual(['two', 'one']);
    expect(await acceptedTexts('arn:rotated', later(DAY_MS))).toEqual(['two']);
  });

  test('are read once a minute, each secret on its own', async () => {
    for (const arn of ['arn:a', 'arn:b']) secrets.set(arn, `old of ${arn}`, NOW);
    await acceptedTexts('arn:a', NOW);
    secrets.set('arn:a', 'new', NOW);

    expect(await acceptedTexts('arn:a', later(59_999))).toEqual(['old of arn:a']);
    expect(await acceptedTexts('arn:b', NOW)).toEqual(['old of arn:b']);
    expect(secrets.reads()).toEqual({ 'GetSecretValue arn:a': 2, 'GetSecretValue arn:b': 2 });
    expect(await acceptedTexts('arn:a', later(60_000))).toEqual(['new', 'old of arn:a']);
  });

  test('are none of a secret without a value or that cannot be read, which is not kept', async () => {
    await expect(acceptedTexts('arn:late', NOW)).rejects.toThrow('Secret arn:late has no value.');
    const cause = Object.assign(new Error('no'), { name: 'AccessDeniedException' });
    secrets.client.rejects(cause);
    await expect(acceptedTexts('arn:late', NOW)).rejects.toMatchObject({
      name: 'SecretUnreadableError',
      cause,
    });

    secrets.reset();
    secrets.set('arn:late', 'there', NOW);
    expect(await acceptedTexts('arn:late', NOW)).toEqual(['there']);
  });
});

describe('a secret is empty', () => {
  const failure = (name: string) => {
    secrets.client.rejects(Object.assign(new Error('no'), { name }));
    return readSecret('arn:x').catch((reason: unknown) => reason);
  };

  test.each([
    ['ResourceNotFoundException', true],
    ['AccessDeniedException', false],
    ['ThrottlingException', false],
  ])('or not, when its read fails with %s: %p', async (name, expected) => {
    expect(isSecretEmpty(await failure(name))).toBe(expected);
  });

  test('when it has no text, and not for an error of something else', async () => {
    const error = await acceptedTexts('arn:none', NOW).catch((reason: unknown) => reason);

    expect(isSecretEmpty(error)).toBe(true);
    expect(isSecretEmpty(Object.assign(new Error('no'), { name: 'ResourceNotFoundException' }))).toBe(false);
    expect(isSecretEmpty(undefined)).toBe(false);
  });
});

test('a secret is set once it has a version', async () => {
  secrets.set('arn:set', 'text');
  secrets.set('arn:unset', undefined);

  expect([await isSecretSet('arn:set'), await isSecretSet('arn:unset')]).toEqual([true, false]);
});
