import { describe, expect, jest, test } from '@jest/globals';
import { ConflictError, RateLimitedError } from '../../../core/errors.ts';
import { isTransient, keepTrying } from '../../../core/transient-errors.ts';

jest.spyOn(Math, 'random').mockReturnValue(0);

const named = (name: string, more: object = {}): Error => Object.assign(new Error(name), { name, ...more });
const answered = (httpStatusCode: number): Error => named('SomeException', { $metadata: { httpStatusCode } });
/** The error as the cause of so many others, each the cause of the next. */
const wrapped = (cause: Error, times: number): Error =>
  times === 0 ? cause : wrapped(new Error('It failed.', { cause }), times - 1);

describe('an error is transient', () => {
  test.each<[unknown, boolean]>([
    [new RateLimitedError(1), true],
    [named('TimeoutError'), true],
    [named('ECONNRESET', { code: 'ECONNRESET' }), true],
    [named('ThrottlingException'), true],
    [named('ProvisionedThroughputExceededException'), true],
    [answered(500), true],
    [answered(503), true],
    [answered(400), false],
    [new ConflictError('It changed.'), false],
    [new Error('It broke.'), false],
    ['TimeoutError', false],
    [undefined, false],
  ])('or not: %p: %p', (error, expected) => {
    expect(isTransient(error)).toBe(expected);
  });

  test.each([
    [0, true],
    [4, true],
    [5, false],
  ])('by its cause behind %i others: %p', (others, expected) => {
    expect(isTransient(wrapped(new RateLimitedError(1), others))).toBe(expected);
  });

  test('or not, though it is its own cause', () => {
    const error = new Error('It broke.');
    error.cause = error;

    expect(isTransient(error)).toBe(false);
  });
});

describe('work that is not given up', () => {
  const failing = (times: number, error: Error) => {
    let attempts = 0;
    const work = async () => {
      attempts += 1;
      if (attempts <= times) throw error;
      return attempts;
    };
    return { work, made: () => attempts };
  };

  test('is repeated after transient errors until it is done', async () => {
    expect(await keepTrying(failing(3, named('TimeoutError')).work, () => true)).toBe(4);
  });

  test('is not repeated after another error, nor without time', async () => {
    const broken = failing(1, new Error('It broke.'));
    await expect(keepTrying(broken.work, () => true)).rejects.toThrow('It broke.');
    const late = failing(9, named('TimeoutError'));
    await expect(keepTrying(late.work, () => late.made() < 3)).rejects.toThrow('TimeoutError');

    expect([broken.made(), late.made()]).toEqual([1, 3]);
  });
});
