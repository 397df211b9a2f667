import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Alarm,
  ComparisonOperator,
  type IMetric,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { METRIC, METRIC_NAMESPACE, type MetricName, SERVICE_NAME } from '../core/observability.ts';
import { PROVIDER_IDS } from '../core/provider-calls/providers.ts';
import { ServiceFunction } from './service-function.ts';

export interface MonitoringProps {
  bundleOf: (name: string) => string;
  environment: Partial<Record<EnvironmentName, string>>;
  api: RestApi;
  generation: StateMachine;
  expiry: StateMachine;
  /** Who is told of alarms; without it they are seen in the console only. */
  alarmEmail: string | undefined;
}

/** What the service counts, over 5 min. */
const counted = (metricName: MetricName, dimensions: Record<string, string> = {}): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName,
    dimensionsMap: { service: SERVICE_NAME, ...dimensions },
    statistic: 'Sum',
    period: Duration.minutes(5),
  });

/** Proves the ledger once a day, and tells the operator of whatever needs one. */
export class Monitoring extends Construct {
  readonly verifyLedger: ServiceFunction;
  private readonly topic: Topic;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = new Topic(this, 'Alarms', { displayName: 'Generation service', enforceSSL: true });
    if (props.alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(props.alarmEmail));

    this.verifyLedger = new ServiceFunction(this, 'VerifyLedger', {
      bundle: props.bundleOf('events/verify-ledger'),
      description: 'Replays every ledger and checks it against the requests',
      timeout: Duration.minutes(15),
      memorySize: 1024,
      environment: props.environment,
    });
    new Rule(this, 'Daily', {
      description: 'Verifies the ledgers once a day',
      schedule: Schedule.rate(Duration.days(1)),
      targets: [new LambdaTarget(this.verifyLedger.lambda)],
    });

    this.alarm('LedgerProblem', counted(METRIC.ledgerProblem), 'A ledger does not add up.');
    this.alarm(
      'LedgerNotVerified',
      counted(METRIC.ledgerVerified).with({ period: Duration.days(1) }),
      'No ledger was verified for two days.',
      { below: 1, periods: 2 },
    );
    const failed = { period: Duration.minutes(5) };
    this.alarm(
      'GenerationFailed',
      props.generation.metricFailed(failed),
      'An execution of a request failed.',
    );
    this.alarm(
      'GenerationTimedOut',
      props.generation.metricTimedOut(failed),
      'An execution of a request timed out.',
    );
    this.alarm('ExpiryFailed', props.expiry.metricFailed(failed), 'Files could not be removed in time.');
    this.alarm('ReconcileFailed', counted(METRIC.reconcileFailed), 'A request could not be looked after.');
    this.alarm(
      'ServerErrors',
      props.api.metricServerError({ period: Duration.minutes(5), statistic: 'Sum' }),
      'The API answers with server errors.',
      { atLeast: 5 },
    );
    for (const provider of PROVIDER_IDS) {
      const about = (metric: MetricName): Metric => counted(metric, { provider });
      this.alarm(
        `${provider}-access-refused`,
        about(METRIC.providerAccessRefused),
        `${provider} refuses our credential, account, quota or model.`,
      );
      this.alarm(`${provider}-call-lost`, about(METRIC.providerCallLost), `Calls to ${provider} get lost.`, {
        atLeast: 5,
      });
      this.alarm(
        `${provider}-unknown-state`,
        about(METRIC.unknownProviderState),
        `${provider} names a state of a task that the adapter does not know.`,
      );
    }
  }

  private alarm(
    id: string,
    metric: IMetric,
    alarmDescription: string,
    when: { atLeast?: number; below?: number; periods?: number } = {},
  ): void {
    const isBelow = when.below !== undefined;
    const alarm = new Alarm(this, id, {
      metric,
      alarmDescription,
      threshold: when.below ?? when.atLeast ?? 1,
      evaluationPeriods: when.periods ?? 1,
      comparisonOperator: isBelow
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isBelow ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    });
    alarm.addAlarmAction(new SnsAction(this.topic));
  }
}
