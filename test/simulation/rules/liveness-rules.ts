import { type CreationCall, type Evidence, SAME_ID } from '../evidence/evidence.ts';
import { errorCodeOf, type Life, objectKeysOf } from '../evidence/witness.ts';
import { MARGIN_MS } from '../world/clocks.ts';

/** Everything that decides whether a request ended as it should. */
export interface Ending {
  life: Life;
  evidence: Evidence;
  /** How many calls its provider is due. */
  plannedCalls: number;
  /** Seconds that its provider has for it, from the first call. */
  deadlineSeconds: number;
  /** Seconds that it may wait for its first call. */
  queueSeconds: number;
  /** How many of its calls its route lets be under way at once. */
  permits: number;
  /** When it ended, in epoch milliseconds. */
  endedAt: number;
  /** By how much what was due at the first instant may be late at the second, in milliseconds. */
  excusedMs: (from: number, to: number) => number;
}

/** How long after its deadline a request may end: while nothing is wrong, and once something went wrong since its acceptance. */
const LATE_MS = { calm: 60_000, disturbed: 140_000 };
/** How long a provider refuses us before that is final. */
const REFUSED_MS = 300_000;
/** The longest that a creation takes, which reads the routes at its beginning. */
const CREATION_MS = 30_000;
/** The status of the answer to a credential that was revoked. */
const UNAUTHORIZED = 401;
/** How often a file's own server may fail before the file counts as one that cannot be had. */
const FILE_ATTEMPTS = 3;

/** When a request may be given up although nothing was lost, in epoch milliseconds. */
const deadlineOf = ({ life, evidence, deadlineSeconds, queueSeconds }: Ending): number => {
  const [first] = evidence.callsOf(life.requestId);
  // A creation counts from its beginning, and measures reference videos before it is accepted.
  const createdAt = Math.min(life.acceptedAt, Date.parse(String(life.accepted.createdAt)));
  return first ? first.sentAt + deadlineSeconds * 1000 : createdAt + queueSeconds * 1000;
};

/** Why a request need not get everything that was planned for it. Each looks at that request alone. */
const REQUEST_EXCUSES: Record<string, (ending: Ending) => boolean> = {
  'an operator failed it or stopped its execution': ({ life, evidence }) =>
    evidence.interventions.has(life.requestId),
  'its model had no route, and nobody knew where to call': ({ life, evidence }) =>
    (evidence.unroutedAt.get(String(life.accepted.model)) ?? 0) >= life.acceptedAt - CREATION_MS,
  'the service was not allowed to store a file': ({ life, evidence }) => evidence.denied.has(life.requestId),
};

/** Since when the provider refuses queries of a call's task; undefined when it answered, or was not queried. */
const refusedSince = ({ made }: CreationCall, { evidence }: Ending): number | undefined =>
  made && evidence.refusedTasks.get(made.id);

/** Why what a provider took one call for need not be delivered. */
const CALL_EXCUSES: Record<string, (call: CreationCall, ending: Ending) => boolean> = {
  'its answer was lost on its way': ({ end }) => end === 'lost',
  'its maker died before it had written the answer down': ({ maker }, { evidence, life }) =>
    maker?.dead === true && evidence.interrupted.of(life.requestId) > 0,
  'the provider failed it, or never says that it is done': ({ made }) => made?.works !== true,
  'the provider finishes it after the deadline': ({ made }, ending) =>
    (made?.doneAt ?? 0) > deadlineOf(ending) - MARGIN_MS,
  'the provider refused us for five minutes': (call, ending) =>
    ending.endedAt - (refusedSince(call, ending) ?? Number.POSITIVE_INFINITY) > REFUSED_MS - MARGIN_MS,
  'the provider did not say its state at the deadline': ({ made }, ending) =>
    made !== undefined &&
    (ending.evidence.untoldTasks.has(made.id) ||
      (ending.evidence.toldAgainAt.get(made.id) ?? 0) > ending.endedAt) &&
    ending.endedAt >= deadlineOf(ending) - MARGIN_MS,
};

/** Whether its provider did not take a call, and may take it another time. */
const isTurnedAway = ({ status, end, isQuota }: CreationCall): boolean =>
  (status === 429 && !isQuota) || end === 'unreached';

/** How many claims of a request look to the service like those of accepted calls, though nothing was taken: their makers died. */
export const unknownClaims = (requestId: string, evidence: Evidence): number => {
  if (evidence.interrupted.of(requestId) === 0) return 0;
  const calls = evidence.callsOf(requestId);
  // A claim whose maker died, or never heard of it, before the call left counts as made.
  const unsent = Math.max(0, evidence.claims.of(requestId) - calls.length);
  // The same holds for a call that was turned away or never arrived, if the calling function died before recording
  // the outcome.
  const turnedAway = calls.filter(isTurnedAway).length;
  return unsent + Math.max(0, turnedAway - evidence.busyAnswers.of(requestId));
};

