import { Duration, Stack } from 'aws-cdk-lib';
import { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import {
  METRIC_NAMESPACE,
  type MetricDimensions,
  type MetricName,
  STACK_DIMENSION,
} from '../core/observability.ts';

/** Sum of one of the service's own metrics over 5 min, of this stack. */
export const serviceMetric = <Name extends MetricName>(
  scope: Construct,
  metricName: Name,
  dimensions: MetricDimensions<Name>,
): Metric =>
  new Metric({
    namespace: METRIC_NAMESPACE,
    metricName,
    dimensionsMap: { [STACK_DIMENSION]: Stack.of(scope).stackName, ...dimensions },
    statistic: 'Sum',
    period: Duration.minutes(5),
  });
