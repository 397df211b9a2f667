import { toXTokens } from '../core/money.ts';
import type { AttemptOutcome } from '../core/provider-calls/provider-attempts.ts';
import { maxOutputs, statusAt } from '../core/requests/request-rules.ts';
import type { Instant } from '../core/time.ts';
import type { RequestReport } from './request-report.ts';

/** One event. `what` names its kind. */
export interface StoryLine {
  at: Instant;
  what: string;
  detail: string;
}

/** The events of a request up to `now`, by time. Events of the same instant come in causal order. */
export const tellStory = (report: RequestReport, now: Date): StoryLine[] =>
  [
    ...tellCreation(report),
    ...tellMoney(report),
    ...tellExecutions(report),
    ...tellProvider(report),
    ...tellFiles(report),
    ...tellEnd(report, now),
    ...tellWebhooks(report),
    // The sort is stable, so equal instants keep the order above.
  ].sort((a, b) => (a.at === b.at ? 0 : a.at < b.at ? -1 : 1));

const tellCreation = ({ request }: RequestReport): StoryLine[] => {
  const outputs = maxOutputs(request);
  const output =
    request.kind === 'image'
      ? `${outputs} of ${request.size}`
      : `${request.durationSec} s of ${request.resolution}`;
  return [{ at: request.createdAt, what: 'accepted', detail: `${request.model}, ${output}` }];
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
  const lines = attempts.flatMap((made) => {
    const { call, attempt, startedAt, finishedAt, taskId, outcome, cancellation } = made;
    const name = `call ${call}, try ${attempt}`;
    const task = taskId === undefined ? '' : `, task ${taskId}`;
    return [
      { at: startedAt, what: 'provider called', detail: name + task },
      ...(finishedAt === undefined
        ? []
        : [{ at: finishedAt, what: 'provider answered', detail: `${name}: ${describeOutcome(outcome)}` }]),
      ...(cancellation === undefined
        ? []
        : [
            {
              at: cancellation.at,
              what: cancellation.reason === undefined ? 'task cancelled' : 'task not cancelled',
              detail: cancellation.reason === undefined ? name : `${name}: ${cancellation.reason}`,
            },
          ]),
    ];
  });
  const waits: [Instant | undefined, string][] = [
    [wait?.waitingSince, 'waits for provider'],
    [wait?.queriedAt, 'provider asked last'],
    [wait?.calledBackAt, 'provider called back'],
  ];
  return [...lines, ...waits.flatMap(([at, what]) => (at === undefined ? [] : [{ at, what, detail: '' }]))];
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
  const { removalFailures, GSI1SK: nextAt } = request;
  const lines: StoryLine[] = [];
  if (finishedAt !== undefined) {
    const note = operatorNote === undefined ? '' : ` (${operatorNote})`;
    const detail = error ? `${error.code}: ${error.message}${note}` : `cost ${toXTokens(costThousandths)}`;
    lines.push({ at: finishedAt, what: status, detail });
  }
  if (expiresAt !== undefined && statusAt(request, now) === 'expired') {
    const detail = removalFailures
      ? `its files could not be removed ${removalFailures} times; next attempt from ${nextAt}`
      : '';
    lines.push({ at: expiresAt, what: 'expired', detail });
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
