import { CfnCondition, Duration, Fn, Stack, Token } from 'aws-cdk-lib';
import type { IDistribution } from 'aws-cdk-lib/aws-cloudfront';
import { type CfnAlarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import type { AddAlarm } from './add-alarm.ts';

/** CloudFront's metrics are in this region only, wherever the stack is. */
const REGION_OF_METRICS = 'us-east-1';
const BYTES_PER_GIGABYTE = 1_000_000_000;

/**
 * Adds an alarm on the bytes that the distribution delivers in an hour: a GB costs the operator some $0.085, and a
 * file that many programs fetch is seldom a caller's own use. The alarm exists in a stack of `us-east-1` only, where
 * the metric is: a template without a region decides by a condition.
 */
export const addDeliveryAlarm = (
  scope: Construct,
  alarm: AddAlarm,
  { distribution, gigabytesPerHour }: { distribution: IDistribution; gigabytesPerHour: number },
): void => {
  const { region } = Stack.of(scope);
  const isRegionKnown = !Token.isUnresolved(region);
  if (isRegionKnown && region !== REGION_OF_METRICS) return;
  const added = alarm(
    'BytesDelivered',
    new Metric({
      namespace: 'AWS/CloudFront',
      metricName: 'BytesDownloaded',
      dimensionsMap: { DistributionId: distribution.distributionId, Region: 'Global' },
      statistic: 'Sum',
      period: Duration.hours(1),
    }),
    `More than ${gigabytesPerHour} GB of files were delivered in an hour.`,
    { atLeast: gigabytesPerHour * BYTES_PER_GIGABYTE },
  );
  if (isRegionKnown) return;
  const hasMetric = new CfnCondition(scope, 'HasCloudFrontMetrics', {
    expression: Fn.conditionEquals(region, REGION_OF_METRICS),
  });
  (added.node.defaultChild as CfnAlarm).cfnOptions.condition = hasMetric;
};
