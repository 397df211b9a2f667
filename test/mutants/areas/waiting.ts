import { bugs } from '../mutant.ts';

/** Bugs in how long anything waits. */
export const WAITING = bugs('waiting', [
  [
    'a task that finished before the wait began wakes nobody',
    'core/workflow/await-provider.ts',
    'if (!hasOpenTask(attempts)) {',
    'if (attempts.length === 0) {',
  ],
  [
    'a callback that came before the wait began is forgotten',
    'core/workflow/await-provider.ts',
    'if (hasPendingCallback)',
    'if (!hasPendingCallback)',
  ],
  [
    'a callback that finds the task finished wakes nobody',
    'core/workflow/catch-up.ts',
    'wait?.taskToken !== undefined',
    'wait?.taskToken !== undefined && wait.calledBackAt === undefined',
  ],
  [
    'work whose look died is forgotten for a day',
    'core/workflow/reconcile-due.ts',
    'relist(due, due.list, addSeconds(toInstant(clock.now()), LOOK_AGAIN_SECONDS))',
    'relist(due, due.list, addSeconds(toInstant(clock.now()), 86_400))',
  ],
  [
    'a lost callback is never made up for',
    'core/workflow/reconcile-due.ts',
    '|| newsAt > silentSince',
    '|| newsAt <= silentSince',
  ],
  [
    'the deadline is counted anew from every query',
    'core/workflow/query-provider.ts',
    '>= deadlineOf(firstCall, settings)',
    '>= deadlineOf({ ...firstCall, firstCallAt: toInstant(now) }, settings)',
  ],
  [
    'what has finished is thrown away at the deadline',
    'core/workflow/query-provider.ts',
    'return stepWhenFinished(attempts);',
    "return { next: 'fail', error: UNEXPECTED_ERROR };",
  ],
  [
    'a task is queried only after its deadline',
    'core/workflow/workflow-rules.ts',
    'Math.ceil(Math.min(wantedSeconds, leftSeconds))',
    'Math.ceil(wantedSeconds)',
  ],
  [
    'a request whose task is unfinished fails',
    'statemachines/generation.asl.json',
    '"Next": "Wait for provider"',
    '"Next": "Fail request"',
  ],
]);
