import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RateLimitedError } from '../../../core/errors.ts';
import type { AttemptOutcome, ProviderAttempt } from '../../../core/provider-attempts.ts';
import {
  deadlineOf,
  latestAttempts,
  ProviderBusyError,
  ProviderCallInFlightError,
  pollWaitSeconds,
  producedOutputs,
  stepAfterCalls,
} from '../../../core/workflow.ts';
import { atSeconds, NOW } from '../builders/clocks.ts';
import { anAttempt } from '../builders/entities.ts';

const CONTENT = { code: 'content_policy', message: 'refused' } as const;
const ERROR = { code: 'provider_error', message: 'broke' } as const;
const TIMEOUT = { code: 'provider_timeout', message: 'late' } as const;

const accepted: AttemptOutcome = { kind: 'accepted', taskId: 'task' };
const failed = (failure: typeof CONTENT | typeof ERROR | typeof TIMEOUT): AttemptOutcome => ({
  kind: 'failed',
  failure,
});
const lost: AttemptOutcome = { kind: 'lost', failure: ERROR };
const done = (...outputs: (string | typeof CONTENT | typeof ERROR)[]): AttemptOutcome => ({
  kind: 'done',
  outputs: outputs.map((output) => (typeof output === 'string' ? { url: output } : { failure: output })),
});
/** One attempt for each outcome, as the calls of a plan. */
const attempts = (...outcomes: AttemptOutcome[]): ProviderAttempt[] =>
  outcomes.map((outcome, call) => anAttempt({ call, outcome }));

describe('what follows from the outcomes of the calls', () => {
  const step = (...outcomes: AttemptOutcome[]) => stepAfterCalls(attempts(...outcomes), () => 42);

  test.each<[string, AttemptOutcome[]]>([
    ['a task is open', [accepted]],
    ['one task is open and another done', [done('a'), accepted]],
    ['one task is open and another refused', [failed(CONTENT), accepted]],
  ])('is to wait while %s', (_, outcomes) => {
    expect(step(...outcomes)).toEqual({ next: 'wait', waitSeconds: 42 });
  });

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

  test('is not made up when nothing is known', () => {
    expect(() => step()).toThrow('No provider call has an outcome.');
    expect(() => stepAfterCalls([anAttempt()], () => 1)).toThrow('No provider call has an outcome.');
  });
});

test('outputs are counted in the order of the plan, those without a file left out', () => {
  expect(producedOutputs(attempts(done('a', ERROR, 'b'), failed(ERROR), lost, done('c')))).toEqual([
    { url: 'a' },
    { url: 'b' },
    { url: 'c' },
  ]);
});

test('only the last try of each call counts', () => {
  const [first, second, other] = [
    anAttempt({ call: 0, attempt: 0, outcome: { kind: 'busy', reason: '' } }),
    anAttempt({ call: 0, attempt: 1, outcome: done('a') }),
    anAttempt({ call: 1, attempt: 0, outcome: lost }),
  ] as const;

  expect(latestAttempts([first, second, other])).toEqual(
    new Map([
      [0, second],
      [1, other],
    ]),
  );
});

describe('the wait between two looks at a task', () => {
  const wait = (elapsedSeconds: number, { interval = 5, deadlineSeconds = 3600 } = {}) => {
    const deadline = deadlineOf({ createdAt: NOW.toISOString() }, deadlineSeconds);
    return pollWaitSeconds(NOW.toISOString(), atSeconds(elapsedSeconds), interval, deadline);
  };

  test.each([
    [0, 5],
    [12, 5],
    [20, 5],
    [20.1, 6],
    [60, 15],
    [400, 100],
    [1200, 300],
    [3000, 300],
    [3500, 100],
    [3595, 5],
    [3598.5, 2],
    [3600, 1],
    [4000, 1],
  ])('after %p s, of at most 3600, is %p s', (elapsedSeconds, waitSeconds) => {
    expect(wait(elapsedSeconds)).toBe(waitSeconds);
  });

  const elapsed = fc.integer({ min: 0, max: 5_000_000 }).map((milliseconds) => milliseconds / 1000);
  const settings = fc.record({
    interval: fc.integer({ min: 1, max: 300 }),
    deadlineSeconds: fc.integer({ min: 1, max: 4000 }),
  });

  test('is a whole number of seconds from 1 to 300', () => {
    fc.assert(
      fc.property(elapsed, settings, (seconds, given) => {
        const waitSeconds = wait(seconds, given);

        expect(Number.isInteger(waitSeconds)).toBe(true);
        expect(waitSeconds).toBeGreaterThanOrEqual(1);
        expect(waitSeconds).toBeLessThanOrEqual(300);
      }),
    );
  });

  test('ends at the deadline at the latest, to the second that holds it', () => {
    fc.assert(
      fc.property(elapsed, settings, (seconds, given) => {
        const leftSeconds = given.deadlineSeconds - seconds;
        expect(wait(seconds, given)).toBeLessThanOrEqual(Math.max(1, Math.ceil(leftSeconds)));
      }),
    );
  });

  test('is never below the interval and grows with the time a task has taken, while the deadline is far', () => {
    fc.assert(
      fc.property(elapsed, elapsed, fc.integer({ min: 1, max: 300 }), (a, b, interval) => {
        const far = { interval, deadlineSeconds: 10_000 };
        const [sooner, later] = [wait(Math.min(a, b), far), wait(Math.max(a, b), far)];

        expect(sooner).toBeGreaterThanOrEqual(interval);
        expect(later).toBeGreaterThanOrEqual(sooner);
      }),
    );
  });
});

describe('the names of errors', () => {
  const definition = JSON.parse(
    readFileSync(new URL('../../../statemachines/generation.asl.json', import.meta.url), 'utf8'),
  ) as {
    States: Record<string, { Retry?: { ErrorEquals: string[] }[]; Catch?: { ErrorEquals: string[] }[] }>;
  };
  const routed = Object.values(definition.States)
    .flatMap(({ Retry = [], Catch = [] }) => [...Retry, ...Catch])
    .flatMap(({ ErrorEquals }) => ErrorEquals);
  const ofService = new Set(routed.filter((name) => !/^(States|Lambda|Sandbox|Runtime)\./.test(name)));
  const errors = [new ProviderBusyError(), new ProviderCallInFlightError(), new RateLimitedError(1)];

  test('are exactly those by which the state machine retries', () => {
    expect([...ofService].sort()).toEqual(errors.map(({ name }) => name).sort());
  });

  test.each(errors.map((error) => [error.name, error] as const))(
    'are literals: %s is not taken from its class, which a bundle renames',
    (name, error) => {
      expect(Object.hasOwn(error, 'name')).toBe(true);
      expect(String(error.constructor)).toMatch(new RegExp(`name\\s*=\\s*['"]${name}['"]`));
    },
  );
});
