import { Annotations, Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { METRIC, type MetricDimensions, type MetricName } from '../core/observability.ts';
import type { ProviderId } from '../core/provider-names.ts';
import { type AddAlarm, alarmsTo } from './add-alarm.ts';
import { addCallerAlarms, type CallerAlarmsProps } from './caller-alarms.ts';
import type { StackContext } from './context.ts';
import type { ServiceFunction } from './service-function.ts';
import { serviceMetric } from './service-metric.ts';

/** The monitored resources, and the address to notify. */
export interface MonitoringProps
  extends Pick<CallerAlarmsProps, 'answering' | 'api' | 'table' | 'workers' | 'models'> {
  /** The accounts at providers. */
  providers: readonly ProviderId[];
  generation: { stateMachine: StateMachine };
  expiry: { stateMachine: StateMachine };
  webhookDelivery: { stateMachine: StateMachine; tasks: { 'deliver-webhook': ServiceFunction } };
  /** Without `alarmEmail`, alarms show in the console only. */
  context: Pick<
    StackContext,
    'alarmEmail' | 'reconcileIntervalSeconds' | 'queueDeadlineSeconds' | 'removalPolicy'
  >;
}

/** Files are removed within a minute or two of their time. */
const OVERDUE_SECONDS = 900;
/** Due work is checked within seconds while the reconciler runs. */
const UNSEEN_SECONDS = 180;
/** The time limit of an execution of `generation`, and half an hour to settle what it left. */
const STUCK_SECONDS = 19_800;

/** Of fewer ended requests in 15 min, the share that failed says little. */
const MIN_ENDED = 20;

/** The period of metrics that the reconciler reports every 5 min, or in each run if those are further apart. */
const surveyPeriod = (everySeconds: number): Duration =>
  Duration.minutes(Math.max(15, 2 * Math.ceil(everySeconds / 60)));

const FIVE_MINUTES = { period: Duration.minutes(5) };

/** Notifies the operator of alarms. */
export class Monitoring extends Construct {
  /** Where alarms go. */
  readonly topic: Topic;
  /** Adds an alarm that notifies the topic. */
  readonly alarm: AddAlarm;

  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id);
    this.topic = this.createTopic();
    this.alarm = alarmsTo(this, this.topic);
    this.notify(props.context);
    this.addLedgerAlarms();
    this.addExpiryAlarms(props.expiry.stateMachine);
    this.addRequestAlarms();
    this.addReconcilerAlarms(props.context.reconcileIntervalSeconds);
    this.addSurveyAlarms(props.context);
    this.alarm(
      'ServerErrors',
      props.api.metricServerError({ period: Duration.minutes(5), statistic: 'Sum' }),
      'The API returns server errors.',
      { atLeast: 5 },
    );
    this.addWebhookAlarms(props.webhookDelivery.stateMachine);
    this.addProviderAlarms(props.providers);
    addCallerAlarms(this, this.alarm, {
      ...props,
      stateMachines: [props.generation, props.webhookDelivery, props.expiry].map(
        ({ stateMachine }) => stateMachine,
      ),
      deliverWebhook: props.webhookDelivery.tasks['deliver-webhook'],
    });
  }

  private createTopic(): Topic {
    const topic = new Topic(this, 'Alarms', { displayName: 'Generation service', enforceSSL: true });
    // A policy of our own, as `enforceSSL` makes one, replaces the default, under which CloudWatch may publish.
    topic.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsOfThisAccount',
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    );
    return topic;
  }

  /** Subscribes the operator's address, if there is one. */
  private notify({ alarmEmail, removalPolicy }: MonitoringProps['context']): void {
    if (alarmEmail !== undefined) this.topic.addSubscription(new EmailSubscription(alarmEmail));
    else if (removalPolicy === 'keep') {
      // A stack that is kept has customers, and its alarms would ring where nobody hears them.
      Annotations.of(this).addWarningV2(
        'generation-service:alarms-without-recipient',
        'No alarm reaches anybody: give an address by -c alarmEmail=…, or -c removalPolicy=destroy for development.',
      );
    }
  }

  private metric<Name extends MetricName>(name: Name, dimensions: MetricDimensions<Name>): Metric {
    return serviceMetric(this, name, dimensions);
  }

  private addLedgerAlarms(): void {
    this.alarm('LedgerProblem', this.metric(METRIC.ledgerProblem, {}), 'A ledger does not add up.');
    this.alarm(
      'LedgerNotVerified',
      this.metric(METRIC.ledgerVerified, {}).with({ period: Duration.days(1) }),
      'The ledgers have not been verified for two days.',
      // A run writes 0 when it begins, so that a failed run is seen. The first run comes a day after the
      // first deployment.
      { below: 1, periods: 2, orNoData: true },
    );
  }

  private addExpiryAlarms(expiry: StateMachine): void {
    this.alarm(
      'ExpiryFailed',
      expiry.metricFailed(FIVE_MINUTES),
      'An execution that removes expired files failed.',
    );
    this.alarm(
      'FilesNotRemoved',
      this.metric(METRIC.filesNotRemoved, {}),
      'Expired files could not be removed for half an hour.',
    );
  }

  /** Alarms on requests that fail, outputs that are lost, and items that are unreadable. */
  private addRequestAlarms(): void {
    const ended = this.metric(METRIC.requestFailed, {});
    this.alarm(
      'RequestsFailing',
      new MathExpression({
        expression: `IF(ended >= ${MIN_ENDED}, failed, 0)`,
        usingMetrics: {
          ended: ended.with({ statistic: 'SampleCount' }),
          failed: ended.with({ statistic: 'Average' }),
        },
        period: Duration.minutes(15),
      }),
      'Half or more of the requests that end have failed.',
      { atLeast: 0.5 },
    );
    this.alarm(
      'OutputStorageFailed',
      this.metric(METRIC.outputStorageFailed, {}),
      'Outputs that a provider has made and charges for could not be stored.',
    );
    this.alarm(
      'ItemUnreadable',
      this.metric(METRIC.itemUnreadable, {}),
      'A stored item cannot be read by this release: lists and queues leave it out.',
    );
  }

  private addReconcilerAlarms(intervalSeconds: number): void {
    this.alarm(
      'ExecutionLost',
      this.metric(METRIC.executionLost, {}),
      'An execution died, or ended without its request.',
    );
    this.alarm(
      'ReconcileFailed',
      this.metric(METRIC.reconcileFailed, {}),
      'The reconciler could not handle an item.',
    );
    const everyMinute = Duration.minutes(Math.ceil(intervalSeconds / 60));
    this.alarm(
      'ReconcilerDead',
      this.metric(METRIC.checkOverdue, {}).with({ statistic: 'Maximum', period: everyMinute }),
      'Work has been due for 3 minutes without a check, or the reconciler does not run.',
      { atLeast: UNSEEN_SECONDS, periods: 3, toAlarm: 1, orNoData: true },
    );
  }

  /** Alarms on the ages of work that the reconciler reports. */
  private addSurveyAlarms({
    reconcileIntervalSeconds: intervalSeconds,
    queueDeadlineSeconds,
  }: MonitoringProps['context']): void {
    const surveyed = { statistic: 'Maximum', period: surveyPeriod(intervalSeconds) };
    this.alarm(
      'WorkOverdue',
      this.metric(METRIC.workOverdue, {}).with(surveyed),
      'Work or the removal of files is overdue by 15 minutes, or the reconciler does not run.',
      { atLeast: OVERDUE_SECONDS, orNoData: true },
    );
    this.alarm(
      'RequestStuck',
      this.metric(METRIC.oldestOpenRequest, {}).with(surveyed),
      'A request is open for longer than any execution runs.',
      { atLeast: STUCK_SECONDS },
    );
    this.alarm(
      'CapacityShort',
      this.metric(METRIC.oldestWaiting, {}).with(surveyed),
      "A request has waited for its provider's capacity for half of its time in the queue.",
      { atLeast: Math.ceil(queueDeadlineSeconds / 2) },
    );
  }

  private addWebhookAlarms(deliveries: StateMachine): void {
    this.alarm(
      'WebhookGivenUp',
      this.metric(METRIC.webhookGivenUp, {}),
      'Webhooks are given up: many receivers refuse them, or our own deliveries fail.',
      { atLeast: 50 },
    );
    this.alarm(
      'WebhookFailed',
      deliveries.metricFailed(FIVE_MINUTES),
      'An execution that delivers a webhook failed: its function is gone, or could not be invoked for half a day.',
    );
    this.alarm(
      'WebhookTimedOut',
      deliveries.metricTimedOut(FIVE_MINUTES),
      'An execution that delivers a webhook has met our own faults for 14 days.',
    );
  }

  private addProviderAlarms(providers: readonly ProviderId[]): void {
    for (const provider of providers) {
      const name = provider.replace('@', '-');
      this.alarm(
        `${name}-access-refused`,
        this.metric(METRIC.providerAccessRefused, { provider }),
        `${provider} refuses our credential, account, quota or model.`,
      );
      this.alarm(
        `${name}-call-lost`,
        this.metric(METRIC.providerCallLost, { provider }),
        `Calls to ${provider} end with an unknown outcome.`,
        {
          atLeast: 5,
        },
      );
      this.alarm(
        `${name}-unknown-state`,
        this.metric(METRIC.unknownProviderState, { provider }),
        `${provider} reports a task state that the adapter does not know.`,
      );
    }
  }
}
