import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { METRIC } from '../core/observability.ts';
import { LISTING_INDEX, REQUEST_INDEXES } from '../core/table/keys.ts';
import type { AddAlarm } from './add-alarm.ts';
import type { ServiceFunction } from './service-function.ts';
import { serviceMetric } from './service-metric.ts';

/** What the alarms of this file watch, besides the service's own metrics. */
export interface CallerAlarmsProps {
  /** The functions that creations and reads of requests wait for. Calls for OpenAI's clients wait for images. */
  answering: readonly ServiceFunction[];
  table: ITable;
  /** Those whose throttled transitions delay requests and webhooks. */
  stateMachines: readonly StateMachine[];
  /** Functions that work on requests. A release that renames a task has it under both names. */
  workers: readonly ServiceFunction[];
  deliverWebhook: ServiceFunction;
  api: RestApi;
  /** The models that are routed. */
  models: readonly string[];
}

/** A first customer's outage: two requests or calls may be all that six hours have. */
const MIN_OF_FEW = 2;
const FEW_PERIOD = Duration.hours(6);
/** Of fewer calls, the share that was answered by a server error says little. */
const MIN_CALLS_IN_OUTAGE = 10;
/** An outage of few requests: of fewer, the share that failed says little. */
const MIN_ENDED_IN_OUTAGE = 5;
/** Of fewer calls, the slowest of 100 says little. */
const MIN_CALLS = 20;
/** The slowest good answer, to a creation with reference videos, takes some 9 s. */
const SLOW_CALL_MS = 10_000;
const MIN_WEBHOOKS = 3;
const LATE_WEBHOOK_SECONDS = 60;
/** Clients repeat throttled calls by themselves. */
const THROTTLED_CALLS = 100;
/** Most metrics that CloudWatch takes in an alarm. */
const METRICS_PER_ALARM = 10;
/** A task that is throttled all the time is attempted some 20 times in 5 min. */
const THROTTLED_INVOCATIONS = 20;
/** How far above its own past weeks a model's time is late, in standard deviations. */
const LATE_DEVIATIONS = 3;

const FIVE_MINUTES = { statistic: 'Sum', period: Duration.minutes(5) };
/** A statistic of a metric while the metric has at least this many values in the period, else 0. */
const ifAtLeast = (count: number, metric: Metric, statistic: string, period: Duration): IMetric =>
  new MathExpression({
    expression: `IF(n >= ${count}, value, 0)`,
    usingMetrics: { n: metric.with({ statistic: 'SampleCount' }), value: metric.with({ statistic }) },
    period,
  });

/** The p99 of the slowest of some functions while all of them together had so many runs in the period, else 0. */
const slowestOf = (functions: readonly ServiceFunction[], minRuns: number, period: Duration): IMetric => {
  const named = functions.map(({ lambda }, index) => [String(index), lambda] as const);
  const each = (prefix: string) => named.map(([index]) => `FILL(${prefix}${index}, 0)`).join(', ');
  const metrics = named.flatMap(([index, lambda]) => [
    [`n${index}`, lambda.metricDuration({ statistic: 'SampleCount' })] as const,
    [`p${index}`, lambda.metricDuration({ statistic: 'p99' })] as const,
  ]);
  return new MathExpression({
    expression: `IF(SUM([${each('n')}]) >= ${minRuns}, MAX([${each('p')}]), 0)`,
    usingMetrics: Object.fromEntries(metrics),
    period,
  });
};

/** The sum of metrics that are only there when something happened. */
const metricSum = (metrics: readonly Metric[]): IMetric => {
  const named = metrics.map((metric, index) => [`m${index}`, metric] as const);
  return new MathExpression({
    expression: `SUM([${named.map(([name]) => `FILL(${name}, 0)`).join(', ')}])`,
    usingMetrics: Object.fromEntries(named),
    period: FIVE_MINUTES.period,
  });
};

const HOUR = Duration.hours(1);
const QUARTER = Duration.minutes(15);

/** Alarms on what callers feel, that ring for a first customer with little traffic too. */
export const addCallerAlarms = (scope: Construct, alarm: AddAlarm, props: CallerAlarmsProps): void => {
  addOutageAlarms(scope, alarm, props);
  addLatenessAlarms(scope, alarm, props);
  addThrottleAlarms(alarm, props);
};

