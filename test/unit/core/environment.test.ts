import { describe, expect, test } from '@jest/globals';
import {
  allowPrivateTargets,
  publishesRates,
  requiredEnv,
  requiredNumberEnv,
} from '../../../core/environment.ts';
import { addSeconds, toEpochSeconds, toInstant } from '../../../core/time.ts';
import { withEnvironment } from '../builders/environment.ts';

const settingTo = <T>(value: string, read: () => T): Promise<T> =>
  withEnvironment({ RETENTION_DAYS: value, ALLOW_PRIVATE_TARGETS: value, PUBLISH_RATES: value }, read);

describe('an environment variable', () => {
  test('that is required is named when it is missing or empty', async () => {
    await expect(settingTo('', () => requiredEnv('RETENTION_DAYS'))).rejects.toThrow(
      'Environment variable RETENTION_DAYS is not set.',
    );
    delete process.env.RETENTION_DAYS;
    expect(() => requiredEnv('RETENTION_DAYS')).toThrow('Environment variable RETENTION_DAYS is not set.');
  });

  test.each([
    ['90', 90],
    ['0.5', 0.5],
    ['0', 0],
  ])('that is the number %s is read as one', async (text, value) => {
    expect(await settingTo(text, () => requiredNumberEnv('RETENTION_DAYS'))).toBe(value);
  });

  test.each(['ninety', '90 days', 'NaN', 'Infinity'])('that says %s is no number', async (text) => {
    await expect(settingTo(text, () => requiredNumberEnv('RETENTION_DAYS'))).rejects.toThrow(
      'Environment variable RETENTION_DAYS is not a number.',
    );
  });

  test.each([
    ['true', true],
    ['false', false],
    ['1', false],
    ['', false],
  ])(
    'ALLOW_PRIVATE_TARGETS=%s allows private targets: %p; PUBLISH_RATES likewise',
    async (text, isAllowed) => {
      expect(await settingTo(text, allowPrivateTargets)).toBe(isAllowed);
      expect(await settingTo(text, publishesRates)).toBe(isAllowed);
    },
  );
});

describe('an instant', () => {
  test('is written in UTC with milliseconds', () => {
    expect(toInstant(new Date(Date.UTC(2026, 10, 20, 9)))).toBe('2026-11-20T09:00:00.000Z');
  });

  test('some seconds later keeps its milliseconds', () => {
    expect(addSeconds('2026-11-20T23:59:59.123Z', 1.5)).toBe('2026-11-21T00:00:00.623Z');
  });

  test('is rounded down to whole epoch seconds', () => {
    expect(toEpochSeconds('1970-01-01T00:00:01.999Z')).toBe(1);
  });
});
