import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
  GetMetricStatisticsCommand,
  SetAlarmStateCommand,
} from '@aws-sdk/client-cloudwatch';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListServiceQuotasCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { GetTopicAttributesCommand, SNSClient } from '@aws-sdk/client-sns';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { createAwsAccount } from '../../../../ops/smoke/aws-account.ts';

const TOPIC = 'arn:aws:sns:us-east-1:111122223333:Service-Alarms';
const SINCE = new Date('2026-11-22T08:00:30.500Z');
process.env.AWS_REGION = 'us-east-1';

const lambda = mockClient(LambdaClient);
const quotas = mockClient(ServiceQuotasClient);
const sns = mockClient(SNSClient);
const cloudWatch = mockClient(CloudWatchClient);
beforeEach(() => {
  for (const client of [lambda, quotas, sns, cloudWatch]) client.reset();
});

const aws = createAwsAccount(TOPIC);

describe('quotas', () => {
  test('of functions at once are those of the account', async () => {
    const AccountLimit = { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 600 };
    lambda.on(GetAccountSettingsCommand).resolves({ AccountLimit });

    expect(await aws.concurrency()).toEqual({ quota: 1000, unreserved: 600 });
    expect(aws.region).toBe('us-east-1');
  });

  test('of open executions are found by their name, on any page', async () => {
    quotas
      .on(ListServiceQuotasCommand, { ServiceCode: 'states' })
      .resolves({ Quotas: [{ QuotaName: 'Registered activities', Value: 1 }], NextToken: 'more' });
    quotas
      .on(ListServiceQuotasCommand, { ServiceCode: 'states', NextToken: 'more' })
      .resolves({ Quotas: [{ QuotaName: 'Open executions per account', Value: 1_000_000 }] });

    expect(await aws.openExecutions()).toBe(1_000_000);
  });

  test('of open executions may be unlisted', async () => {
    quotas.on(ListServiceQuotasCommand).resolves({ Quotas: [] });

    expect(await aws.openExecutions()).toBeUndefined();
  });
});

describe('alarms', () => {
  test('have confirmed and pending subscriptions', async () => {
    const Attributes = { SubscriptionsConfirmed: '2', SubscriptionsPending: '1' };
    sns.on(GetTopicAttributesCommand, { TopicArn: TOPIC }).resolves({ Attributes });

    expect(await aws.subscriptions()).toEqual({ confirmed: 2, pending: 1 });
  });

  test('that notify the topic and are not in ALARM can be raised, with a reason for who gets the mail', async () => {
    cloudWatch.on(DescribeAlarmsCommand, { ActionPrefix: TOPIC }).resolves({
      MetricAlarms: [
        { AlarmName: 'loud', StateValue: 'ALARM' },
        { AlarmName: 'quiet', StateValue: 'OK' },
      ],
    });
    cloudWatch.on(SetAlarmStateCommand).resolves({});

    expect(await aws.findQuietAlarm()).toBe('quiet');
    await aws.setAlarm('quiet', 'ALARM');
    const [call] = cloudWatch.commandCalls(SetAlarmStateCommand);
    expect(call?.args[0].input).toEqual({
      ...{ AlarmName: 'quiet', StateValue: 'ALARM' },
      StateReason: expect.stringMatching(/npm run smoke.*Nothing is wrong/),
    });
  });

  test('tell what their actions came to', async () => {
    cloudWatch
      .on(DescribeAlarmHistoryCommand, { AlarmName: 'quiet', HistoryItemType: 'Action', StartDate: SINCE })
      .resolves({ AlarmHistoryItems: [{ HistorySummary: 'Successfully executed action x' }] });

    expect(await aws.alarmActions('quiet', SINCE)).toEqual(['Successfully executed action x']);
  });

  test('reach the metric of the topic, summed from the beginning of the minute', async () => {
    cloudWatch.on(GetMetricStatisticsCommand).resolves({ Datapoints: [{ Sum: 1 }, { Sum: 2 }] });

    expect(await aws.topicSum('NumberOfMessagesPublished', SINCE)).toBe(3);
    const [call] = cloudWatch.commandCalls(GetMetricStatisticsCommand);
    expect(call?.args[0].input).toMatchObject({
      ...{ Namespace: 'AWS/SNS', MetricName: 'NumberOfMessagesPublished', Statistics: ['Sum'] },
      Dimensions: [{ Name: 'TopicName', Value: 'Service-Alarms' }],
      StartTime: new Date('2026-11-22T08:00:00.000Z'),
    });
  });
});
