/** Dropped or changed parts that the service keeps its promises without, most of them spared work. Each by its name, with the reason. */
export const SPARED: readonly (readonly [name: string, reason: string])[] = [
  [
    'branch forced in core/files/request-files.ts listStoredFiles: Key && LastModified ? [{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }] : [] => ([{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }])',
    'S3 lists every object with its key and time: the check is for the types.',
  ],
  [
    'step dropped in core/reconciler/loop.ts Run: no this.work.add([result.due]);',
    'The listing of the next tick has the item too.',
  ],
  [
    "clause of a condition dropped in core/admission/route-limit-rules.ts newcomerUpdate: 'nextStartMs > :now AND nextStartMs <= :latest' => 'nextStartMs <= :latest'",
    'The next start of a route never becomes earlier, and was read as later than now.',
  ],
  [
    "operand dropped in functions/events/create-signing-key.ts findPrivateKey: error instanceof Error && error.name === 'ResourceNotFoundException' => error.name === 'ResourceNotFoundException'",
    'The SDK throws errors only: the operand is for the types.',
  ],
  [
    'all and allSettled swapped in core/deletion/expire-requests.ts expireRequests: Promise.all => Promise.allSettled',
    'Each of them logs its error and resolves.',
  ],
  [
    "clause of a condition dropped in core/requests/requests.ts postponeExpiry: 'begins_with(GSI1PK, :listed) AND GSI1SK = :seenAt' => 'GSI1SK = :seenAt'",
    'A request leaves the EXPIRE list for no other, and then has no due time.',
  ],
  [
    "comparison in a condition changed in core/end-users/removals.ts listForNextPass: 'GSI1SK < :dueAt' => 'GSI1SK <= :dueAt'",
    'It then writes the instant that is there.',
  ],
  [
    "operand dropped in core/requests/request-rules.ts gotAll: request.status === 'succeeded' && (request.outputs?.length ?? 0) >= maxOutputs(request) => (request.outputs?.length ?? 0) >= maxOutputs(request)",
    'A request that failed with all its outputs recorded has no open task either.',
  ],
  [
    'operand dropped in core/ledger/change-balance.ts changeBalance: attempted && (await findMade()) => await findMade()',
    'It then reads the key before the first attempt, too.',
  ],
  [
    'attempts changed in core/creation/collection.ts MOST_ENTRIES: MOST_ENTRIES = 100 => MOST_ENTRIES = 1_000',
    'It bounds the read: nobody makes 100 equal calls in 10 minutes.',
  ],
  [
    'calculation reversed in core/ledger/usage.ts readRanges: (end - first) / parts => (end - first) * parts',
    'One part then reads everything: the same figures, later.',
  ],
  [
    'calculation reversed in core/ledger/usage.ts findFirstEntryFrom: Math.ceil => Math.floor',
    'The search then takes one more round at times, to the same entry.',
  ],
  [
    "branch forced in core/executions/step-rules.ts failuresOf: 'failure' in output ? [output.failure] : [] => ([output.failure])",
    'It is asked only when no call has an output, so that each has a failure.',
  ],
  [
    'errors widened in functions/http/api-request.ts ApiRequest: error instanceof SyntaxError => true',
    'The parser throws nothing else.',
  ],
  [
    'operand dropped in core/creation/create-video-rules.ts clipProblems: longest !== undefined && lengthOf(measure) > longest * 1000 => lengthOf(measure) > longest * 1000',
    'No number is more than undefined: the operand is for the types.',
  ],
  [
    'errors widened in providers/http.ts parseJson: error instanceof SyntaxError => true',
    'The parser throws nothing else.',
  ],
  [
    'errors widened in core/table/outcomes.ts leavesOutcomeOpen: !(error instanceof DynamoDBServiceException) => false',
    'Such an error has no fault of a client, so that it counts as open either way.',
  ],
  [
    "operand dropped in core/ending/workflow-failure.ts failureOfWorkflow: next === 'fail' && error => error",
    'Only a step that fails has an error.',
  ],
  [
    'operand dropped in functions/http/request-queries.ts parseRoundedUp: instant !== undefined && WITHIN_MILLISECOND.test(text) => WITHIN_MILLISECOND.test(text)',
    'A text that is no instant was refused before: the operand is for the types.',
  ],
  [
    'call dropped in core/executions/stop-executions.ts stopRunningExecutions: no await pause(LISTING_PAUSE_MS);',
    'It then lists more often, to the same end.',
  ],
  [
    "branch forced in core/route-pauses/report-results.ts retryAfterOf: outcome?.kind === 'busy' ? outcome.retryAfterSeconds : undefined => (outcome.retryAfterSeconds)",
    'Only attempts with an outcome are asked, and no other outcome has the field: the condition is for the types.',
  ],
  [
    "operand dropped in core/dispatch/dispatch-request.ts checkAfterQueue: dueListOf(GSI1PK) === 'CHECK' && GSI1SK > soon => GSI1SK > soon",
    'A request of the START list is due within a minute of its creation.',
  ],
  [
    "comparison in a condition changed in core/admission/route-limits.ts postponeStarts: …not_exists(nextStartMs) OR nextStartMs < :until OR nextStartMs > :farthest' => …not_exists(nextStartMs) OR nextStartMs <= :until OR nextStartMs > :farthest'",
    'It then writes the start that is there.',
  ],
  [
    'branch forced in core/admission/route-limits.ts takePermitFor: limit.intervalMs === undefined ? seen.nextStartMs : startMs + stepMs(limit, entry) => (startMs + stepMs(limit, entry))',
    'Without a rate the start then is now, and has room as one in the past has.',
  ],
  [
    "constant of a list dropped in core/route-pauses/pause-rules.ts REASONS: no 'calls'",
    'An unknown reason is read as this one.',
  ],
  [
    "guard dropped in core/dispatch/dispatch-rules.ts leaveReason: no if (outcome?.kind !== 'busy') continue;",
    'Every attempt may be made elsewhere, so that it failed or was busy: the guard is for the types.',
  ],
  [
    'all and allSettled swapped in functions/events/reconcile.ts handler: Promise.all => Promise.allSettled',
    'None of the three rejects: each logs its errors.',
  ],
  [
    'all and allSettled swapped in core/creation/create-request.ts complete: Promise.all => Promise.allSettled',
    'Each of the two logs its error and resolves.',
  ],
  [
    'branch forced in core/dispatch/dispatch-request.ts stopped: isTerminal(request) ? request : (await findRequestAndAttempts(request.requestId)).request => ((await findRequestAndAttempts(request.requestId)).request)',
    'It then reads an ended request once more.',
  ],
  [
    'all and allSettled swapped in core/concurrency/in-flight.ts withinLimits: Promise.all => Promise.allSettled',
    'Each of them logs its error and resolves.',
  ],
  [
    'calculation reversed in core/reconciler/survey-work.ts heldBy: Math.floor => Math.ceil',
    'It then samples other requests, spread as evenly.',
  ],
  [
    'calculation reversed in core/reconciler/task-lister.ts TaskLister: Math.min => Math.max',
    'The absent tasks of an item were last queried together.',
  ],
  [
    'operand dropped in core/ledger/change-balance.ts changeBalance: !attempted || error instanceof ConflictError => !attempted',
    'It then looks once more for an entry that is not there.',
  ],
  [
    'step dropped in core/connection.ts addressesOf: no release();',
    'The signal lives as long as its connection: what listens goes with it.',
  ],
  [
    'finally dropped in core/connection.ts addressesOf: …e.race([promise, aborted])); } finally { release(); } => …e.race([promise, aborted])); } finally {}',
    'The signal lives as long as its connection: what listens goes with it.',
  ],
  [
    'step dropped in core/connection.ts firstToConnect: no release();',
    'The signal lives as long as its connection: what listens goes with it.',
  ],
  [
    'step dropped in core/connection.ts secured: no release();',
    'The signal lives as long as its connection: what listens goes with it.',
  ],
  [
    'finally dropped in core/connection.ts secured: …ned).destroy(); throw error; } finally { release(); } => …ned).destroy(); throw error; } finally {}',
    'The signal lives as long as its connection: what listens goes with it.',
  ],
];
