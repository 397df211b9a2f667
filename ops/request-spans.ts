import { deadlineOf } from '../core/executions/step-rules.ts';
import { toXTokens } from '../core/money.ts';
import {
  firstCallAt,
  hasOpenTask,
  latestAttempts,
  producedOutputs,
  repeatableAt,
} from '../core/provider-calls/attempt-rules.ts';
import type { AttemptOutcome, ProviderAttempt } from '../core/provider-calls/provider-attempts.ts';
import { callsBackFor } from '../core/provider-names.ts';
import {
  isTerminal,
  maxOutputs,
  type StoredOutput,
  type StoredRequest,
  statusAt,
} from '../core/requests/request-rules.ts';
import { type Instant, later, toInstant } from '../core/time.ts';
import type { RequestReport } from './request-report.ts';
import type { SpanOutcome, StorySpan } from './story-span.ts';
import { tellWebhookSpans } from './webhook-spans.ts';

/** The parts of a request's life as known at `now`, by their begin. Spans overlap: a provider's task contains the wait for it. */
export const tellSpans = (report: RequestReport, now: Date): StorySpan[] =>
  [
    tellQueue(report),
    ...tellCalls(report),
    ...tellQueueWaits(report),
    ...tellCapacityWaits(report, now),
    ...tellProviderWait(report),
    ...tellDeadline(report),
    ...tellStoring(report),
    ...tellSettling(report),
    ...tellFiles(report.request, now),
    ...tellWebhookSpans(report, now),
    // The sort is stable, so what begins at the same instant keeps the order above.
  ].sort((a, b) => (a.from === b.from ? 0 : a.from < b.from ? -1 : 1));

const tellQueue = ({ request, attempts, executions }: RequestReport): StorySpan => {
  const until = firstCallAt(attempts) ?? request.finishedAt ?? null;
  const isStarted = executions.some(({ workflow }) => workflow === 'generation');
  const open = isStarted ? 'waiting for the first provider call' : 'waiting for an execution';
  const wanted =
    request.kind === 'image'
      ? `${maxOutputs(request)} of ${request.size}`
      : `${request.durationSec} s of ${request.resolution}`;
  return {
    kind: 'queued',
    label: until === null ? open : 'queued',
    from: request.createdAt,
    until,
    detail: `${request.model}, ${wanted}, debit ${toXTokens(request.debitThousandths)}`,
  };
};

const tellCalls = ({ request, attempts }: RequestReport): StorySpan[] =>
  attempts.map((attempt) => {
    const { call, startedAt, finishedAt, outcome } = attempt;
    const number = attempt.attempt + 1;
    const isOver = finishedAt !== undefined || isTerminal(request);
    return {
      kind: 'provider-call',
      label: `provider call${numberOf(call, attempts)}${number > 1 ? `, attempt ${number}` : ''}`,
      from: startedAt,
      until: finishedAt ?? (isTerminal(request) ? (request.finishedAt ?? null) : null),
      attempt: number,
      ...(isOver || outcome ? outcomeOf(attempt) : routeDetailOf(attempt)),
    };
  });

/** The number of a call, after a space, where a request has several. */
const numberOf = (call: number, attempts: readonly ProviderAttempt[]): string =>
  attempts.some((other) => other.call !== 0) ? ` ${call + 1}` : '';

/** The route of a call that was not at the first one, and why the routes before it were not chosen. */
const describeRoute = ({
  provider,
  upstreamModel,
  assignment,
  passedOver = [],
}: ProviderAttempt): string[] => {
  if (assignment === 1 && passedOver.length === 0) return [];
  const others = passedOver.map(({ route, why }) => `not ${route}: ${why}`);
  return [`to ${provider}/${upstreamModel}`, ...others];
};

const routeDetailOf = (attempt: ProviderAttempt): Pick<StorySpan, 'detail'> => {
  const detail = describeRoute(attempt).join(', ');
  return detail === '' ? {} : { detail };
};

const outcomeOf = (attempt: ProviderAttempt): Pick<StorySpan, 'outcome' | 'detail'> => {
  const { outcome, taskId, cancellation } = attempt;
  const task = taskId === undefined ? [] : [`task ${taskId}`];
  const [kind, said] = describeOutcome(outcome);
  const detail = [...describeRoute(attempt), ...task, ...said, ...describeCancellation(cancellation)].join(
    ', ',
  );
  return { outcome: kind, ...(detail !== '' && { detail }) };
};

