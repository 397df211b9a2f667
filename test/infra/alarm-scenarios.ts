import { PROVIDER_IDS } from '../../core/provider-names.ts';
import {
  answered,
  aws,
  countMetric,
  DAY,
  ended,
  HOUR,
  METRIC,
  MINUTE,
  measure,
  ours,
  type Story,
  times,
} from './alarm-points.ts';

/** When an alarm rings, in words of the guide, with stories that ring the alarm and neighbouring stories that do not. */
export interface Scenario {
  rings: string;
  ringing: Story[];
  quiet: Story[];
}

const machine = (name: string): string => `${name}WorkflowMachineStateMachine`;
const execution = (end: string, name: string, value = 1, secondsAgo = 10): Story =>
  aws(`AWS/States/${end} StateMachineArn=${machine(name)}`, value, secondsAgo);
const throttled = (functionName: string, value: number): Story =>
  aws(`AWS/Lambda/Throttles FunctionName=${functionName}`, value);
const capacity = (metric: string, value: number, index?: string): Story =>
  aws(
    `AWS/DynamoDB/${metric} ${index === undefined ? '' : `GlobalSecondaryIndexName=${index} `}TableName=DataStoreTable`,
    value,
  );

/** Rings at one value of a metric in the last five minutes. */
const atOne = (rings: string, count: () => void): Scenario => ({
  rings,
  ringing: [ours(10, count)],
  quiet: [ours(6 * MINUTE, count)],
});
/** Rings at one execution that ended so in the last five minutes. */
const atExecution = (rings: string, end: string, name: string): Scenario => ({
  rings,
  ringing: [execution(end, name)],
  quiet: [execution(end, name, 0), execution(end, name, 1, 6 * MINUTE), execution(end, 'Another')],
});
/** Rings when the last report of a measure is this high. */
const fromSeconds = (
  rings: string,
  seconds: number,
  report: (value: number) => void,
  { orNoData = false } = {},
): Scenario => ({
  rings,
  ringing: [ours(10, () => report(seconds)), ...(orNoData ? [[]] : [])],
  quiet: [ours(10, () => report(seconds - 1))],
});

const DELIVERED = 'AWS/CloudFront/BytesDownloaded DistributionId=DeliveryDistribution Region=Global';

const model = 'xSD4.5';
/** Three requests an hour for a week, of 15 s for the same output and some more; then these hours, the newest last. */
const hoursOf = (...p95: number[]): Story => {
  const took = (secondsAgo: number, seconds: number): Story =>
    ours(secondsAgo, () => measure(METRIC.secondsPerOutput, { model }, seconds));
  const hours = p95.length;
  return [
    ...times(7 * 24, (hour) =>
      times(3, (index) => took((hours + hour) * HOUR + 60, 15 + ((hour + index) % 4))),
    ),
    ...p95.toReversed().flatMap((seconds, hour) => took(hour * HOUR + 60, seconds)),
  ];
};

const webhooks = (count: number, seconds: number): Story =>
  times(count, () => ours(60, () => measure(METRIC.webhookLag, {}, seconds)));

const DELIVER_ERRORS = 'AWS/Lambda/Errors FunctionName=WebhookWorkflowDeliverWebhookFunction';
/** A delivery that fails each time: every 15 min, and the seconds of each attempt later. `sinceFirst` after the first. */
const looping = (sinceFirst: number): Story =>
  times(Math.floor(sinceFirst / 905) + 1, (index) => aws(DELIVER_ERRORS, 1, sinceFirst - index * 905));

const calls = (count: number, slowest: number, endpoint = 'GetVideo'): Story =>
  times(count, (index) =>
    aws(`AWS/Lambda/Duration FunctionName=Api${endpoint}Function`, index === 0 ? slowest : 40, 60),
  );

const ofProvider = (provider: (typeof PROVIDER_IDS)[number]): Record<string, Scenario> => ({
  [`${provider}-access-refused`]: atOne('it refuses our key, account, quota or model once', () =>
    countMetric(METRIC.providerAccessRefused, { provider }),
  ),
  [`${provider}-call-lost`]: {
    rings: '5 of its calls in 5 min have no known outcome',
    ringing: [times(5, () => ours(10, () => countMetric(METRIC.providerCallLost, { provider })))],
    quiet: [times(4, () => ours(10, () => countMetric(METRIC.providerCallLost, { provider })))],
  },
  [`${provider}-unknown-state`]: atOne('it reports one state that the adapter does not know', () =>
    countMetric(METRIC.unknownProviderState, { provider }),
  ),
});

const late = (of: string): Story =>
  hoursOf(90, 90).map((point) => ({ ...point, metric: point.metric.replace(model, of) }));
const lateModel = (of: string): Scenario => ({
  rings:
    'for two hours the p95 of its provider for the same output is 3 standard deviations above its own weeks before',
  ringing: [late(of)],
  quiet: of === model ? [hoursOf(18, 18), hoursOf(90, 18), hoursOf(18, 90)] : [hoursOf(90, 90)],
});

