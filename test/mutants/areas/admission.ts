import { bugs } from '../mutant.ts';

/** Bugs in who may call a provider, and when. */
export const ADMISSION = bugs('admission', [
  [
    'a route runs one call more than it may',
    'core/admission/route-limit-rules.ts',
    '? limit.permits - permit.weight :',
    '? limit.permits - permit.weight + 1 :',
  ],
  [
    'a newcomer passes requests that wait',
    'core/admission/route-limit-rules.ts',
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
    'core/admission/route-limit-rules.ts',
    'callsOf(one) - callsOf(other) ||',
    'callsOf(other) - callsOf(one) ||',
  ],
  [
    'a request that ended keeps its permit',
    'core/ending/close-request.ts',
    '(await leaveRoutes(request, clock))',
    'true',
  ],
  [
    'a permit whose release was lost is not released by the closing',
    'core/ending/write-end.ts',
    'mayBeAtRoute(request, state.status);',
    'false;',
  ],
  [
    'a permit of a route before the last is never released',
    'core/requests/request-rules.ts',
    '  ...formerRoutes,',
    '',
  ],
  [
    'a request that is admitted by a run that dies is admitted twice',
    'core/admission/queue-entries.ts',
    "'tokenOrder = :order AND attribute_not_exists(admittedMs)'",
    "'tokenOrder = :order'",
  ],
  [
    'the permit of an open task is released',
    'core/dispatch/dispatch-request.ts',
    'if (hasOpenTask(attempts)) return step;',
    '',
  ],
  [
    'the permit of a request that stores its files is kept until it ends',
    'core/storing/store-outputs.ts',
    'isFree && (await releasePermit(request, assignment.route, clock));',
    'false;',
  ],
  [
    'a queued request that was closed before its turn keeps the permit',
    'core/reconciler/admit.ts',
    'else await returnPermit(route, entry, clock);',
    '',
  ],
  [
    'a route is unmarked though a request has begun to wait',
    'core/admission/route-limits.ts',
    "ConditionExpression: 'queued = :seen'",
    "ConditionExpression: 'queued <> :seen OR queued = :seen'",
  ],
  [
    'a request that has a permit, and waits, is not woken',
    'core/reconciler/admit.ts',
    'head.admittedMs !== undefined || this.state.permits.has(head.requestId)',
    'head.admittedMs !== undefined && !this.state.permits.has(head.requestId)',
  ],
  [
    'a request that waited for its turn until it failed pauses its end-user',
    'core/ending/write-end.ts',
    "if (request.status === 'queued' && request.dispatchedAt === undefined) return [];",
    "if (request.status === 'queued' && request.createdAt === undefined) return [];",
  ],
  [
    'a route whose limits are gone leaves the requests that wait',
    'core/reconciler/admit.ts',
    'await wakeQueued(route, entry, options);',
    '',
  ],
  [
    'the permit of an open task is released when a sibling of the task has failed',
    'core/dispatch/dispatch-request.ts',
    'if (hasOpenTask(attempts)) return step;',
    'if (hasOpenTask(attempts.slice(0, 1))) return step;',
  ],
  [
    'a request leaves the queue though it waits under a newer token',
    'core/reconciler/admit.ts',
    'await removeQueueEntry(route, entry);',
    "await removeQueueEntry(route, { ...entry, tokenOrder: '~' });",
  ],
]);
