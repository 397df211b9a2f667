import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';

/**
 * The dimension that separates the metrics of one stack from another stack's in the same account and region.
 */
export const STACK_DIMENSION = 'service';
/** The CloudWatch namespace of all metrics. */
export const METRIC_NAMESPACE = 'GenerationService';

/** A metric, with its dimensions besides `STACK_DIMENSION`. The default unit is a count; amounts of xTokens have no unit. */
interface Metric {
  name: string;
  dimensions: readonly string[];
  unit?: 'Seconds' | 'None';
}

/**
 * Every metric the service emits. Alarms and the dashboard use the same names. CloudWatch keeps a metric for each set of dimensions, so an
 * alarm without one of them watches nothing.
 */
const METRICS = {
  /** A request that was accepted. */
  requestCreated: { name: 'RequestsCreated', dimensions: ['model'] },
  /** A request that ended. Outcome: `succeeded` or `failed`. */
  requestEnded: { name: 'RequestsEnded', dimensions: ['model', 'outcome'] },
  /**
   * 1 for a failed request, 0 for a successful one: its average is the share of failures. Separate from
   * `requestEnded`, which is one metric per model and outcome: an alarm can combine ten metrics at most. Requests that were refused for
   * their content or input are in `requestRefused` only.
   */
  requestFailed: { name: 'RequestsFailed', dimensions: [] },
  /** A request that failed because its content or an input was refused: its caller's affair. */
  requestRefused: { name: 'RequestsRefused', dimensions: [] },
  /** Seconds from the creation of a request to its end. Outcome: `succeeded` or `failed`. */
  timeToDone: { name: 'TimeToDone', dimensions: ['model', 'outcome'], unit: 'Seconds' },
  /** Seconds from the first provider call of a request until the provider was done with it. */
  atProvider: { name: 'SecondsAtProvider', dimensions: ['model'], unit: 'Seconds' },
  /**
   * Provider time of a succeeded request per second of its video, or for its images together. Independent of queue and requested
   * length.
   */
  secondsPerOutput: { name: 'SecondsPerOutput', dimensions: ['model'], unit: 'Seconds' },
  /** xTokens given back when a request ended. */
  refunded: { name: 'XTokensRefunded', dimensions: [], unit: 'None' },
  /** A call to a provider whose outcome is known for good, as `AttemptOutcome` names it. */
  providerCall: { name: 'ProviderCalls', dimensions: ['outcome', 'provider'] },
  /** Requests on the lists of work left, counted up to 16,000 a list. */
  openRequests: { name: 'OpenRequests', dimensions: [] },
  /** Seconds since the oldest of them was created. */
  oldestOpenRequest: { name: 'OldestOpenRequest', dimensions: [], unit: 'Seconds' },
  /** xTokens debited for them: exact for up to 100, else estimated from 100. */
  held: { name: 'XTokensHeld', dimensions: [], unit: 'None' },
  /** Seconds by which the longest due work is overdue, expired files included. */
  workOverdue: { name: 'WorkOverdue', dimensions: [], unit: 'Seconds' },
  /**
   * Seconds by which the longest due work was overdue when a run of the reconciler began. Every reconciler run writes the metric,
   * so a missing value means that no reconciler runs.
   */
  checkOverdue: { name: 'CheckOverdue', dimensions: [], unit: 'Seconds' },
  /** Requests that wait for a provider's capacity. */
  requestsWaiting: { name: 'RequestsWaiting', dimensions: ['route'] },
  /** Calls and tasks under way of a route with a limit of them. */
  callsRunning: { name: 'CallsRunning', dimensions: ['route'] },
  /** Seconds since the oldest waiting request was created. */
  oldestWaiting: { name: 'OldestWaiting', dimensions: [], unit: 'Seconds' },
  /** The same of one route with a limit. */
  oldestWaitingOfRoute: { name: 'OldestWaitingOfRoute', dimensions: ['route'], unit: 'Seconds' },
  /** The provider refused our credential, account or model. An operator must act. */
  providerAccessRefused: { name: 'ProviderAccessRefused', dimensions: ['provider'] },
  /** The provider refused what was asked for, but not for its content. */
  providerInputRefused: { name: 'ProviderInputRefused', dimensions: ['provider'] },
  /** A provider call whose outcome cannot be determined. */
  providerCallLost: { name: 'ProviderCallLost', dimensions: ['provider'] },
  /** A provider task in a state the adapter does not know; it counts as running. */
  unknownProviderState: { name: 'UnknownProviderState', dimensions: ['provider'] },
  /** An execution that died, or an unfinished request without one. The execution of a failed request does not count. */
  executionLost: { name: 'ExecutionLost', dimensions: [] },
  /** A request the reconciler failed to process. */
  reconcileFailed: { name: 'ReconcileFailed', dimensions: [] },
  /** An attempt to remove the files of a request that has failed for half an hour after they expired. */
  filesNotRemoved: { name: 'FilesNotRemoved', dimensions: [] },
  /** Seconds from the end of a request to the first attempt of its webhook. */
  webhookLag: { name: 'WebhookLag', dimensions: [], unit: 'Seconds' },
  /** A webhook whose delivery was given up. */
  webhookGivenUp: { name: 'WebhookGivenUp', dimensions: [] },
  /** A provider call whose reported usage differs from the billed amount. Direction: `more` or `less`. */
  providerUsageDiffers: { name: 'ProviderUsageDiffers', dimensions: ['direction', 'provider'] },
  /** A provider's output that could not be stored. The provider charges for it, and its price is refunded. */
  outputStorageFailed: { name: 'OutputStorageFailed', dimensions: [] },
  /** The hourly fetch of a stored output by its public URL: 1 for a failure, 0 for a success. */
  fileUnreachable: { name: 'FileUnreachable', dimensions: [] },
  /** A run of the canary: 1 with its image, 0 without. */
  canarySucceeded: { name: 'CanarySucceeded', dimensions: [] },
  /** Seconds from the canary's creation until it had the file. */
  canarySeconds: { name: 'CanarySeconds', dimensions: [], unit: 'Seconds' },
  /** A stored item that this version cannot read; a list leaves it out. */
  itemUnreadable: { name: 'ItemUnreadable', dimensions: [] },
  /** A problem found in a ledger. */
  ledgerProblem: { name: 'LedgerProblem', dimensions: [] },
  /** A verification of all ledgers without a problem. */
  ledgerVerified: { name: 'LedgerVerified', dimensions: [] },
} as const satisfies Record<string, Metric>;
type Known = typeof METRICS;
type MetricOf<Name> = Extract<Known[keyof Known], { name: Name }>;
export type MetricName = Known[keyof Known]['name'];

