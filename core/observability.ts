import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';

export const SERVICE_NAME = 'generation-service';
export const METRIC_NAMESPACE = 'GenerationService';

/** Every metric the service emits. Alarms name them from here. */
export const METRIC = {
  /** The provider refused our credential, account or model: nothing works until the operator acts. */
  providerAccessRefused: 'ProviderAccessRefused',
  /** A provider call whose outcome nobody can know. */
  providerCallLost: 'ProviderCallLost',
  /** A task in a state that no adapter knows: it is waited for. */
  unknownProviderState: 'UnknownProviderState',
  /** A request that had no execution when one was looked for. */
  executionLost: 'ExecutionLost',
  /** A request that could not be looked after. */
  reconcileFailed: 'ReconcileFailed',
  /** A webhook that will not be delivered. */
  webhookGivenUp: 'WebhookGivenUp',
  /** An output the provider produced that could not be stored. */
  outputStorageFailed: 'OutputStorageFailed',
  /** Something in a ledger that does not add up. */
  ledgerProblem: 'LedgerProblem',
  /** A verification of all ledgers that found no problem. */
  ledgerVerified: 'LedgerVerified',
} as const;
export type MetricName = (typeof METRIC)[keyof typeof METRIC];

export const logger = new Logger({ serviceName: SERVICE_NAME });
const metrics = new Metrics({ serviceName: SERVICE_NAME, namespace: METRIC_NAMESPACE });

/** Counts one occurrence, with the names it is split by. Written out at once. */
export const countMetric = (name: MetricName, dimensions: Record<string, string>): void => {
  const metric = metrics.singleMetric();
  metric.addDimensions(dimensions);
  metric.addMetric(name, 'Count', 1);
};
