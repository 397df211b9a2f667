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
    'core/route-pauses/route-states.ts',
    "'attribute_exists(pausedAt) AND (pausedUntil <= :now OR pausedUntil > :farthest)'",
    "'attribute_exists(pausedAt) AND (pausedUntil <= :now OR pausedUntil <= :farthest)'",
  ],
  [
    'a paused route is called',
    'core/dispatch/choose-route.ts',
    '(!isPaused(state) || mayTry(state, now))',
    '(!isPaused(state) || now > new Date(0))',
  ],
  [
    'a call that was under way ends a pause',
    'core/route-pauses/report-results.ts',
    "isPaused(state) && attempt.startedAt > (state.pausedAt ?? '')",
    'isPaused(state)',
  ],
  ['successes do not count beside failures', 'core/route-pauses/report-results.ts', "add('good');", ''],
  [
    'one caller pauses a route for all',
    'core/route-pauses/pause-rules.ts',
    ' && isMostlyBad(all.slice(1))',
    '',
  ],
  [
    "a provider's Retry-After is believed for as long as it says",
    'core/provider-calls/attempt-rules.ts',
    'Math.min(wanted, MOST_RETRY_AFTER_SECONDS)',
    'wanted',
  ],
  [
    'a request is assigned another route while its calls are claimed',
    'core/requests/requests.ts',
    '#number = :wasNumber AND ',
    '#number = :wasNumber OR ',
  ],
  [
    'calls are claimed for a route that the request has left',
    'core/provider-calls/claim-attempts.ts',
    ' AND assignment.#number = :number',
    ' AND assignment.#number >= :number',
  ],
  [
    'a creation is taken that only a route left by hand takes',
    'core/provider-calls/model-routes.ts',
    'route.refusesEarly || isAnyLeft ?',
    'route.refusesEarly ?',
  ],
  [
    'requests that wait at a paused route stay there',
    'core/reconciler/admit.ts',
    'routes?.some(isSuited)',
    'routes?.every(isSuited)',
  ],
  [
    'requests that wait at a route left by hand stay there',
    'core/reconciler/queues.ts',
    'if (isLeft) return',
    'if (isLeft && !queue) return',
  ],
  [
    'a full route is passed over',
    'core/dispatch/enter-route.ts',
    "return isTrial ? 'full' : { kind: 'queue', position };",
    "return 'full';",
  ],
]);
