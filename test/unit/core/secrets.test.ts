import { clearCaches } from '@aws-lambda-powertools/parameters';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { readSecret } from '../../../core/secrets.ts';
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
