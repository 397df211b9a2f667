import { describe, expect, test } from '@jest/globals';
import { UNEXPECTED_ERROR } from '../../../../core/errors.ts';
import {
  deadlineOf,
  stepAfterCalls,
  stepWhenFinished,
  storingEndOf,
} from '../../../../core/executions/step-rules.ts';
import type { RequestKind } from '../../../../core/ids.ts';
import type { AttemptOutcome } from '../../../../core/provider-calls/provider-attempts.ts';
import { atSeconds, NOW } from '../../builders/clocks.ts';
import { anAttempt } from '../../builders/entities.ts';
import {
  accepted,
  attempts,
  busy,
  CONTENT,
  done,
  ERROR,
  failed,
  lost,
  TIMEOUT,
} from '../../builders/outcomes.ts';

const DEADLINE = atSeconds(42).toISOString();

describe('the next step after the calls', () => {
  const step = (...outcomes: AttemptOutcome[]) => stepAfterCalls(attempts(...outcomes), DEADLINE, NOW);

  test.each<[string, AttemptOutcome[]]>([
    ['a task is open', [accepted]],
    ['one task is open and another done', [done('a'), accepted]],
    ['one task is open and another refused', [failed(CONTENT), accepted]],
    ['an outcome of another version cannot be read', [done('a'), { kind: 'unreadable' }]],
  ])('is to wait until the deadline while %s', (_, outcomes) => {
    expect(step(...outcomes)).toEqual({ next: 'wait', timeoutSeconds: 43 });
  });

  test.each([
    [41.2, 1],
    [0.5, 42],
    [42, 1],
    [50, 1],
  ])(
    'waits in whole seconds, rounded up, at least one: %p s after the first call, %p s',
    (elapsed, seconds) => {
      expect(stepAfterCalls(attempts(accepted), DEADLINE, atSeconds(elapsed))).toEqual({
        next: 'wait',
        timeoutSeconds: seconds + 1,
      });
    },
  );

  test.each<[string, AttemptOutcome[]]>([
    ['the call', [done('a')]],
    ['one call of several', [failed(CONTENT), done('a'), lost]],
    ['part of a call', [done(CONTENT, 'a', ERROR)]],
  ])('is to store what %s produced', (_, outcomes) => {
    expect(step(...outcomes)).toEqual({ next: 'store' });
  });

  test.each<[string, AttemptOutcome[], typeof CONTENT | typeof ERROR | typeof TIMEOUT]>([
    ['the one failure', [failed(TIMEOUT)], TIMEOUT],
    ['the first of several failures', [failed(TIMEOUT), failed(ERROR)], TIMEOUT],
    ['a lost call', [lost], ERROR],
    ['a content decision before an earlier failure', [failed(ERROR), lost, failed(CONTENT)], CONTENT],
    ['a content decision inside a result', [failed(ERROR), done(ERROR, CONTENT)], CONTENT],
    ['a failure inside a result', [done(ERROR)], ERROR],
  ])('is to fail with %s when nothing was produced', (_, outcomes, error) => {
    expect(step(...outcomes)).toEqual({ next: 'fail', error });
  });

  test('throws when there is no call', () => {
    expect(() => step()).toThrow('There is no provider call.');
  });
});

describe('the next step at the deadline', () => {
  const step = (...outcomes: AttemptOutcome[]) => stepWhenFinished(attempts(...outcomes));
  const LATE = { code: 'provider_timeout', message: 'The upstream provider did not finish in time.' };
  const NOT_TAKEN = { code: 'provider_error', message: 'The upstream provider did not take the request.' };

  test.each<[string, AttemptOutcome[]]>([
    ['a busy call', [busy(), done('a'), busy()]],
    ['an open task', [accepted, done('a')]],
  ])('is to store what others produced beside %s', (_, outcomes) => {
    expect(step(...outcomes)).toEqual({ next: 'store' });
  });

  test.each<[string, AttemptOutcome[], object]>([
    ['provider_timeout when a task is open', [accepted], LATE],
    ['provider_timeout when a call has no outcome', [], LATE],
    ['provider_error when a call is busy', [busy()], NOT_TAKEN],
    ['provider_error when one call is busy and another timed out', [failed(TIMEOUT), busy()], NOT_TAKEN],
    ['provider_error when one call is busy and a task open', [accepted, busy()], NOT_TAKEN],
    ['the other failure when one call is busy', [failed(ERROR), busy()], ERROR],
    ['a content decision before anything else', [busy(), accepted, failed(CONTENT)], CONTENT],
    ['an error of ours when an outcome cannot be read', [{ kind: 'unreadable' }], UNEXPECTED_ERROR],
  ])('is to fail with %s and nothing was produced', (_, outcomes, error) => {
    const all = outcomes.length > 0 ? attempts(...outcomes) : [anAttempt()];

    expect(stepWhenFinished(all)).toEqual({ next: 'fail', error });
  });
});

describe('the next step at the deadline of a task whose state the provider refused to tell', () => {
  const refused = anAttempt({ taskId: 'task', outcome: accepted, refusedAt: NOW.toISOString() });
  const REFUSED = {
    code: 'provider_error',
    message: 'The upstream provider does not report the state of the request.',
  };

  test.each<[string, AttemptOutcome[], object]>([
    ['alone', [], REFUSED],
    ['beside a task that is slow', [accepted], REFUSED],
    ['beside a call that timed out', [failed(TIMEOUT)], REFUSED],
    ['beside another failure', [failed(ERROR)], ERROR],
    ['beside a content decision', [failed(CONTENT)], CONTENT],
  ])('pauses nobody: %s', (_, outcomes, error) => {
    const all = [...attempts(...outcomes), { ...refused, call: outcomes.length }];

    expect(stepWhenFinished(all)).toEqual({ next: 'fail', error });
  });

  test('is to store what others produced', () => {
    expect(stepWhenFinished([refused, ...attempts(done('a'))])).toEqual({ next: 'store' });
  });
});

test.each<[RequestKind, number]>([
  ['image', 600],
  ['video', 3600],
])('each kind has its own deadline: an %s %p s after its first call', (kind, seconds) => {
  const deadline = (overrides: Partial<Record<RequestKind, number>> = {}) =>
    deadlineOf(
      { kind, firstCallAt: NOW.toISOString() },
      { deadlineSeconds: { image: 600, video: 3600, ...overrides } },
    );

  expect(deadline()).toBe(atSeconds(seconds).toISOString());
  expect(deadline({ [kind]: 7 })).toBe(atSeconds(7).toISOString());
});

test.each([
  // Begun at once: until the deadline. Begun late, also long after it: 15 min.
  ['video', 10, 3600],
  ['video', 3599, 4499],
  ['video', 9000, 9900],
  ['image', 10, 910],
] as const)('storing an %s from %i s on lasts until %i s after its first call', (kind, begun, end) => {
  const settings = { deadlineSeconds: { image: 600, video: 3600 } };

  expect(storingEndOf(kind, [anAttempt()], atSeconds(begun).toISOString(), settings)).toBe(
    atSeconds(end).toISOString(),
  );
});
