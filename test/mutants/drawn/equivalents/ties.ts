/** Moved boundaries: both sides of such a boundary do the same. Each by its name, with the reason. */
export const TIES: readonly (readonly [name: string, reason: string])[] = [
  [
    'boundary moved in core/creation/idempotency.ts canonicalJson: a < b => a <= b',
    'No two fields of an object have the same name.',
  ],
  [
    'boundary moved in core/accounts/consume-api-key.ts remember: lastSeenTat.size >= MAX_REMEMBERED_KEYS => lastSeenTat.size > MAX_REMEMBERED_KEYS',
    'It then remembers 10,001 keys.',
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
    'boundary moved in core/reconciler/loop.ts Run: pauseMs > 0 => pauseMs >= 0',
    'It then pauses for no time.',
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
    'boundary moved in core/requests/request-lists.ts matchingEntries: oldest > newest => oldest >= newest',
    'No request has an id that is a bound.',
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
    'boundary moved in core/reconciler/task-lister.ts TaskLister: nowMs - queriedMs >= UNNAMED_MS => nowMs - queriedMs > UNNAMED_MS',
    'It then is queried after the list that comes a second later.',
  ],
  [
    'boundary moved in core/route-pauses/route-states.ts currentRouteStates: Math.abs(now.getTime() - readAtMs) < MAX_AGE_MS => Math.abs(now.getTime() - readAtMs) <= MAX_AGE_MS',
    'It then uses a state for a millisecond longer.',
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
    'boundary moved in core/dispatch/make-calls.ts claimCalls: clock.now().getTime() < claimAt.getTime() + MAX_CLAIM_MS => clock.now().getTime() <= claimAt.getTime() + MAX_CLAIM_MS',
    'It then tries for a millisecond longer.',
  ],
  [
    'boundary moved in core/dispatch/make-calls.ts makeCall: clock.now().getTime() < endMs => clock.now().getTime() <= endMs',
    'It then tries for a millisecond longer.',
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
    'boundary moved in core/ledger/ledger.ts entryOfChange: change.amountThousandths < 0 => change.amountThousandths <= 0',
    'No change is of nothing.',
  ],
  [
    'boundary moved in core/ledger/ledger.ts balanceWrite: change.amountThousandths > 0 => change.amountThousandths >= 0',
    'No change is of nothing.',
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
    'boundary moved in core/table/table.ts queryFrom: calls > MAX_CALLS => calls >= MAX_CALLS',
    'It then gives up after 499 calls.',
  ],
  [
    'boundary moved in core/table/table.ts queryFrom: left > NEAR => left >= NEAR',
    'It then counts 400 items that it could have read: the page is the same.',
  ],
  [
    'boundary moved in functions/openai/make-images.ts awaitImages: clock.now() >= until => clock.now() > until',
    'The pauses between checks never add up to whole seconds.',
  ],
];
