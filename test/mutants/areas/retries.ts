import { bugs } from '../mutant.ts';

/** Bugs in what is repeated, and what is never repeated. */
export const RETRIES = bugs('retries', [
  [
    'a provider call whose outcome is unknown is made again',
    'core/provider-calls/attempt-rules.ts',
    "outcome?.kind === 'busy';",
    "outcome?.kind === 'busy' || outcome?.kind === 'lost';",
  ],
  [
    "another run's claim of a provider call is ignored",
    'core/provider-calls/claim-attempts.ts',
    "ConditionExpression: 'attribute_not_exists(PK)'",
    "ConditionExpression: 'attribute_not_exists(finishedAt)'",
  ],
  [
    'a claim whose answer was lost is taken for another run',
    'core/provider-calls/claim-attempts.ts',
    'item !== undefined && item.claimId !== claimId',
    'item !== undefined',
  ],
  [
    'a provider is called for a request that has ended',
    'core/provider-calls/claim-attempts.ts',
    "'#status IN (:queued, :processing) AND",
    "':queued <> :processing AND",
  ],
  [
    'a call that takes half a minute counts as dead',
    'core/dispatch/make-calls.ts',
    'const ALIVE_INTERVAL_MS = 5_000;',
    'const ALIVE_INTERVAL_MS = 600_000;',
  ],
  [
    'a process counts as dead as soon as it is suspected',
    'core/provider-calls/dead-calls.ts',
    'const DEAD_AFTER_MS = 10_000;',
    'const DEAD_AFTER_MS = 0;',
  ],
  [
    'a request fails when a second run finds its call in flight',
    'statemachines/generation.asl.json',
    '"ProviderCallInFlightError"',
    '"ProviderCallInFlight"',
  ],
  [
    'the execution of a failed request succeeds',
    'statemachines/generation.asl.json',
    '"Next": "Request failed and refunded"',
    '"Next": "Request ended otherwise"',
  ],
  [
    'the execution of a failed request counts as lost',
    'core/executions/execution-statuses.ts',
    '= ERROR_CODES;',
    "= ['content_policy'];",
  ],
  [
    'a busy provider fails the request at once',
    'statemachines/generation.asl.json',
    '"Next": "Wait for busy provider"',
    '"Next": "Fail request"',
  ],
  [
    "a provider's Retry-After is ignored",
    'core/provider-calls/attempt-rules.ts',
    '(outcome.retryAfterSeconds ?? 0)',
    '0',
  ],
  [
    "a provider's Retry-After on a query is ignored",
    'core/waiting/query-tasks.ts',
    'if (notBefore !== undefined) await holdOffQueries(query.request.requestId, notBefore, now);',
    '',
  ],
  [
    'a provider that refuses us is taken for a slow one',
    'core/executions/step-rules.ts',
    'isRefusedTask(attempt) ? TASK_REFUSED : DEADLINE_FAILURE',
    'DEADLINE_FAILURE',
  ],
  [
    'a refusal that a rotated key causes fails the task',
    'core/waiting/query-tasks.ts',
    'if (!isSince(refusedAt, REFUSED_TASK_MS, now)) return',
    'if (!isSince(refusedAt, 1_000, now)) return',
  ],
  ['the task of a request that failed is left to run', 'core/ending/write-end.ts', 'mayHaveTasks ||', ''],
  [
    'a throttled service fails a workflow step for good',
    'core/transient-errors.ts',
    'isThrottlingError(sdkError) ||',
    '',
  ],
  [
    'a function that runs out of time fails the request',
    'functions/workflow-task.ts',
    "throw new TransientError('The function ran out of time.')",
    "throw new Error('The function ran out of time.')",
  ],
  [
    'an AWS call without an answer waits on',
    'core/aws-clients.ts',
    'throwOnRequestTimeout: true',
    'throwOnRequestTimeout: false',
  ],
  [
    'a conflict inside a transaction fails the call',
    'core/table/transactions.ts',
    "  'TransactionConflict',\n",
    '',
  ],
  ['a contended transaction is given up at once', 'core/table/retries.ts', 'budgetMs: 5_000', 'budgetMs: 5'],
  [
    'a start that failed counts as started',
    'core/executions/executions.ts',
    'if (!(error instanceof ExecutionAlreadyExists)) throw error;',
    '',
  ],
  [
    'a request that never started is failed',
    'core/ending/end-lost-request.ts',
    'status === undefined',
    "status === 'ABORTED'",
  ],
  [
    'the reconciler fails a request whose execution runs',
    'core/ending/end-lost-request.ts',
    "status === 'RUNNING' || status === 'PENDING_REDRIVE'",
    "status === 'PENDING_REDRIVE'",
  ],
  [
    'the reconciler skips requests that have ended',
    'core/ending/end-lost-request.ts',
    'closeRequest(requestId, removeFilesOfFailed, { clock });',
    'undefined;',
  ],
]);