/** Why a planned call need never have been taken by its provider, besides being excused above. */
const UNTAKEN_EXCUSES: Record<string, (calls: readonly CreationCall[], ending: Ending) => boolean> = {
  'its provider was busy or out of reach until the deadline': (calls, ending) => {
    const last = calls.at(-1);
    return last !== undefined && isTurnedAway(last) && ending.endedAt >= deadlineOf(ending) - MARGIN_MS;
  },
  'operators had left all routes of its model': (_calls, { life, evidence }) =>
    (evidence.unusedUntil.get(String(life.accepted.model)) ?? 0) >= life.acceptedAt - CREATION_MS,
  'its last call was cut off by the deadline': (calls, ending) =>
    calls.at(-1)?.end === 'early' && (calls.at(-1)?.settledAt ?? 0) >= deadlineOf(ending) - MARGIN_MS,
  'its other calls used up what its route allows, and got no answer until the deadline': (calls, ending) =>
    calls.filter(({ settledAt = 0 }) => settledAt >= deadlineOf(ending) - MARGIN_MS).length >= ending.permits,
  'its turn did not come in time': (calls, ending) =>
    calls.length === 0 && ending.endedAt >= deadlineOf(ending) - MARGIN_MS,
  'the turn for a call that was turned away did not come again in time': (calls, ending) =>
    calls.some(isTurnedAway) &&
    Number.isFinite(ending.permits) &&
    ending.endedAt >= deadlineOf(ending) - MARGIN_MS,
};

/** Whether a call is over for good: taken, refused for its content or credential, or of unknown outcome. */
const isFinal = ({ end, status, made, maker, isQuota }: CreationCall): boolean =>
  made !== undefined ||
  isQuota === true ||
  end === 'lost' ||
  (end === 'open' && maker?.dead === true) ||
  (end === 'answered' && status !== 429);

/** Problems of an ended request: work that was paid for and not delivered, or never requested from the provider. */
export const endingProblems = (ending: Ending): string[] => {
  const { life, evidence, plannedCalls } = ending;
  const { requestId, last } = life;
  if (Object.values(REQUEST_EXCUSES).some((holds) => holds(ending))) return [];
  const calls = evidence.callsOf(requestId);
  const made = calls
    .filter((call) => call.made && !Object.values(CALL_EXCUSES).some((holds) => holds(call, ending)))
    .flatMap(({ made }) => made?.urls ?? [])
    .filter((url) => evidence.refusedFiles.of(url) < FILE_ATTEMPTS).length;
  // Outputs beyond the number paid for are not delivered.
  const due = Math.min(made, Number(life.accepted.images ?? 1));
  const delivered = last.status === 'succeeded' ? objectKeysOf(last).length : 0;
  const code = errorCodeOf(last) ?? '';
  const how = `ended as ${last.status} ${code}`.trim();
  const problems: string[] = [];
  if (delivered < due) {
    problems.push(
      `[wasted] ${requestId} ${how}: ${delivered} of ${due} outputs that were made are delivered`,
    );
  }
  const isUnfinished = calls.some((call) => call.made?.doneAt === Number.POSITIVE_INFINITY);
  // A write of a function that died may have been under way.
  const isOurs = evidence.faultAt >= life.acceptedAt - MARGIN_MS;
  if (!isOurs && isUnfinished && code === 'internal_error') {
    problems.push(`[blame] ${requestId} ${how}, and its provider did not finish`);
  }
  const isRefused =
    calls.some((call) => (refusedSince(call, ending) ?? ending.endedAt) < ending.endedAt - MARGIN_MS) ||
    (calls.length > 0 && calls.every(({ status }) => status === UNAUTHORIZED));
  if (isRefused && code === 'provider_timeout') {
    problems.push(`[pauses] ${requestId} ${how}, and its provider refused us`);
  }
  const lateMs = ending.endedAt - deadlineOf(ending);
  // Once its execution was held up, the loop ends it: within the two minutes of the promise, and a slack.
  const inMs = isOurs ? LATE_MS.disturbed : LATE_MS.calm;
  const mostMs = inMs + ending.excusedMs(deadlineOf(ending), ending.endedAt);
  if (code === 'provider_timeout' && lateMs > mostMs) {
    problems.push(`[late end] ${requestId} ${how} ${lateMs} ms after its deadline`);
  }
  const untaken = plannedCalls - calls.filter(isFinal).length - unknownClaims(requestId, evidence);
  if (untaken > 0 && !Object.values(UNTAKEN_EXCUSES).some((holds) => holds(calls, ending))) {
    const asked = calls.length === 0 ? 'unasked' : 'given up';
    const rule = code === 'internal_error' ? 'dropped' : asked;
    problems.push(`[${rule}] ${requestId} ${how}: ${untaken} of ${plannedCalls} calls were never taken`);
  }
  return problems;
};

/**
 * Problems of the last of these calls, which was just sent. A call beyond the planned calls repeats a call that the
 * provider account turned away. The n-th repeat must not come before the n-th retry time that the account asked for.
 */
