import { toXTokens } from '../core/money.ts';
import type { AttemptOutcome } from '../core/provider-calls/provider-attempts.ts';
import { maxOutputs, statusAt } from '../core/requests/request-rules.ts';
import type { Instant } from '../core/time.ts';
import type { RequestReport } from './request-report.ts';

/** One thing that happened. */
export interface StoryLine {
  at: Instant;
  what: string;
  detail: string;
}

/** What happened to a request until `now`, in time order. What happened at the same instant stands in the order of its causes. */
export const tellStory = (report: RequestReport, now: Date): StoryLine[] =>
  [
    ...tellBeginning(report),
    ...tellMoney(report),
    ...tellExecutions(report),
    ...tellProvider(report),
    ...tellFiles(report),
    ...tellEnd(report, now),
    ...tellWebhooks(report),
    // The sort is stable.
  ].sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));

const tellBeginning = ({ request }: RequestReport): StoryLine[] => {
  const outputs = maxOutputs(request);
  const asked =
    request.kind === 'image'
      ? `${outputs} of ${request.size}`
      : `${request.durationSec} s of ${request.resolution}`;
  return [{ at: request.createdAt, what: 'accepted', detail: `${request.model}, ${asked}` }];
};

const tellMoney = ({ entries }: RequestReport): StoryLine[] =>
  entries.map(({ createdAt, reason, number, amountThousandths, balanceAfterThousandths }) => ({
    at: createdAt,
    what: reason === 'generation' ? 'debit' : reason,
    detail: `${toXTokens(amountThousandths)}, entry ${number}, leaves ${toXTokens(balanceAfterThousandths)}`,
  }));

const tellExecutions = ({ executions }: RequestReport): StoryLine[] =>
  executions.flatMap(({ workflow, name, status, startedAt, stoppedAt, error, cause, states }) => [
    { at: startedAt, what: `${workflow} started`, detail: name },
    ...states.map(({ state, enteredAt }) => ({ at: enteredAt, what: workflow, detail: state })),
    ...(stoppedAt === null
      ? []
      : [
          {
            at: stoppedAt,
            what: `${workflow} ended`,
            detail: [status, error, cause].filter((part) => part !== null).join(', '),
          },
        ]),
  ]);

const tellProvider = ({ attempts, wait }: RequestReport): StoryLine[] => {
  const lines = attempts.flatMap(({ call, attempt, startedAt, finishedAt, taskId, outcome }) => {
    const which = `call ${call}, try ${attempt}`;
    const task = taskId === undefined ? '' : `, task ${taskId}`;
    return [
      { at: startedAt, what: 'provider called', detail: which + task },
      ...(finishedAt === undefined
        ? []
        : [{ at: finishedAt, what: 'provider answered', detail: `${which}: ${describeOutcome(outcome)}` }]),
    ];
  });
  const told: [Instant | undefined, string][] = [
    [wait?.waitingSince, 'waits for provider'],
    [wait?.queriedAt, 'provider asked last'],
    [wait?.calledBackAt, 'provider called back'],
  ];
  return [...lines, ...told.flatMap(([at, what]) => (at === undefined ? [] : [{ at, what, detail: '' }]))];
};

const describeOutcome = (outcome: AttemptOutcome | undefined): string => {
  switch (outcome?.kind) {
    case 'done': {
      const produced = outcome.outputs.filter((output) => 'url' in output).length;
      return `done, ${produced} of ${outcome.outputs.length} produced`;
    }
    case 'failed':
    case 'lost':
      return `${outcome.kind}, ${outcome.failure.code}: ${outcome.failure.message}`;
    case 'busy':
      return `busy, ${outcome.reason}`;
    default:
      return 'not known';
  }
};

const tellFiles = ({ files }: RequestReport): StoryLine[] =>
  files.map(({ objectKey, sizeBytes, storedAt }) => ({
    at: storedAt,
    what: 'file stored',
    detail: `${objectKey}, ${sizeBytes} bytes`,
  }));

const tellEnd = ({ request }: RequestReport, now: Date): StoryLine[] => {
  const { status, finishedAt, expiresAt, expiredAt, error, operatorNote, costThousandths = 0 } = request;
  const lines: StoryLine[] = [];
  if (finishedAt !== undefined) {
    const note = operatorNote === undefined ? '' : ` (${operatorNote})`;
    const detail = error ? `${error.code}: ${error.message}${note}` : `cost ${toXTokens(costThousandths)}`;
    lines.push({ at: finishedAt, what: status, detail });
  }
  if (expiresAt !== undefined && statusAt(request, now) === 'expired') {
    lines.push({ at: expiresAt, what: 'expired', detail: '' });
  }
  if (expiredAt !== undefined) lines.push({ at: expiredAt, what: 'files removed', detail: '' });
  return lines;
};

const tellWebhooks = ({ webhooks }: RequestReport): StoryLine[] =>
  webhooks.map(({ startedAt, delivery, number, status, error, milliseconds }) => ({
    at: startedAt,
    what: 'webhook tried',
    detail: `${delivery}, try ${number}: ${status ?? error}, ${milliseconds} ms`,
  }));