const describeCancellation = (cancellation: ProviderAttempt['cancellation']): string[] => {
  if (cancellation === undefined) return [];
  const { at, reason } = cancellation;
  return [reason === undefined ? `cancelled ${at}` : `not cancelled ${at}: ${reason}`];
};

const describeOutcome = (outcome: AttemptOutcome | undefined): [SpanOutcome, string[]] => {
  switch (outcome?.kind) {
    case 'done': {
      const produced = outcome.outputs.filter((output) => 'url' in output).length;
      const refused = outcome.outputs.flatMap((output) => ('failure' in output ? [output.failure.code] : []));
      return ['succeeded', [`${produced} of ${outcome.outputs.length} produced`, ...new Set(refused)]];
    }
    case 'failed':
    case 'lost': {
      const upstream = outcome.kind === 'failed' ? outcome.upstream : undefined;
      const own =
        upstream && [upstream.code, upstream.message].filter((part) => part !== undefined).join(': ');
      return [
        outcome.kind,
        [`${outcome.failure.code}: ${outcome.failure.message}`, ...(own ? [`the provider said ${own}`] : [])],
      ];
    }
    case 'busy':
      return ['busy', [outcome.reason]];
    case 'accepted':
      return ['accepted', []];
    case 'unreadable':
      return ['unknown', ['of another version']];
    default:
      return ['unknown', []];
  }
};

/** From each busy answer to the next attempt of the same call. */
const tellCapacityWaits = ({ request, attempts }: RequestReport, now: Date): StorySpan[] =>
  attempts.flatMap((attempt) => {
    const { call, finishedAt, outcome } = attempt;
    if (outcome?.kind !== 'busy' || finishedAt === undefined) return [];
    const later = attempts.filter((other) => other.attempt > attempt.attempt);
    // Another route may have another plan.
    const next = later.find((other) => other.call === call) ?? later[0];
    const until = next?.startedAt ?? request.finishedAt ?? future(repeatableAt(attempt), now);
    const number = numberOf(call, attempts);
    const label = number === '' ? 'waiting for capacity' : `call${number} waiting for capacity`;
    return [{ kind: 'capacity-wait', label, from: finishedAt, until, detail: outcome.reason }];
  });

/** Each wait for a permit of the provider's route. */
const tellQueueWaits = ({ request, executions }: RequestReport): StorySpan[] =>
  executions
    .filter(({ workflow }) => workflow === 'generation')
    .flatMap(({ states }) =>
      states.flatMap(({ state, enteredAt }, index): StorySpan[] => {
        if (state !== 'Wait for capacity') return [];
        const until = states[index + 1]?.enteredAt ?? request.finishedAt ?? null;
        return [{ kind: 'capacity-wait', label: 'waiting in the queue', from: enteredAt, until }];
      }),
    );

const future = (instant: Instant, now: Date): Instant | null => (instant > toInstant(now) ? instant : null);

const tellProviderWait = ({ request, attempts, wait, executions }: RequestReport): StorySpan[] => {
  const latest = latestAttempts(attempts);
  const from = enteredFirst(executions, 'Wait for provider') ?? wait?.waitingSince;
  if (from === undefined) return [];
  const finished = latest.flatMap(({ finishedAt }) => finishedAt ?? []).sort();
  const until = hasOpenTask(latest) ? (request.finishedAt ?? null) : (finished.at(-1) ?? null);
  const isCalledBack = latest.some(({ provider }) => callsBackFor(provider, request.kind));
  const news = [
    ...(wait?.calledBackAt === undefined ? [] : [`called back ${wait.calledBackAt}`]),
    ...(wait?.queriedAt === undefined ? [] : [`queried last ${wait.queriedAt}`]),
  ].join(', ');
  return [
    {
      kind: 'provider-wait',
      label: isCalledBack ? 'waiting for the callback' : 'waiting, provider polled',
      from,
      until: until === null ? null : later(from, until),
      ...(news !== '' && { detail: news }),
    },
  ];
};