export const repeatProblems = (all: readonly CreationCall[], plannedCalls: number): string[] => {
  const last = all.at(-1);
  const calls = all.filter(({ account }) => account === last?.account);
  const repeats = calls.length - plannedCalls;
  if (!last || repeats <= 0) return [];
  const allowed = calls
    .filter((call) => call !== last && isTurnedAway(call))
    .map(({ retryAt, sentAt }) => retryAt ?? sentAt)
    .toSorted((a, b) => a - b)[repeats - 1];
  if (allowed === undefined || last.sentAt > allowed - MARGIN_MS) return [];
  return [
    `[hasty] ${last.requestId} was sent ${allowed - last.sentAt} ms before its provider takes it again`,
  ];
};

/** How far a request has come that has not ended. */
export interface Progress {
  life: Life;
  evidence: Evidence;
  deadlineSeconds: number;
  /**
   * Its execution; undefined when it never had one. `since`: when it entered its state, or ended; `begunAt`: when it last began
   * that state's task.
   */
  execution: { isRunning: boolean; state: string; since: number; begunAt: number } | undefined;
  /** Whether it waits in a queue. */
  isQueued: boolean;
  /** Since when the outcome of every call is recorded, in epoch milliseconds; undefined until then. */
  recordedAt: number | undefined;
  now: number;
  /** By how much what was due at an instant may be late now, in milliseconds. */
  excusedMs: (from: number) => number;
}

/** The bounds of recovery, in milliseconds: decisions, section 6, and the minute until the next run. */
export const BOUND_MS = {
  /** A request that never started, or whose execution's end was reported. */
  lost: 120_000,
  /** A request of whose execution's end nobody was told. */
  unreported: 300_000 + 60_000,
  /** A request that waits although its provider has finished. */
  waiting: 300_000 + 60_000,
  /** From the last thing that was made, or the deadline, to the end: waiting, storing slow files, and ending. */
  ending: 15 * 60_000,
} as const;
/** How long callbacks of a task that its provider forgot are taken for too early, and repeated, each a query. */
const FORGOTTEN_MS = 60_000;
/** How long a request may wait for what is known, while nothing is wrong. */
const KNOWN_MS = 20_000;
/** How long a run of the reconciler may take to reach a request, and an answer to be written. */
const SLACK_MS: Record<keyof typeof BOUND_MS, number> = {
  // The promise itself: the service keeps the slack.
  lost: 0,
  unreported: 20_000,
  waiting: 20_000,
  ending: 20_000,
};

/** Which of its bounds, and of what the table of lateness excuses besides, an open request has exceeded. */
export const progressProblems = ({
  life,
  evidence,
  deadlineSeconds,
  execution,
  isQueued,
  recordedAt,
  now,
  excusedMs,
}: Progress): string[] => {
  const { requestId, acceptedAt } = life;
  const exceeded = (since: number, bound: keyof typeof BOUND_MS): boolean =>
    now - since > BOUND_MS[bound] + SLACK_MS[bound] + excusedMs(since);
  const over = (bound: keyof typeof BOUND_MS): string => `for more than ${BOUND_MS[bound] / 1000} s`;
  if (!execution?.isRunning) {
    const since = execution?.since ?? acceptedAt;
    const bound = evidence.unreported.has(requestId) ? 'unreported' : 'lost';
    // It is found when its turn comes: judged with its route.
    if (bound === 'unreported' && isQueued) return [];
    if (exceeded(since, bound)) {
      return [`[unnoticed] ${requestId} has no execution ${over(bound)} and nobody starts or ends it`];
    }
    return [];
  }
  const calls = evidence.callsOf(requestId);
  // Judged with its route.
  if (execution.state === 'Wait for capacity') return [];
  const deadline = (calls[0]?.sentAt ?? acceptedAt) + deadlineSeconds * 1000;
  const doneAt = Math.max(
    calls.length === 0 ? execution.since : acceptedAt,
    ...calls.map(({ made, sentAt }) =>
      Math.min(made ? made.doneAt + (made.forgotten ? FORGOTTEN_MS : 0) : sentAt, deadline),
    ),
  );
  const isWaiting = execution.state === 'Wait for provider' && calls.length > 0;
  const calledBackAt = evidence.calledBackAt.get(requestId) ?? 0;
  // A query by an id that two tasks have answers for the later task.
  const sharesId = calls.some(({ made }) => made?.id === SAME_ID);
  const isReported = calledBackAt > doneAt && doneAt < deadline && !sharesId;
  const toldAt = isReported ? calledBackAt : undefined;
  const knownAt = Math.min(recordedAt ?? Number.POSITIVE_INFINITY, toldAt ?? Number.POSITIVE_INFINITY);
  const knownFor = now - Math.max(execution.since, knownAt);
  // After a fault the next rule holds.
  if (isWaiting && evidence.disturbedAt < acceptedAt && knownFor > KNOWN_MS) {
    return [`[idle] ${requestId} waits for ${knownFor} ms although its provider is known to have finished`];
  }
  if (isWaiting && exceeded(Math.max(doneAt, execution.begunAt), 'waiting')) {
    return [`[unwoken] ${requestId} waits ${over('waiting')} although its provider has finished`];
  }
  if (exceeded(doneAt, 'ending')) {
    return [`[unending] ${requestId} is ${life.last.status} ${over('ending')}, in ${execution.state}`];
  }
  return [];
};
