import type { WebhookAttempt } from '../core/deliveries/webhook-attempts.ts';
import { isTerminal, type StoredRequest } from '../core/requests/request-rules.ts';
import { addSeconds, type Instant, toInstant } from '../core/time.ts';
import type { ExecutionHistory } from './execution-history.ts';
import type { RequestReport } from './request-report.ts';
import type { StorySpan } from './story-span.ts';

/** The attempts of every webhook delivery and the pauses between them; the next attempt ends the last pause. */
export const tellWebhookSpans = (report: RequestReport, now: Date): StorySpan[] =>
  deliveriesOf(report).flatMap((delivery) => [
    ...delivery.attempts.flatMap((attempt) => [
      tellAttempt(delivery, attempt),
      ...tellPause(delivery, attempt, report, now),
    ]),
    ...(delivery.attempts.length === 0 ? tellFirstPause(delivery, report.request) : []),
  ]);

interface Delivery {
  /** Label: `webhook` if the end of the request started the delivery, `webhook resent 2` for the second by an operator. */
  prefix: string;
  attempts: WebhookAttempt[];
  execution: ExecutionHistory | undefined;
}

const deliveriesOf = ({ request, webhooks, executions }: RequestReport): Delivery[] => {
  const started = executions.filter(({ workflow }) => workflow === 'webhook-delivery');
  const names = new Set([...webhooks.map(({ delivery }) => delivery), ...started.map(({ name }) => name)]);
  const resent = [...names].filter((name) => name !== request.requestId);
  return [...names].map((name) => ({
    prefix: name === request.requestId ? 'webhook' : `webhook resent ${resent.indexOf(name) + 1}`,
    attempts: webhooks.filter(({ delivery }) => delivery === name).sort((a, b) => a.number - b.number),
    execution: started.find((execution) => execution.name === name),
  }));
};

const endOf = ({ startedAt, milliseconds }: WebhookAttempt): Instant =>
  addSeconds(startedAt, milliseconds / 1000);

const isDelivered = ({ status }: WebhookAttempt): boolean =>
  status !== undefined && status >= 200 && status < 300;

const tellAttempt = ({ prefix, attempts, execution }: Delivery, attempt: WebhookAttempt): StorySpan => {
  const { number, status, error, startedAt } = attempt;
  const isGivenUp = attempt === attempts.at(-1) && !isDelivered(attempt) && execution?.status === 'SUCCEEDED';
  return {
    kind: 'webhook-attempt',
    label: `${prefix}, attempt ${number}`,
    from: startedAt,
    until: endOf(attempt),
    attempt: number,
    outcome: isDelivered(attempt) ? 'succeeded' : 'failed',
    detail: `${status === undefined ? error : `HTTP ${status}`}${isGivenUp ? ', given up' : ''}`,
  };
};

const tellPause = (
  { prefix, attempts, execution }: Delivery,
  attempt: WebhookAttempt,
  { timings }: RequestReport,
  now: Date,
): StorySpan[] => {
  const next = attempts.find(({ number }) => number === attempt.number + 1);
  if (!next && (execution?.status !== 'RUNNING' || isDelivered(attempt))) return [];
  const from = endOf(attempt);
  const seconds = timings.webhookRetrySeconds[attempt.number - 1];
  const planned = seconds === undefined ? '' : addSeconds(from, seconds);
  return [
    {
      kind: 'webhook-pause',
      label: `${prefix}, pause before attempt ${attempt.number + 1}`,
      from,
      until: next?.startedAt ?? (planned > toInstant(now) ? planned : null),
      // The pause differs from the schedule by up to 10 %, and is longer while the receiver hangs.
      ...(!next && planned !== '' && { detail: `planned for about ${planned}` }),
    },
  ];
};

const tellFirstPause = ({ prefix, execution }: Delivery, request: StoredRequest): StorySpan[] =>
  execution?.status === 'RUNNING' && isTerminal(request)
    ? [
        {
          kind: 'webhook-pause',
          label: `${prefix}, waiting for attempt 1`,
          from: execution.startedAt,
          until: null,
        },
      ]
    : [];
