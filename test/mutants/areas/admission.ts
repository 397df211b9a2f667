import { bugs } from '../mutant.ts';

/** Bugs in who may call a provider, and when. */
export const ADMISSION = bugs('admission', [
  [
    'a route runs one call more than it may',
    'core/admission/gates.ts',
    "':most': gate.permits - weight",
    "':most': gate.permits - weight + 1",
  ],
  [
    'a newcomer passes those who wait',
    'core/admission/gates.ts',
    "conditions: ['attribute_not_exists(queued)', isInTime]",
    'conditions: [isInTime]',
  ],
  [
    'a permit that frees wakes nobody',
    'core/admission/admission.ts',
    'if (state?.queued !== undefined)',
    'if (state?.queued === undefined)',
  ],
  [
    'the account with the most running goes first',
    'core/admission/gate-rules.ts',
    '[running.get(accountId) ?? 0, servedAt',
    '[-(running.get(accountId) ?? 0), servedAt',
  ],
  [
    'a request that failed keeps its permit',
    'core/workflow/fail-request.ts',
    'await leaveRoute(request, clock);',
    'if (request.gate === undefined) await leaveRoute(request, clock);',
  ],
  [
    'a request that could not be woken loses its permit',
    'core/admission/let-in.ts',
    'if (!request || isTerminal(request)) await givePermitBack',
    'await givePermitBack',
  ],
  [
    'the sweep takes the permit of a request that is unfinished',
    'core/admission/sweep-gates.ts',
    'if (!request || isTerminal(request)) {',
    'if (!request || !isTerminal(request)) {',
  ],
  [
    'nobody looks at a permit whose holder died',
    'core/admission/gate-rules.ts',
    'untilMs <= nowMs ? [requestId] : []',
    'untilMs < 0 ? [requestId] : []',
  ],
  [
    'a request that waited for its turn in vain pauses its end-user',
    'core/workflow/end-request.ts',
    "if (request.status === 'queued' && request.dispatchedAt === undefined) return [];",
    "if (request.status === 'queued' && request.createdAt === undefined) return [];",
  ],
  [
    'a route whose limits are gone leaves those who wait',
    'core/admission/sweep-gates.ts',
    'await wakeAll(name, wake, keepGoing, clock);',
    'await Promise.resolve();',
  ],
]);
