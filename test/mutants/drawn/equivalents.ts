/** Drawn bugs that change nothing that the service promises, each by its name, with the reason. */
export const EQUIVALENTS: ReadonlyMap<string, string> = new Map([
  [
    'branch forced in core/files/request-files.ts listStoredFiles: Key && LastModified ? [{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }] : [] => ([{ objectKey: Key, sizeBytes: Size, storedAt: toInstant(LastModified) }])',
    'S3 lists every object with its key and time: the check is for the types.',
  ],
  [
    'boundary moved in core/creation/idempotency.ts canonicalJson: a < b => a <= b',
    'No two fields of an object have the same name.',
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
    'boundary moved in core/accounts/consume-api-key.ts remember: lastSeenTat.size >= MAX_REMEMBERED_KEYS => lastSeenTat.size > MAX_REMEMBERED_KEYS',
    'It then remembers 10,001 keys.',
  ],
  [
    "comparison in a condition changed in core/end-users/removals.ts listForNextPass: 'GSI1SK < :dueAt' => 'GSI1SK <= :dueAt'",
    'It then writes the instant that is there.',
  ],
  [
    'boundary moved in core/ledger/verify-ledger.ts verifyUnlessRemoved: verified.problems.length > 0 => verified.problems.length >= 0',
    'It then reads the account once more where there is no problem.',
  ],
  [
    'boundary moved in core/admission/route-limit-rules.ts chooseAccount: textOf(one) < textOf(other) => textOf(one) <= textOf(other)',
    'The texts end with the accounts, which differ.',
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
    'boundary moved in core/reconciler/loop.ts Run: pauseMs > 0 => pauseMs >= 0',
    'It then pauses for no time.',
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
    'effects reordered in core/accounts/delete-account.ts deleteAccount: …tion(accountId)); await removePartition(endUserPartition(accountId)); await removePartition(idempot… => …tion(accountId)); await removePartition(idempotencyPartition(accountId)); await removePartition(end…',
    'Nothing reads these partitions once the account is gone.',
  ],
  [
    'errors widened in functions/http/api-request.ts ApiRequest: error instanceof SyntaxError => true',
    'The parser throws nothing else.',
  ],
  [
    'boundary moved in core/ledger/change-balance.ts balanceProblem: amountThousandths < 0 => amountThousandths <= 0',
    'No change is of nothing.',
  ],
  [
    'boundary moved in core/admission/admission.ts isDone: clock.now().getTime() < endMs => clock.now().getTime() <= endMs',
    'It then tries for a millisecond longer.',
  ],
  [
    'boundary moved in core/ledger/end-user-budgets.ts addedUp: start < all.length => start <= all.length',
    'It then reads an empty batch at times.',
  ],
  [
    'operand dropped in core/creation/create-video-rules.ts clipProblems: longest !== undefined && lengthOf(measure) > longest * 1000 => lengthOf(measure) > longest * 1000',
    'No number is more than undefined: the operand is for the types.',
  ],
  [
    'boundary moved in core/requests/request-lists.ts matchingEntries: oldest > newest => oldest >= newest',
    'No request has an id that is a bound.',
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
    'boundary moved in core/dispatch/sign-inputs.ts withSignedInputs: inputsExpireAt < until => inputsExpireAt <= until',
    'Both are the same instant then.',
  ],
  [
    'boundary moved in core/provider-calls/input-limits.ts pictureProblem: width < height => width <= height',
    'Both sides are the same then.',
  ],
  [
    'boundary moved in core/reconciler/admit.ts inTurn: all.length > AT_ONCE => all.length >= AT_ONCE',
    'Any multiple of 12 is the beginning of a list of 12.',
  ],
  [
    'boundary moved in core/reconciler/check.ts checkLater: endsAt < wanted => endsAt <= wanted',
    'Both are the same instant then.',
  ],
  [
    'effects reordered in core/admission/await-capacity.ts awaitCapacity: …a lost execution and restarts it. await checkQueuedAt(requestId, addSeconds(toInstant(clock.now()),… => …a lost execution and restarts it. await startReconcilerIfDead(clock); await checkQueuedAt(requestId…',
    'The run finds the request by its queue.',
  ],
  [
    'branch forced in core/admission/route-limits.ts takePermitFor: limit.intervalMs === undefined ? seen.nextStartMs : startMs + stepMs(limit, entry) => (startMs + stepMs(limit, entry))',
    'Without a rate the start then is now, and has room as one in the past has.',
  ],
  [
    'effects reordered in core/dispatch/dispatch-request.ts afterDeadline: { await leaveQueue(request); if (isAccepted(latest)) await markProcessing(request); return stepAfter… => { if (isAccepted(latest)) await markProcessing(request); await leaveQueue(request); return stepAfter…',
    'Neither depends on the other, and a repeated run does both.',
  ],
  [
    "effects reordered in core/dispatch/dispatch-request.ts afterCalls: … latestAttempts([...current, ...made]); if (plan.mode === 'asynchronous' && isAccepted(attempts)) {… => … latestAttempts([...current, ...made]); const step = await stepFrom(assignment.route, request, [...…",
    'The step is found by reads of what the mark does not change.',
  ],
  [
    'boundary moved in core/reconciler/task-lister.ts TaskLister: nowMs - queriedMs >= UNNAMED_MS => nowMs - queriedMs > UNNAMED_MS',
    'It then is queried after the list that comes a second later.',
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
    "effects reordered in core/creation/measured-creation.ts measureCreation: …edWork, 'clips', isThrottled), }; const slots = await waitingLimits('clips', accountId, limit, now)… => …edWork, 'clips', isThrottled), }; const work = await workFor({ request, now }, inputs, carried); co…",
    'The limits are read, and the URLs signed: neither depends on the other.',
  ],
  [
    'boundary moved in core/route-pauses/route-states.ts currentRouteStates: Math.abs(now.getTime() - readAtMs) < MAX_AGE_MS => Math.abs(now.getTime() - readAtMs) <= MAX_AGE_MS',
    'It then uses a state for a millisecond longer.',
  ],
  [
    'branch forced in core/dispatch/dispatch-request.ts stopped: isTerminal(request) ? request : (await findRequestAndAttempts(request.requestId)).request => ((await findRequestAndAttempts(request.requestId)).request)',
    'It then reads an ended request once more.',
  ],
  [
    'boundary moved in core/reconciler/loop.ts Run: this.nowMs() + pauseMs < this.endMs => this.nowMs() + pauseMs <= this.endMs',
    'A tick at the end of a run begins no call.',
  ],
  [
    'boundary moved in core/waiting/receive-callback.ts planned: waitMs > 0 => waitMs >= 0',
    'It then pauses for no time.',
  ],
  [
    'boundary moved in core/dispatch/assign-route.ts keylessProviders: untilMs > now.getTime() => untilMs >= now.getTime()',
    'It then looks for the key a millisecond later.',
  ],
  [
    'all and allSettled swapped in core/concurrency/in-flight.ts withinLimits: Promise.all => Promise.allSettled',
    'Each of them logs its error and resolves.',
  ],
  [
    'boundary moved in core/dispatch/make-calls.ts claimCalls: clock.now().getTime() < claimAt.getTime() + MAX_CLAIM_MS => clock.now().getTime() <= claimAt.getTime() + MAX_CLAIM_MS',
    'It then tries for a millisecond longer.',
  ],
  [
    'boundary moved in core/dispatch/make-calls.ts makeCall: clock.now().getTime() < endMs => clock.now().getTime() <= endMs',
    'It then tries for a millisecond longer.',
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
    'boundary moved in core/concurrency/in-flight.ts freeSlotOf: lease.heldUntil > latestEndMs(now, leaseSeconds * 1000) => lease.heldUntil >= latestEndMs(now, leaseSeconds * 1000)',
    'The update of the slot is refused as before.',
  ],
  [
    'boundary moved in core/requests/due-items.ts listDue: a.dueKey.GSI1SK < b.dueKey.GSI1SK => a.dueKey.GSI1SK <= b.dueKey.GSI1SK',
    'Work that is due at the same instant has no order.',
  ],
  [
    'boundary moved in core/requests/due-items.ts findNewestDue: a.dueKey.GSI1SK < b.dueKey.GSI1SK => a.dueKey.GSI1SK <= b.dueKey.GSI1SK',
    'Work that is due at the same instant has no order.',
  ],
  [
    'boundary moved in core/accounts/balance-events.ts listBalanceEvents: a.at < b.at => a.at <= b.at',
    'Events of the same instant have no order.',
  ],
  [
    'boundary moved in core/deliveries/webhook-attempts.ts listWebhookAttempts: a.startedAt < b.startedAt => a.startedAt <= b.startedAt',
    'Attempts of the same instant are of several deliveries, and have no order.',
  ],
  [
    'boundary moved in core/ledger/usage-rules.ts mergedBy: (a[name] ?? LAST) < (b[name] ?? LAST) => (a[name] ?? LAST) <= (b[name] ?? LAST)',
    'Both sides differ: the name was chosen by that.',
  ],
  [
    'boundary moved in core/ledger/usage.ts findFirstEntryFrom: low < high => low <= high',
    'It then looks at no entry once more, and answers the same.',
  ],
  [
    'boundary moved in core/models/video-shapes.ts videoDimensions: wide >= high => wide > high',
    'Both sides are the same then.',
  ],
  [
    'effects reordered in core/accounts/delete-account.ts deleteAccount: …(eventId, now); } await removePartition(accountPartition(accountId)); await removePartition(endUser… => …(eventId, now); } await removePartition(endUserPartition(accountId)); await removePartition(account…',
    'Nothing reads these partitions once the account is gone.',
  ],
  [
    'effects reordered in core/accounts/delete-account.ts deleteAccount: …tion(accountId)); await removePartition(idempotencyPartition(accountId)); await removePartition(led… => …tion(accountId)); await removePartition(ledgerPartition(accountId)); await removePartition(idempote…',
    'Nothing reads these partitions once the account is gone.',
  ],
  [
    'effects reordered in core/accounts/delete-account.ts deleteAccount: …tion(accountId)); await removePartition(ledgerPartition(accountId)); await removePartition(deletedR… => …tion(accountId)); await removePartition(deletedRequestPartition(accountId)); await removePartition(…',
    'Nothing reads these partitions once the account is gone.',
  ],
  [
    'boundary moved in core/ledger/ledger.ts entryOfChange: change.amountThousandths < 0 => change.amountThousandths <= 0',
    'No change is of nothing.',
  ],
  [
    'boundary moved in core/ledger/ledger.ts balanceWrite: change.amountThousandths > 0 => change.amountThousandths >= 0',
    'No change is of nothing.',
  ],
  [
    'operand dropped in core/ledger/change-balance.ts changeBalance: !attempted || error instanceof ConflictError => !attempted',
    'It then looks once more for an entry that is not there.',
  ],
  ['boundary moved in core/models/image-sizes.ts ratioText: ratio < 1 => ratio <= 1', 'Both are 1:1 then.'],
  [
    'boundary moved in core/models/retirement.ts retiredProblem: hops < settings.size => hops <= settings.size',
    'Only ends that name each other lead so far, and such an end is refused.',
  ],
  [
    'boundary moved in core/end-users/end-users.ts countCreationWrite: found.lastActiveAt > createdAt => found.lastActiveAt >= createdAt',
    'Both are the same instant then.',
  ],
  [
    'boundary moved in core/end-users/email-rules.ts withUnicodeDomain: at < 0 => at <= 0',
    'Without a local part it is no address either way.',
  ],
  ['boundary moved in core/time.ts later: one > other => one >= other', 'Both are the same instant then.'],
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
  [
    'effects reordered in core/deletion/resume-deletion.ts resumeDeletion: …stId, accountId, accounted } = deleted; const hasLeft = await leaveNamedRoutes( { requestId, accoun… => …stId, accountId, accounted } = deleted; if (model !== undefined) await cancelTasksOfDeleted({ reque…',
    'Neither depends on the other, and a repeated run does both.',
  ],
  [
    'boundary moved in core/table/table.ts queryFrom: calls > MAX_CALLS => calls >= MAX_CALLS',
    'It then gives up after 499 calls.',
  ],
  [
    'boundary moved in core/table/table.ts queryFrom: left > NEAR => left >= NEAR',
    'It then counts 400 items that it could have read: the page is the same.',
  ],
  [
    "effects reordered in functions/openai/make-images.ts received: …account; const { now } = request; const asked = await read(request); const models = await loadNamed… => …account; const { now } = request; const models = await loadNamedModels('image', account, now); cons…",
    'Neither depends on the other.',
  ],
  [
    'boundary moved in functions/openai/make-images.ts awaitImages: clock.now() >= until => clock.now() > until',
    'The pauses between checks never add up to whole seconds.',
  ],
  [
    'effects reordered in functions/openai/models.ts listModelNames: { const offered = await listOffered(account, now); const settings = await currentModelSettings(now);… => { const settings = await currentModelSettings(now); const offered = await listOffered(account, now);…',
    'Neither depends on the other.',
  ],
  [
    'effects reordered in functions/openai/models.ts loadNamedModels: { const names = await listModelNames(account, now); const settings = await currentModelSettings(now)… => { const settings = await currentModelSettings(now); const names = await listModelNames(account, now)…',
    'Neither depends on the other.',
  ],
  [
    "effects reordered in functions/openai/create-video.ts createOpenAiVideo: …; const { now, route } = request; const asked = await readVideoCall(request); const models = await … => …; const { now, route } = request; const models = await loadNamedModels('video', account, now); cons…",
    'Neither depends on the other.',
  ],
]);
