import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { paginateListServiceQuotas, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { clientOptions } from '../../core/aws-clients.ts';

/** Metrics of the alarms' topic: messages published, and messages delivered to a subscriber. */
type TopicMetric = 'NumberOfMessagesPublished' | 'NumberOfNotificationsDelivered';

/** The AWS account of the service, as a smoke test reads and changes it. */
export interface AwsAccount {
  /** The region of the stack. */
  region: string;
  /** Concurrent executions of functions in the region: the quota, and its unreserved part. */
  concurrency(): Promise<{ quota: number; unreserved: number }>;
  /** Quota on open executions of state machines; undefined when AWS lists none. */
  openExecutions(): Promise<number | undefined>;
  /** Subscriptions of the alarms' topic. */
  subscriptions(): Promise<{ confirmed: number; pending: number }>;
  /** An alarm that notifies the topic and is not in ALARM; undefined when there is none. */
  findQuietAlarm(): Promise<string | undefined>;
  /** Sets the state of an alarm, until CloudWatch evaluates it again. */
  setAlarm(name: string, state: 'ALARM' | 'OK'): Promise<void>;
  /** CloudWatch's history of an alarm's actions since then, newest first. */
  alarmActions(name: string, since: Date): Promise<string[]>;
  /** Sum of a metric of the topic since then. */
  topicSum(metric: TopicMetric, since: Date): Promise<number>;
}

const OPEN_EXECUTIONS = /open executions/i;
/** Periods of CloudWatch's metrics. */
const MINUTE = 60;

/** The account of `createAwsAccount`. */
class ShellAccount implements AwsAccount {
  private readonly topicArn: string;
  private readonly cloudWatch = new CloudWatchClient(clientOptions('stack'));
  private readonly sns = new SNSClient(clientOptions('stack'));
  readonly region: AwsAccount['region'];

  constructor(topicArn: string) {
    this.topicArn = topicArn;
    this.region = this.topicArn.split(':')[3] ?? '';
  }

  async concurrency(): Promise<{ quota: number; unreserved: number }> {
    const { AccountLimit } = await new LambdaClient(clientOptions('stack')).send(
      new GetAccountSettingsCommand({}),
    );
    return {
      quota: AccountLimit?.ConcurrentExecutions ?? 0,
      unreserved: AccountLimit?.UnreservedConcurrentExecutions ?? 0,
    };
  }

  async openExecutions(): Promise<number | undefined> {
    const client = new ServiceQuotasClient(clientOptions('stack'));
    for await (const { Quotas = [] } of paginateListServiceQuotas({ client }, { ServiceCode: 'states' })) {
      const quota = Quotas.find(({ QuotaName = '' }) => OPEN_EXECUTIONS.test(QuotaName));
      if (quota) return quota.Value;
    }
    return undefined;
  }

  async subscriptions(): Promise<{ confirmed: number; pending: number }> {
    const { Attributes = {} } = await this.sns.send(
      new GetTopicAttributesCommand({ TopicArn: this.topicArn }),
    );
    return {
      confirmed: Number(Attributes.SubscriptionsConfirmed ?? 0),
      pending: Number(Attributes.SubscriptionsPending ?? 0),
    };
  }

  async findQuietAlarm(): Promise<string | undefined> {
    const { MetricAlarms = [] } = await this.cloudWatch.send(
      new DescribeAlarmsCommand({ ActionPrefix: this.topicArn }),
    );
    return MetricAlarms.find(({ StateValue }) => StateValue !== 'ALARM')?.AlarmName;
  }

  async setAlarm(AlarmName: string, StateValue: 'ALARM' | 'OK'): Promise<void> {
    const StateReason = 'npm run smoke proves that alarms reach their topic. Nothing is wrong.';
    await this.cloudWatch.send(new SetAlarmStateCommand({ AlarmName, StateValue, StateReason }));
  }

  async alarmActions(AlarmName: string, StartDate: Date): Promise<string[]> {
    const { AlarmHistoryItems = [] } = await this.cloudWatch.send(
      new DescribeAlarmHistoryCommand({
        AlarmName,
        StartDate,
        HistoryItemType: 'Action',
        ScanBy: 'TimestampDescending',
      }),
    );
    return AlarmHistoryItems.map(({ HistorySummary = '' }) => HistorySummary);
  }

  async topicSum(MetricName: TopicMetric, since: Date): Promise<number> {
    const { Datapoints = [] } = await this.cloudWatch.send(
      new GetMetricStatisticsCommand({
        Namespace: 'AWS/SNS',
        MetricName,
        Dimensions: [{ Name: 'TopicName', Value: this.topicArn.split(':').at(-1) }],
        // The beginning of the minute: a period counts from there.
        StartTime: new Date(Math.floor(since.getTime() / (MINUTE * 1000)) * MINUTE * 1000),
        EndTime: new Date(Date.now() + MINUTE * 1000),
        Period: MINUTE,
        Statistics: ['Sum'],
      }),
    );
    return Datapoints.reduce((sum, { Sum = 0 }) => sum + Sum, 0);
  }
}

/** The AWS account of the shell's credentials, and the stack's topic of alarms in it. */
export const createAwsAccount = (topicArn: string): AwsAccount => new ShellAccount(topicArn);