const addOutageAlarms = (scope: Construct, alarm: AddAlarm, props: CallerAlarmsProps): void => {
  alarm(
    'MostRequestsFailing',
    ifAtLeast(MIN_ENDED_IN_OUTAGE, serviceMetric(scope, METRIC.requestFailed, {}), 'Average', HOUR),
    'Four of five of the requests that ended in an hour have failed.',
    { atLeast: 0.8 },
  );
  alarm(
    'AllRequestsFailing',
    ifAtLeast(MIN_OF_FEW, serviceMetric(scope, METRIC.requestFailed, {}), 'Average', FEW_PERIOD),
    'All requests that ended in six hours have failed.',
    { atLeast: 1 },
  );
  // The average of this metric is its share of all calls.
  const serverErrors = props.api.metricServerError();
  alarm(
    'MostCallsFailing',
    ifAtLeast(MIN_CALLS_IN_OUTAGE, serverErrors, 'Average', HOUR),
    'The API answers half of its calls with server errors.',
    { atLeast: 0.5 },
  );
  alarm(
    'AllCallsFailing',
    ifAtLeast(MIN_OF_FEW, serverErrors, 'Average', FEW_PERIOD),
    'The API has answered all calls of six hours with server errors.',
    { atLeast: 1 },
  );
  alarm(
    'FileUnreachable',
    serviceMetric(scope, METRIC.fileUnreachable, {}),
    'A stored output cannot be fetched by its public URL.',
  );
};

const addLatenessAlarms = (scope: Construct, alarm: AddAlarm, props: CallerAlarmsProps): void => {
  for (const model of props.models) {
    alarm(
      `${model}-late`,
      serviceMetric(scope, METRIC.secondsPerOutput, { model }).with({ statistic: 'p95', period: HOUR }),
      `The provider of ${model} takes far longer for the same output than in the weeks before.`,
      { aboveExpectedBy: LATE_DEVIATIONS, periods: 2 },
    );
  }
  alarm(
    'WebhooksLate',
    ifAtLeast(MIN_WEBHOOKS, serviceMetric(scope, METRIC.webhookLag, {}), 'p50', QUARTER),
    'Half of the webhooks are attempted a minute or more after the end of their requests.',
    { atLeast: LATE_WEBHOOK_SECONDS },
  );
  alarm(
    'WebhookFaults',
    props.deliverWebhook.lambda.metricErrors({ statistic: 'Sum', period: QUARTER }),
    'The function that delivers webhooks fails again and again: a delivery repeats until this is mended.',
    // A delivery that meets a fault of ours is repeated every 15 min, and a little later each time.
    { periods: 4, toAlarm: 3 },
  );
  alarm(
    'ApiSlow',
    slowestOf(props.answering, MIN_CALLS, QUARTER),
    'One of a hundred creations or reads of requests takes 10 s or more.',
    { atLeast: SLOW_CALL_MS },
  );
};

const addThrottleAlarms = (alarm: AddAlarm, props: CallerAlarmsProps): void => {
  alarm('TableThrottled', metricSum(throttlesOf(props.table)), 'DynamoDB throttles calls of the table.', {
    atLeast: THROTTLED_CALLS,
  });
  alarm(
    'ExecutionsThrottled',
    metricSum(props.stateMachines.map((machine) => machine.metricThrottled(FIVE_MINUTES))),
    'Step Functions throttles the transitions of executions.',
    { atLeast: THROTTLED_CALLS },
  );
  for (let first = 0; first < props.workers.length; first += METRICS_PER_ALARM) {
    const some = props.workers.slice(first, first + METRICS_PER_ALARM);
    alarm(
      `FunctionsThrottled${first === 0 ? '' : first / METRICS_PER_ALARM + 1}`,
      metricSum(some.map(({ lambda }) => lambda.metricThrottles(FIVE_MINUTES))),
      'Functions of this stack that work on requests are refused concurrency.',
      { atLeast: THROTTLED_INVOCATIONS },
    );
  }
};

/** Throttled reads and writes of the table and, apart from those, of each index. */
const throttlesOf = (table: ITable): Metric[] => {
  const indexes = [LISTING_INDEX, ...Object.values(REQUEST_INDEXES)].map(({ name }) => name);
  return ['ReadThrottleEvents', 'WriteThrottleEvents'].flatMap((metricName) =>
    [undefined, ...indexes].map(
      (index) =>
        new Metric({
          namespace: 'AWS/DynamoDB',
          metricName,
          dimensionsMap: {
            TableName: table.tableName,
            ...(index !== undefined && { GlobalSecondaryIndexName: index }),
          },
          ...FIVE_MINUTES,
        }),
    ),
  );
};
