import { Duration, Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { CfnSchedule, CfnScheduleGroup } from 'aws-cdk-lib/aws-scheduler';
import type { Topic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';
import { alarmsTo } from './add-alarm.ts';
import { InlineRole } from './inline-role.ts';

/** The table, the bucket that receives its exports, and where an alarm goes when an export does not start. */
export interface TableExportProps {
  table: ITable;
  bucketName: string;
  /** The AWS account of the bucket; absent when it is this one. */
  bucketOwner: string | undefined;
  topic: Topic;
}

/** The call that the schedule makes, without a function: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html */
const EXPORT_CALL = 'arn:aws:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime';

/**
 * Placeholder that the scheduler replaces by the scheduled time. Retries of one export share the time, so DynamoDB
 * starts no second export.
 */
const CLIENT_TOKEN = '<aws.scheduler.scheduled-time>';

/** Exports the whole table to a bucket once a day, as it is at that moment. The bucket is the operator's, in any account and region. */
export class TableExport extends Construct {
  constructor(scope: Construct, id: string, { table, bucketName, bucketOwner, topic }: TableExportProps) {
    super(scope, id);
    const { account, stackName } = Stack.of(this);
    // A group of its own: the scheduler's metrics are by group.
    const group = new CfnScheduleGroup(this, 'Group', {});
    const scheduler = new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': account, 'aws:SourceArn': group.attrArn } },
    });
    const role = new InlineRole(this, 'Role', scheduler);
    const prefix = `${stackName}/`;
    const bucketArn = Stack.of(this).formatArn({
      service: 's3',
      account: '',
      region: '',
      resource: bucketName,
    });
    role.addToPolicy(
      new PolicyStatement({ actions: ['dynamodb:ExportTableToPointInTime'], resources: [table.tableArn] }),
    );
    role.addToPolicy(
      new PolicyStatement({
        // https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/S3DataExport_Requesting.html
        actions: ['s3:AbortMultipartUpload', 's3:PutObject', 's3:PutObjectAcl'],
        resources: [`${bucketArn}/${prefix}*`],
      }),
    );
    new CfnSchedule(this, 'Daily', {
      description: 'Exports the table once a day',
      groupName: group.ref,
      scheduleExpression: 'rate(1 day)',
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: EXPORT_CALL,
        roleArn: role.roleArn,
        input: Stack.of(this).toJsonString({
          TableArn: table.tableArn,
          S3Bucket: bucketName,
          S3BucketOwner: bucketOwner ?? account,
          S3Prefix: prefix.slice(0, -1),
          ExportFormat: 'DYNAMODB_JSON',
          ClientToken: CLIENT_TOKEN,
        }),
        retryPolicy: { maximumEventAgeInSeconds: 3_600, maximumRetryAttempts: 20 },
      },
    }).node.addDependency(role);
    const droppedExports = new Metric({
      namespace: 'AWS/Scheduler',
      metricName: 'InvocationDroppedCount',
      dimensionsMap: { ScheduleGroup: group.ref },
      statistic: 'Sum',
      period: Duration.minutes(5),
    });
    alarmsTo(this, topic)(
      'ExportNotStarted',
      droppedExports,
      'The daily export of the table was refused for an hour.',
    );
  }
}
