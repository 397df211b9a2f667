import '../../builders/environment.ts';
import { expect, test } from '@jest/globals';
import {
  firstCallAt,
  latestAttempts,
  producedOutputs,
} from '../../../../core/provider-calls/attempt-rules.ts';
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