/** The name of every metric. */
export const METRIC = Object.fromEntries(Object.entries(METRICS).map(([key, { name }]) => [key, name])) as {
  [Key in keyof Known]: Known[Key]['name'];
};

const BY_NAME: Readonly<Record<string, Metric>> = Object.fromEntries(
  Object.values(METRICS).map((metric) => [metric.name, metric]),
);

/** The dimensions of a metric, besides `STACK_DIMENSION`. */
export const metricDimensions = (name: MetricName): readonly string[] => BY_NAME[name]?.dimensions ?? [];

type DimensionName<Name extends MetricName> = MetricOf<Name>['dimensions'][number];
/** The values of exactly the dimensions of a metric. */
export type MetricDimensions<Name extends MetricName> = [DimensionName<Name>] extends [never]
  ? Record<string, never>
  : Record<DimensionName<Name>, string>;

/** Powertools writes it as `service`, in logs and as a dimension. The operators' command line has no stack of its own. */
const serviceName = process.env.STACK_NAME ?? 'operators';

const version = process.env.SERVICE_VERSION;

/** The logger of every function. Each line has the service's version; the command line's have none. */
export const logger = new Logger({ serviceName, persistentKeys: version === undefined ? {} : { version } });
const metrics = new Metrics({ serviceName, namespace: METRIC_NAMESPACE });

/** Writes one metric at once. Powertools' `singleMetric` does so too, by a new `Metrics` and console each time. */
const write = (name: MetricName, dimensions: Record<string, string>, value: number): void => {
  metrics.addDimensions(dimensions);
  metrics.addMetric(name, BY_NAME[name]?.unit ?? 'Count', value);
  metrics.publishStoredMetrics();
};

/** Counts one occurrence, or `count`, under the given dimensions. Written immediately. */
export const countMetric = <Name extends MetricName>(
  name: Name,
  dimensions: MetricDimensions<Name>,
  count = 1,
): void => {
  write(name, dimensions, count);
};

/** Metrics that are no counts. */
type Measure = Extract<Known[keyof Known], { unit: string }>['name'];

/** Records one value under the given dimensions. Written immediately. */
export const measure = <Name extends Measure>(
  name: Name,
  dimensions: MetricDimensions<Name>,
  value: number,
): void => {
  write(name, dimensions, value);
};

/** The line of the log about failed work, with its fields. The level is `error` unless given. */
interface FailureLine {
  message: string;
  level?: 'warn' | 'error';
  [field: string]: unknown;
}

/**
 * Runs work whose failure must not fail the caller. An error is logged, and the result is then that of `otherwise`: undefined by
 * default. Never rejects.
 */
export const runOrLog = async <T, Otherwise = undefined>(
  { message, level = 'error', ...fields }: FailureLine,
  work: () => Promise<T>,
  otherwise?: () => Otherwise,
): Promise<T | Otherwise> => {
  try {
    return await work();
  } catch (error) {
    logger[level](message, { ...fields, error: error as Error });
    return otherwise?.() as Otherwise;
  }
};

/**
 * The items as `read` returns them, in order. An item for which `read` throws is left out, logged by `idOf` and counted: one item
 * of another release does not break a whole page.
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
