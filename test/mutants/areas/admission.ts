import { bugs } from '../mutant.ts';

/** Bugs in who may call a provider, and when. */
export const ADMISSION = bugs('admission', [
  [
    'a route runs one call more than it may',
    'core/admission/gate-rules.ts',
    '? gate.permits - permit.weight :',
    '? gate.permits - permit.weight + 1 :',
  ],
  [
    'a newcomer passes requests that wait',
    'core/admission/gate-rules.ts',
    'attribute_not_exists(queued) AND ',
    '',
  ],
  [
    'an account is not served when it gives a permit back',
    'core/admission/admission.ts',
    'if (state?.queued !== undefined)',
    'if (state?.queued === undefined)',
  ],
  [
    'the account with the most running goes first',
    'core/admission/gate-rules.ts',
    'callsOf(one) - callsOf(other) ||',
    'callsOf(other) - callsOf(one) ||',
  ],
  [
    'a request that failed keeps its permit',
    'core/ending/fail-request.ts',
    'await leaveRoute(request, clock);',
    'if (request.gate === undefined) await leaveRoute(request, clock);',
  ],
  [
    'a request that is let in by a run that dies is let in twice',
    'core/admission/waiters.ts',
    "'tokenOrder = :order AND attribute_not_exists(admittedMs)'",
    "'tokenOrder = :order'",
  ],
  [
    'the permit of an open task is taken back',
    'core/admission/gate-rules.ts',
    'if (hasOpenTask(here)) return false;',
    'if (hasOpenTask(here)) return true;',
  ],
  [
    'the permit of a request that stores its files is kept until it ends',
    'core/admission/gate-rules.ts',
    'permitMs === permit.takenMs || nowMs',
    'nowMs',
  ],
  [
    'a permit is taken back though a call of its claim was not read yet',
    'core/reconciler/admit.ts',
    'if (read?.permitMs === permit.takenMs) return;',
    'if (!read) return;',
  ],
  [
    'a gate is unmarked though a request has begun to wait',
    'core/admission/gates.ts',
    "ConditionExpression: 'queued = :seen'",
    "ConditionExpression: 'queued <> :seen OR queued = :seen'",
  ],
  [
    'a request that has a permit, and waits, is not woken',
    'core/reconciler/admit.ts',
    'head.admittedMs !== undefined || state.permits.has(head.requestId)',
    'head.admittedMs !== undefined && !state.permits.has(head.requestId)',
  ],
  [
    'a request that waited for its turn in vain pauses its end-user',
    'core/ending/end-request.ts',
    "if (request.status === 'queued' && request.dispatchedAt === undefined) return [];",
    "if (request.status === 'queued' && request.createdAt === undefined) return [];",
  ],
  [
    'a route whose limits are gone leaves the requests that wait',
    'core/reconciler/admit.ts',
    'await wakeWaiter(gateName, waiter, options);',
    '',
  ],
]);