const canaryRan = (secondsAgo: number): Story =>
  ours(secondsAgo, () => countMetric(METRIC.canarySucceeded, {}));

/** Exports that the scheduler gave up: it attempts each for an hour. */
const dropped = (count: number, group = 'TableExportGroup', secondsAgo = 10): Story =>
  aws(`AWS/Scheduler/InvocationDroppedCount ScheduleGroup=${group}`, count, secondsAgo);

/** When each alarm of a stack with these models, a canary and exports rings. */
export const scenariosFor = (models: readonly string[]): Record<string, Scenario> => ({
  LedgerProblem: atOne('a ledger does not add up', () => countMetric(METRIC.ledgerProblem, {})),
  LedgerNotVerified: {
    rings: 'for 2 days no verification succeeded, or none ran',
    ringing: [times(2, (day) => ours(day * DAY + HOUR, () => countMetric(METRIC.ledgerVerified, {}, 0))), []],
    quiet: [
      times(2, (day) => ours(day * DAY + HOUR, () => countMetric(METRIC.ledgerVerified, {}))),
      [
        ...ours(HOUR, () => countMetric(METRIC.ledgerVerified, {}, 0)),
        ...ours(DAY + HOUR, () => countMetric(METRIC.ledgerVerified, {})),
      ],
    ],
  },
  ExpiryFailed: atExecution('an execution of `expiry` failed', 'ExecutionsFailed', 'Expiry'),
  WebhookFailed: atExecution('an execution of `webhook-delivery` failed', 'ExecutionsFailed', 'Webhook'),
  WebhookTimedOut: atExecution(
    'an execution of `webhook-delivery` timed out',
    'ExecutionsTimedOut',
    'Webhook',
  ),
  FilesNotRemoved: atOne('expired files could not be removed for half an hour', () =>
    countMetric(METRIC.filesNotRemoved, {}),
  ),
  RequestsFailing: {
    rings: 'of at least 20 requests that ended in 15 min half failed',
    ringing: [ended(10, 20), ended(40, 40)],
    quiet: [ended(9, 20), ended(19, 19), ended(20, 20, 16 * MINUTE)],
  },
  MostRequestsFailing: {
    rings: 'of at least 5 requests that ended in an hour 80 % failed',
    ringing: [ended(4, 5, 50 * MINUTE), ended(5, 5)],
    quiet: [ended(4, 4), ended(3, 5), ended(7, 10), ended(5, 5, 61 * MINUTE)],
  },
  AllRequestsFailing: {
    rings: 'all of at least 2 requests that ended in 6 h failed',
    ringing: [ended(2, 2, 5 * HOUR), ended(6, 6)],
    quiet: [ended(1, 1), ended(9, 10), ended(3, 3, 6 * HOUR + 60)],
  },
  OutputStorageFailed: atOne('an output could not be stored', () =>
    countMetric(METRIC.outputStorageFailed, {}),
  ),
  ItemUnreadable: atOne('a stored item cannot be read', () => countMetric(METRIC.itemUnreadable, {})),
  ExecutionLost: atOne('an execution died, or ended without its request', () =>
    countMetric(METRIC.executionLost, {}),
  ),
  BytesDelivered: {
    rings: '100 GB of files were delivered in an hour',
    ringing: [aws(DELIVERED, 1e11), times(10, (index) => aws(DELIVERED, 1e10, index * 5 * MINUTE))],
    quiet: [aws(DELIVERED, 9.9e10), aws(DELIVERED, 1e12, 61 * MINUTE)],
  },
  FileUnreachable: {
    rings: 'a stored file did not come from its public URL',
    ringing: [ours(10, () => countMetric(METRIC.fileUnreachable, {}, 1))],
    quiet: [
      ours(10, () => countMetric(METRIC.fileUnreachable, {}, 0)),
      ours(6 * MINUTE, () => countMetric(METRIC.fileUnreachable, {}, 1)),
    ],
  },
  ReconcileFailed: atOne('the reconciler failed at an item', () => countMetric(METRIC.reconcileFailed, {})),
  ReconcilerDead: {
    rings: 'for 3 min work was due and was not checked, or no run began',
    ringing: [ours(10, () => measure(METRIC.checkOverdue, {}, 180)), []],
    quiet: [
      times(3, (minute) => ours(minute * MINUTE + 10, () => measure(METRIC.checkOverdue, {}, 179))),
      ours(150, () => measure(METRIC.checkOverdue, {}, 0)),
    ],
  },
  WorkOverdue: fromSeconds(
    'work is overdue by 15 min, or nobody reports it',
    900,
    (value) => measure(METRIC.workOverdue, {}, value),
    { orNoData: true },
  ),
  RequestStuck: fromSeconds('a request is open for 5.5 h', 19_800, (value) =>
    measure(METRIC.oldestOpenRequest, {}, value),
  ),
  CapacityShort: fromSeconds('a request has waited for half of its time in the queue', 1800, (value) =>
    measure(METRIC.oldestWaiting, {}, value),
  ),
  ServerErrors: {
    rings: 'the API answered 5xx 5 times in 5 min',
    ringing: [aws('AWS/ApiGateway/5XXError ApiName=GenerationService', 5)],
    quiet: [
      aws('AWS/ApiGateway/5XXError ApiName=GenerationService', 4),
      aws('AWS/ApiGateway/5XXError ApiName=Another', 50),
    ],
  },
  MostCallsFailing: {
    rings: 'half of at least 10 calls in an hour were answered 5xx',
    ringing: [answered(5, 10), answered(10, 10, 50 * MINUTE)],
    quiet: [answered(9, 9), answered(4, 10), answered(10, 10, 61 * MINUTE)],
  },
  AllCallsFailing: {
    rings: 'all of at least 2 calls in 6 h were answered 5xx',
    ringing: [answered(2, 2, 5 * HOUR)],
    quiet: [answered(1, 1), answered(8, 9), answered(2, 2, 6 * HOUR + 60)],
  },
  FunctionsThrottled: {
    rings: '20 runs of the functions that work on requests were refused in 5 min',
    ringing: [
      throttled('GenerationWorkflowDispatchRequestFunction', 20),
      [...throttled('ReconcilerReconcileFunction', 1), ...throttled('ClipMeasuringMeasureClipsFunction', 19)],
    ],
    quiet: [
      throttled('GenerationWorkflowDispatchRequestFunction', 19),
      throttled('AnotherStackDispatchRequestFunction', 5000),
    ],
  },
  ExecutionsThrottled: {
    rings: 'Step Functions held back 100 transitions in 5 min',
    ringing: [
      [
        ...execution('ExecutionThrottled', 'Generation', 60),
        ...execution('ExecutionThrottled', 'Webhook', 40),
      ],
    ],
    quiet: [execution('ExecutionThrottled', 'Generation', 99)],
  },
  TableThrottled: {
    rings: 'DynamoDB refused 100 reads or writes of the table or its indexes in 5 min',
    ringing: [
      capacity('WriteThrottleEvents', 100),
      [...capacity('WriteThrottleEvents', 50, 'GSI1'), ...capacity('ReadThrottleEvents', 50, 'GSI3')],
    ],
    quiet: [[...capacity('WriteThrottleEvents', 50, 'GSI2'), ...capacity('ReadThrottleEvents', 49)]],
  },
  WebhookGivenUp: {
    rings: '50 webhooks were given up in 5 min',
    ringing: [times(50, () => ours(10, () => countMetric(METRIC.webhookGivenUp, {})))],
    quiet: [times(49, () => ours(10, () => countMetric(METRIC.webhookGivenUp, {})))],
  },
  WebhooksLate: {
    rings: 'of at least 3 webhooks in 15 min half were first attempted a minute after the end',
    ringing: [webhooks(3, 60), [...webhooks(2, 1), ...webhooks(2, 90), ...webhooks(1, 61)]],
    quiet: [webhooks(2, 600), webhooks(3, 59), [...webhooks(3, 1), ...webhooks(2, 600)]],
  },
  WebhookFaults: {
    rings: 'in 3 of 4 quarters of an hour `deliver-webhook` failed',
    ringing: [looping(HOUR), looping(6 * HOUR), looping(6 * HOUR + 700)],
    quiet: [aws(DELIVER_ERRORS, 100), times(2, (index) => aws(DELIVER_ERRORS, 1, index * 905))],
  },
  ApiSlow: {
    rings: 'of at least 20 creations and reads of requests in 15 min the slowest of 100 took 10 s',
    ringing: [
      calls(20, 10_000),
      calls(99, 12_000, 'CreateVideo'),
      [...calls(1, 10_000, 'CreateGeneration'), ...calls(19, 40, 'GetGeneration')],
    ],
    quiet: [
      calls(19, 20_000),
      calls(20, 9_999),
      calls(200, 20_000),
      [...calls(20, 9_000), ...calls(20, 9_000, 'GetGeneration')],
      // It waits for its images.
      [...calls(20, 40), ...calls(20, 200_000, 'CreateOpenaiImage')],
    ],
  },
  CanaryFailed: {
    rings: 'the canary failed once, or did not run for 2 h',
    ringing: [
      [...ours(HOUR + 60, () => countMetric(METRIC.canarySucceeded, {}, 0)), ...canaryRan(60)],
      canaryRan(2 * HOUR + 60),
      [],
    ],
    quiet: [[...canaryRan(60), ...canaryRan(HOUR + 60)], canaryRan(HOUR + 60)],
  },
  ExportNotStarted: {
    rings: 'DynamoDB refused the daily export for an hour',
    ringing: [dropped(1)],
    quiet: [dropped(0), dropped(1, 'AnotherGroup'), dropped(1, 'TableExportGroup', 6 * MINUTE)],
  },
  ...Object.fromEntries(models.map((of) => [`${of}-late`, lateModel(of)])),
  ...Object.assign({}, ...PROVIDER_IDS.map(ofProvider)),
});