const tellDeadline = ({ request, attempts, timings }: RequestReport): StorySpan[] => {
  const { kind } = request;
  const from = firstCallAt(attempts);
  const { deadlineSeconds } = timings;
  if (from === undefined || isTerminal(request)) return [];
  const until = deadlineOf({ kind, firstCallAt: from }, { deadlineSeconds });
  return [{ kind: 'deadline', label: 'until its deadline', from, until }];
};

const tellStoring = ({ request, attempts, executions, files }: RequestReport): StorySpan[] => {
  const latest = latestAttempts(attempts);
  const produced = producedOutputs(latest).slice(0, maxOutputs(request));
  const entered = enteredFirst(executions, 'Store outputs');
  const from =
    entered ??
    latest
      .flatMap(({ finishedAt }) => finishedAt ?? [])
      .sort()
      .at(-1);
  const outputs: StoredOutput[] =
    request.outputs ?? request.storedSoFar ?? produced.map((_, index) => ({ index }));
  // Without an execution's history, only stored outputs show that storing began.
  if (from === undefined || (entered === undefined && !request.outputs && !request.storedSoFar)) return [];
  const end = enteredLast(executions, 'Settle request') ?? request.finishedAt ?? null;
  return outputs.map(({ index, objectKey }): StorySpan => {
    const file = files.find((stored) => stored.objectKey === objectKey);
    const isOver = request.outputs !== undefined || isTerminal(request);
    return {
      kind: 'storing',
      label: outputs.length > 1 ? `storing output ${index + 1} of ${outputs.length}` : 'storing the output',
      from,
      until: file && file.storedAt > from && (end === null || file.storedAt < end) ? file.storedAt : end,
      ...(objectKey !== undefined
        ? { outcome: 'succeeded', detail: file ? `${objectKey}, ${file.sizeBytes} bytes` : objectKey }
        : isOver && { outcome: 'failed', detail: 'no file was stored' }),
    };
  });
};

const tellSettling = ({ request, executions }: RequestReport): StorySpan[] => {
  const { status, finishedAt, error, operatorNote, costThousandths = 0, refundThousandths } = request;
  const entered =
    enteredLast(executions, 'Settle request') ?? enteredLast(executions, 'Fail request') ?? finishedAt;
  if (entered === undefined) return [];
  if (finishedAt === undefined || (status !== 'succeeded' && status !== 'failed')) {
    return [{ kind: 'settling', label: 'settling', from: entered, until: null }];
  }
  const refund = refundThousandths ? `, ${toXTokens(refundThousandths)} refunded` : '';
  const note = operatorNote === undefined ? '' : ` (${operatorNote})`;
  return [
    {
      kind: 'settling',
      label: status === 'failed' ? 'failing and refunding' : 'settling',
      from: entered < finishedAt ? entered : finishedAt,
      until: finishedAt,
      outcome: status,
      detail: error
        ? `${error.code}: ${error.message}${note}`
        : `cost ${toXTokens(costThousandths)}${refund}`,
    },
  ];
};

const tellFiles = (request: StoredRequest, now: Date): StorySpan[] => {
  const { finishedAt, expiresAt, expiredAt, removalFailures, GSI1SK: nextAt } = request;
  if (request.status !== 'succeeded' || finishedAt === undefined || expiresAt === undefined) return [];
  const available: StorySpan = {
    kind: 'available',
    label: 'files available',
    from: finishedAt,
    until: expiresAt,
  };
  if (statusAt(request, now) !== 'expired') return [available];
  const isRemoved = expiredAt !== undefined;
  const removal: StorySpan = {
    kind: 'removal',
    label: isRemoved ? 'files removed' : 'removing files',
    from: expiresAt,
    until: expiredAt ?? null,
    ...(isRemoved && { outcome: 'succeeded' }),
    ...(removalFailures &&
      !isRemoved && { detail: `failed ${removalFailures} times, next attempt from ${nextAt}` }),
  };
  return [available, removal];
};

const entryTimesOf = (executions: RequestReport['executions'], state: string): Instant[] =>
  executions
    .filter(({ workflow }) => workflow === 'generation')
    .flatMap(({ states }) => states.flatMap((entry) => (entry.state === state ? [entry.enteredAt] : [])));

const enteredFirst = (executions: RequestReport['executions'], state: string): Instant | undefined =>
  entryTimesOf(executions, state)[0];

const enteredLast = (executions: RequestReport['executions'], state: string): Instant | undefined =>
  entryTimesOf(executions, state).at(-1);
