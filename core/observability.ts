import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';

/**
 * The dimension that separates the metrics of one stack from another stack's in the same account and region.
 */
export const STACK_DIMENSION = 'service';
/** The CloudWatch namespace of all metrics. */
export const METRIC_NAMESPACE = 'GenerationService';

/** Every metric the service emits. Alarms and the dashboard use the same names. `METRIC_DIMENSIONS` has their dimensions. */
export const METRIC = {
  /** A request that was accepted. */
  requestCreated: 'RequestsCreated',
  /** A request that ended. Outcome: `succeeded` or `failed`. */
  requestEnded: 'RequestsEnded',
  /**
   * 1 for a failed request, 0 for a successful one: its average is the share of failures. Separate from
   * `requestEnded`, which is one metric per model and outcome: an alarm can combine ten metrics at most.
   */
  requestFailed: 'RequestsFailed',
  /** Seconds from the creation of a request to its end. Outcome: `succeeded` or `failed`. */
  timeToDone: 'TimeToDone',
  /** Seconds from the first provider call of a request until the provider was done with it. */
  atProvider: 'SecondsAtProvider',
  /** xTokens given back when a request ended. */
  refunded: 'XTokensRefunded',
  /** A call to a provider whose outcome is known for good, as `AttemptOutcome` names it. */
  providerCall: 'ProviderCalls',
  /** Requests on the lists of work left, counted up to 16,000 a list. */
  openRequests: 'OpenRequests',
  /** Seconds since the oldest of them was created. */
  oldestOpenRequest: 'OldestOpenRequest',
  /** xTokens debited for them: exact for up to 100, else estimated from 100. */
  held: 'XTokensHeld',
  /** Seconds by which the longest due work is overdue, expired files included. */
  workOverdue: 'WorkOverdue',
  /** Seconds by which the longest due work was overdue when a run of the reconciler began. Each run writes it, so its absence means that none runs. */
  lookOverdue: 'LookOverdue',
  /** Requests that wait for a provider's capacity. */
  requestsWaiting: 'RequestsWaiting',
  /** Calls and tasks under way of a route with a limit of them. */
  callsRunning: 'CallsRunning',
  /** Seconds since the oldest waiting request was created. */
  oldestWaiting: 'OldestWaiting',
  /** The same of one route with a limit. */
  oldestWaitingOfRoute: 'OldestWaitingOfRoute',
  /** The provider refused our credential, account or model. An operator must act. */
  providerAccessRefused: 'ProviderAccessRefused',
  /** The provider refused what was asked for, but not for its content. */
  providerInputRefused: 'ProviderInputRefused',
  /** A provider call whose outcome cannot be determined. */
  providerCallLost: 'ProviderCallLost',
  /** A provider task in a state the adapter does not know; it counts as running. */
  unknownProviderState: 'UnknownProviderState',
  /** An unfinished request without an execution. */
  executionLost: 'ExecutionLost',
  /** A request the reconciler failed to process. */
  reconcileFailed: 'ReconcileFailed',
  /** An attempt to remove the files of a request that has failed for half an hour after they expired. */
  filesNotRemoved: 'FilesNotRemoved',
  /** Seconds from the end of a request to the first attempt of its webhook. */
  webhookLag: 'WebhookLag',
  /** A webhook whose delivery was given up. */
  webhookGivenUp: 'WebhookGivenUp',
  /** A provider call whose reported usage differs from the billed amount. Direction: `more` or `less`. */
  providerUsageDiffers: 'ProviderUsageDiffers',
  /** A provider's output that could not be stored. The provider charges for it, and its price is refunded. */
  outputStorageFailed: 'OutputStorageFailed',
  /** 1 for a run of the canary that made its image, 0 for one that did not. */
  canarySucceeded: 'CanarySucceeded',
  /** Seconds from the canary's creation until it had the file. */
  canarySeconds: 'CanarySeconds',
  /** A stored item that this version cannot read; a list leaves it out. */
  itemUnreadable: 'ItemUnreadable',
  /** A problem found in a ledger. */
  ledgerProblem: 'LedgerProblem',
  /** A verification of all ledgers without a problem. */
  ledgerVerified: 'LedgerVerified',
} as const;
export type MetricName = (typeof METRIC)[keyof typeof METRIC];

/**
 * The dimensions of each metric, besides `STACK_DIMENSION`. CloudWatch keeps a metric for each set of dimensions, so an alarm without one
 * of them watches nothing.
 */
