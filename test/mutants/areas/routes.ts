import { bugs } from '../mutant.ts';

/** Bugs in which route a request goes to, and when it leaves it. */
export const ROUTES = bugs('routes', [
  [
    'a request is called elsewhere after an answer that was lost',
    'core/provider-calls/attempt-rules.ts',
    'return isBusyAttempt(attempt);',
    "return outcome?.kind !== 'done';",
  ],
  [
    'a connection that broke counts as never made',
    'providers/failures.ts',
    "if (answer.kind === 'unreached')",
    "if (answer.kind !== 'timed-out')",
  ],
  [
    'a request is called elsewhere after a content decision',
    'core/provider-calls/attempt-rules.ts',
    "takenOf(attempt) === 'no' && outcome.obstacle !== undefined",
    "takenOf(attempt) === 'no'",
  ],
  [
    'two requests try a route at once',
    'core/circuits/circuits.ts',
    "'((attribute_not_exists(probe) AND openUntil <= :now) OR probeUntil <= :now OR probe = :request)'",
    "'openUntil <= :now'",
  ],
  [
    'a route that is left out is called',
    'core/circuits/circuit-rules.ts',
    'openedAt !== undefined || leftAt !== undefined',
    'leftAt !== undefined',
  ],
  [
    'requests that wait at a route that is left out stay there',
    'core/reconciler/admit.ts',
    'routes?.some(isSuited)',
    'routes?.every(isSuited)',
  ],
  [
    'a full route is passed over',
    'core/dispatch/begin-run.ts',
    'if (!isProbe)',
    'if (isToWait || others === undefined)',
  ],
]);
