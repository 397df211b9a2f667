/** Effects in another order: none of a pair needs the other. Each by its name, with the reason. */
export const ORDERS: readonly (readonly [name: string, reason: string])[] = [
  [
    'effects reordered in core/accounts/delete-account.ts deleteAccount: …tion(accountId)); await removePartition(endUserPartition(accountId)); await removePartition(idempot… => …tion(accountId)); await removePartition(idempotencyPartition(accountId)); await removePartition(end…',
    'Nothing reads these partitions once the account is gone.',
  ],
  [
    'effects reordered in core/admission/await-capacity.ts awaitCapacity: …a lost execution and restarts it. await checkQueuedAt(requestId, addSeconds(toInstant(clock.now()),… => …a lost execution and restarts it. await startReconcilerIfDead(clock); await checkQueuedAt(requestId…',
    'The run finds the request by its queue.',
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
    "effects reordered in core/creation/measured-creation.ts measureCreation: …edWork, 'clips', isThrottled), }; const slots = await waitingLimits('clips', accountId, limit, now)… => …edWork, 'clips', isThrottled), }; const work = await workFor({ request, now }, inputs, carried); co…",
    'The limits are read, and the URLs signed: neither depends on the other.',
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
    'effects reordered in core/deletion/resume-deletion.ts resumeDeletion: …stId, accountId, accounted } = deleted; const hasLeft = await leaveNamedRoutes( { requestId, accoun… => …stId, accountId, accounted } = deleted; if (model !== undefined) await cancelTasksOfDeleted({ reque…',
    'Neither depends on the other, and a repeated run does both.',
  ],
  [
    "effects reordered in functions/openai/make-images.ts received: …account; const { now } = request; const asked = await read(request); const models = await loadNamed… => …account; const { now } = request; const models = await loadNamedModels('image', account, now); cons…",
    'Neither depends on the other.',
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
];