export const METRIC_DIMENSIONS = {
  [METRIC.requestCreated]: ['model'],
  [METRIC.requestEnded]: ['model', 'outcome'],
  [METRIC.requestFailed]: [],
  [METRIC.timeToDone]: ['model', 'outcome'],
  [METRIC.atProvider]: ['model'],
  [METRIC.refunded]: [],
  [METRIC.providerCall]: ['outcome', 'provider'],
  [METRIC.openRequests]: [],
  [METRIC.oldestOpenRequest]: [],
  [METRIC.held]: [],
  [METRIC.workOverdue]: [],
  [METRIC.lookOverdue]: [],
  [METRIC.requestsWaiting]: ['route'],
  [METRIC.callsRunning]: ['route'],
  [METRIC.oldestWaiting]: [],
  [METRIC.oldestWaitingOfRoute]: ['route'],
  [METRIC.providerAccessRefused]: ['provider'],
  [METRIC.providerInputRefused]: ['provider'],
  [METRIC.providerCallLost]: ['provider'],
  [METRIC.unknownProviderState]: ['provider'],
  [METRIC.executionLost]: [],
  [METRIC.reconcileFailed]: [],
  [METRIC.filesNotRemoved]: [],
  [METRIC.webhookLag]: [],
  [METRIC.webhookGivenUp]: [],
  [METRIC.providerUsageDiffers]: ['direction', 'provider'],
  [METRIC.outputStorageFailed]: [],
  [METRIC.canarySucceeded]: [],
  [METRIC.canarySeconds]: [],
  [METRIC.itemUnreadable]: [],
  [METRIC.ledgerProblem]: [],
  [METRIC.ledgerVerified]: [],
} as const satisfies Record<MetricName, readonly string[]>;

type DimensionName<Name extends MetricName> = (typeof METRIC_DIMENSIONS)[Name][number];
/** The values of exactly the dimensions of a metric. */
export type Dimensions<Name extends MetricName> = [DimensionName<Name>] extends [never]
  ? Record<string, never>
  : Record<DimensionName<Name>, string>;

/** Powertools writes it as `service`, in logs and as a dimension. The operators' command line has no stack of its own. */
const serviceName = process.env.STACK_NAME ?? 'operators';

const version = process.env.SERVICE_VERSION;

/** The logger of every function. Each line has the service's version; the command line's have none. */
export const logger = new Logger({ serviceName, persistentKeys: version === undefined ? {} : { version } });
const metrics = new Metrics({ serviceName, namespace: METRIC_NAMESPACE });

/** Writes one metric at once. Powertools' `singleMetric` does so too, by a new `Metrics` and console each time. */
const write = (
  name: MetricName,
  unit: 'Count' | 'Seconds' | 'None',
  dimensions: Record<string, string>,
  value: number,
): void => {
  metrics.addDimensions(dimensions);
  metrics.addMetric(name, unit, value);
  metrics.publishStoredMetrics();
};

/** Counts one occurrence, or `count`, under the given dimensions. Written immediately. */
export const countMetric = <Name extends MetricName>(
  name: Name,
  dimensions: Dimensions<Name>,
  count = 1,
): void => {
  write(name, 'Count', dimensions, count);
};

/** Metrics that are no counts, and their units. xTokens have none. */
type Measure = Extract<
  MetricName,
  | 'TimeToDone'
  | 'SecondsAtProvider'
  | 'WebhookLag'
  | 'CanarySeconds'
  | 'OldestOpenRequest'
  | 'OldestWaiting'
  | 'OldestWaitingOfRoute'
  | 'WorkOverdue'
  | 'LookOverdue'
  | 'XTokensRefunded'
  | 'XTokensHeld'
>;
const UNIT: Record<Measure, 'Seconds' | 'None'> = {
  [METRIC.timeToDone]: 'Seconds',
  [METRIC.atProvider]: 'Seconds',
  [METRIC.webhookLag]: 'Seconds',
  [METRIC.canarySeconds]: 'Seconds',
  [METRIC.oldestOpenRequest]: 'Seconds',
  [METRIC.oldestWaiting]: 'Seconds',
  [METRIC.oldestWaitingOfRoute]: 'Seconds',
  [METRIC.workOverdue]: 'Seconds',
  [METRIC.lookOverdue]: 'Seconds',
  [METRIC.refunded]: 'None',
  [METRIC.held]: 'None',
};

/** Records one value under the given dimensions. Written immediately. */
export const measure = <Name extends Measure>(
  name: Name,
  dimensions: Dimensions<Name>,
  value: number,
): void => {
  write(name, UNIT[name], dimensions, value);
};

/**
 * Each item as `read` returns it, in their order. An item that `read` throws for is left out, logged by `idOf` and counted, so that
 * it does not break the rest of its page: another version may have written it.
 */
export const readable = <Item, T>(
  items: readonly Item[],
  read: (item: Item) => T,
  idOf: (item: Item) => string,
): T[] =>
  items.flatMap((item) => {
    try {
      return [read(item)];
    } catch (error) {
      reportUnreadable(idOf(item), error as Error);
      return [];
    }
  });

/** Logs and counts an item that cannot be read. */
export const reportUnreadable = (item: string, error?: Error): void => {
  logger.error('an item could not be read', { item, ...(error && { error }) });
  countMetric(METRIC.itemUnreadable, {});
};

/** The key of a stored item. */
type Keyed = { PK?: unknown; SK?: unknown };

/** As `readable`, logged by key. Not for items with an address in their key. */
export const readableItems = <Item extends Keyed, T>(items: readonly Item[], read: (item: Item) => T): T[] =>
  readable(items, read, ({ PK, SK }) => `${PK} ${SK}`);
