import { ConditionalCheckFailedException, InternalServerError } from '@aws-sdk/client-dynamodb';
import { describe, expect, test } from '@jest/globals';
import {
  ConflictError,
  NotFoundError,
  OutcomeUnknownError,
  RateLimitedError,
} from '../../../../core/errors.ts';
import { findOutcome, leavesOutcomeOpen } from '../../../../core/table/outcomes.ts';
import { cancelled, tableError } from '../../builders/table-errors.ts';

const refused = (attempts: number) =>
  new ConditionalCheckFailedException({ message: 'refused', $metadata: { attempts } });
const inProgress = Object.assign(refused(1), { name: 'TransactionInProgressException' });
const broken = new InternalServerError({ message: 'broken', $metadata: {} });

describe('a write that failed', () => {
  test.each<[string, unknown, boolean]>([
    ['no answer', tableError('TimeoutError'), true],
    ['a fault of the table', broken, true],
    ['a transaction in progress', inProgress, true],
    ['a refusal of the only try', refused(1), false],
    ['a refusal after an earlier try', refused(2), true],
    ['a cancelled transaction', cancelled('ConditionalCheckFailed'), false],
    ['an outcome that is not known', new OutcomeUnknownError('It may be made.', undefined), true],
    ['a rule of ours', new ConflictError('No.'), false],
    ['lost races, none of them open', new RateLimitedError(1, cancelled('TransactionConflict')), false],
    ['lost races, one of them open', new RateLimitedError(1, tableError('TimeoutError')), true],
  ])('with %s may have been made, or not: %#', (_, error, expected) => {
    expect(leavesOutcomeOpen(error)).toBe(expected);
  });
});

describe('the outcome of a write that seemed to fail', () => {
  const failed = refused(1);
  const outcomeOf = (error: unknown, find: () => Promise<string | undefined>) =>
    findOutcome(error, find, 'It may be made.').catch((reason: unknown) => reason);

  test.each([failed, broken])('is what is found: %p', async (error) => {
    expect(await outcomeOf(error, async () => 'made')).toBe('made');
  });

  test('is the error where nothing is found and nothing is open, else it is not known', async () => {
    expect(await outcomeOf(failed, async () => undefined)).toBe(failed);
    expect(await outcomeOf(broken, async () => undefined)).toMatchObject({
      ...{ name: OutcomeUnknownError.name, message: 'It may be made.', cause: broken },
    });
  });

  test('is not known when it cannot be looked up, but for a rule of ours', async () => {
    const unread = tableError('TimeoutError');
    const absent = new NotFoundError('It is gone.');

    expect(await outcomeOf(failed, () => Promise.reject(unread))).toMatchObject({
      ...{ name: OutcomeUnknownError.name, message: 'It may be made.', cause: unread },
    });
    expect(await outcomeOf(failed, () => Promise.reject(absent))).toBe(absent);
  });
});
