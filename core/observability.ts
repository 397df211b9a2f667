import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';

/** The dimension by which the metrics of one stack are told from those of another in the same account and region. */
export const STACK_DIMENSION = 'service';
/** The CloudWatch namespace of all metrics. */
export const METRIC_NAMESPACE = 'GenerationService';

/** Every metric the service emits. Alarms use the same names. */
export const METRIC = {
  /** The provider refused our credential, account or model. An operator must act. */
  providerAccessRefused: 'ProviderAccessRefused',
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
  /** A webhook whose delivery was given up. */
  webhookGivenUp: 'WebhookGivenUp',
  /** A provider's output that could not be stored. */
  outputStorageFailed: 'OutputStorageFailed',
  /** A problem found in a ledger. */
  ledgerProblem: 'LedgerProblem',
  /** A verification of all ledgers without a problem. */
  ledgerVerified: 'LedgerVerified',
} as const;
export type MetricName = (typeof METRIC)[keyof typeof METRIC];

/** Powertools writes it as `service`, in logs and as a dimension. The operators' command line has no stack of its own. */
const serviceName = process.env.STACK_NAME ?? 'operators';

/** The logger of every function. */
export const logger = new Logger({ serviceName });
const metrics = new Metrics({ serviceName, namespace: METRIC_NAMESPACE });

/** Counts one occurrence, or `count`, under the given dimensions. Written immediately. */
export const countMetric = (name: MetricName, dimensions: Record<string, string>, count = 1): void => {
  const metric = metrics.singleMetric();
  metric.addDimensions(dimensions);
  metric.addMetric(name, 'Count', count);
};
