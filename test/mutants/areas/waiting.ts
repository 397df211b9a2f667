import { bugs } from '../mutant.ts';

/** Bugs in how long anything waits. */
export const WAITING = bugs('waiting', [
  [
    'a task that finished before the wait began wakes nobody',
    'core/waiting/await-provider.ts',
    'if (!hasOpenTask(attempts)) {',
    'if (attempts.length === 0) {',
  ],
  [
    'a callback that came before the wait began is forgotten',
    'core/waiting/await-provider.ts',
    'if (hasPendingCallback)',
    'if (!hasPendingCallback)',
  ],
  [
    'a callback that finds the task finished wakes nobody',
    'core/waiting/catch-up.ts',
    'wait?.taskToken !== undefined',
    'wait?.taskToken !== undefined && wait.calledBackAt === undefined',
  ],
  [
    'work whose check died is forgotten for a day',
    'core/reconciler/check.ts',
    'reschedule(due, list, addSeconds(toInstant(clock.now()), CHECK_AGAIN_SECONDS))',
    'reschedule(due, list, addSeconds(toInstant(clock.now()), 86_400))',
  ],
  [
    'a lost callback is never made up for',
    'core/reconciler/check.ts',
    'if (!isOlder(lastNewsAt,',
    'if (isOlder(lastNewsAt,',
  ],
  [
    'the deadline is counted anew from every query',
    'core/waiting/query-provider.ts',
    'firstCallAt: firstCall }',
    'firstCallAt: toInstant(clock.now()) }',
  ],
  [
    'what has finished is thrown away at the deadline',
    'core/waiting/query-provider.ts',
    '? stepWhenFinished(attempts) :',
    "? { next: 'fail', error: UNEXPECTED_ERROR } :",
  ],
  [
    'an unfinished task is queried again only a day later',
    'core/reconciler/check.ts',
    'Math.min(MAX_PAUSE_SECONDS, ageSeconds * PAUSE_SHARE)',
    '86_400',
  ],
  [
    'a request whose task is unfinished fails',
    'statemachines/generation.asl.json',
    '"Next": "Wait for provider"',
    '"Next": "Fail request"',
  ],
  [
    'a request is checked only long after its deadline',
    'core/reconciler/check.ts',
    'endsAt !== undefined && endsAt < wanted ? endsAt : wanted',
    'wanted',
  ],
  [
    'a process is frozen before the due time of a queued request is written',
    'core/admission/await-capacity.ts',
    'await checkQueuedAt(',
    'void checkQueuedAt(',
  ],
]);
