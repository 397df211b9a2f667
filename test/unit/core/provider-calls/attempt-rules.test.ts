import { describe, expect, test } from '@jest/globals';
import {
  firstCallAt,
  latestAttempts,
  producedOutputs,
  takenOf,
} from '../../../../core/provider-calls/attempt-rules.ts';
import type { ProviderAttempt } from '../../../../core/provider-calls/provider-attempts.ts';
import type { Taken } from '../../../../core/provider-calls/providers.ts';
import { atSeconds } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import { attempts, done, ERROR, failed, lost } from '../../builders/outcomes.ts';

test('outputs are listed in plan order, without those that have no file', () => {
  expect(producedOutputs(attempts(done('a', ERROR, 'b'), failed(ERROR), lost, done('c')))).toEqual([
    { url: 'a' },
    { url: 'b' },
    { url: 'c' },
  ]);
});

test('only the latest attempt of each call counts', () => {
  const [first, second, other] = [
    anAttempt({ call: 0, attempt: 0, outcome: { kind: 'busy', reason: '' } }),
    anAttempt({ call: 0, attempt: 1, outcome: done('a') }),
    anAttempt({ call: 1, attempt: 0, outcome: lost }),
  ] as const;

  expect(latestAttempts([first, second, other])).toEqual([second, other]);
});

test('calls of earlier assignments do not count, in whatever order the attempts are listed', () => {
  const [former, current] = [
    anAttempt({ assignment: 0, outcome: { kind: 'busy', reason: '' } }),
    anAttempt({ assignment: 1, outcome: done('a') }),
  ] as const;

  expect(latestAttempts([former, current])).toEqual([current]);
  expect(latestAttempts([current, former])).toEqual([current]);
});

test('a request’s first call is the earliest of all attempts', () => {
  const at = (seconds: number) => atSeconds(seconds).toISOString();

  expect(firstCallAt([])).toBeUndefined();
  expect(
    firstCallAt([
      anAttempt({ startedAt: at(9) }),
      anAttempt({ startedAt: at(3) }),
      anAttempt({ startedAt: at(5) }),
    ]),
  ).toBe(at(3));
});

describe('whether a provider took a call', () => {
  const failure = ERROR;
  test.each<[Pick<ProviderAttempt, 'taskId' | 'outcome'>, Taken]>([
    [{}, 'unknown'],
    [{ outcome: { kind: 'busy', reason: 'full' } }, 'no'],
    [{ outcome: { kind: 'accepted', taskId: 'task-1' } }, 'yes'],
    [{ outcome: { kind: 'done', outputs: [{ url: 'a' }] } }, 'yes'],
    [{ outcome: { kind: 'failed', failure, taken: 'no' } }, 'no'],
    [{ outcome: { kind: 'failed', failure, taken: 'yes' } }, 'yes'],
    [{ outcome: { kind: 'failed', failure, taken: 'unknown' } }, 'unknown'],
    [{ outcome: { kind: 'failed', failure } }, 'unknown'],
    [{ outcome: { kind: 'lost', failure } }, 'unknown'],
    // There is a task, whatever became of it.
    [{ taskId: 'task-1', outcome: { kind: 'failed', failure } }, 'yes'],
    [{ taskId: 'task-1', outcome: { kind: 'lost', failure } }, 'yes'],
  ])('is told by its task and outcome %j: %p', (attempt, taken) => {
    expect(takenOf(attempt)).toBe(taken);
  });
});
