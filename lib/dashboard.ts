import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  MathExpression,
  Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import {
  METRIC,
  METRIC_NAMESPACE,
  type MetricDimensions,
  type MetricName,
  metricDimensions,
  STACK_DIMENSION,
} from '../core/observability.ts';
import type { ProviderId } from '../core/provider-names.ts';
import type { ServiceFunction } from './service-function.ts';
import { serviceMetric } from './service-metric.ts';

/** The resources on the dashboard. */
export interface DashboardProps {
  /** The accounts at providers. */
  providers: readonly ProviderId[];
  api: RestApi;
  table: ITable;
  stateMachines: Record<string, StateMachine>;
  /** Their logs are queried. */
  functions: readonly ServiceFunction[];
}

/** Saved queries of CloudWatch Logs Insights, by name. `docs/alarms.md` says when to run them. */
const LOG_QUERIES = {
  errors:
    'fields @timestamp, message, requestId, errorName, cause, @logStream | filter level = "ERROR" | sort @timestamp desc',
  'provider refusals':
    'fields @timestamp, requestId, provider, errorClass, upstreamCode | filter message = "provider refused" | sort @timestamp desc',
  'refused calls': 'filter message = "request refused" | stats count() by code, route',
  'which request':
    'filter @message like "PUT-ANY-ID-HERE" | fields @timestamp, message, requestId, httpRequestId, accountId, taskId, providerRequestId | sort @timestamp asc',
  'why is it late':
    'filter requestId = "PUT-THE-REQUEST-HERE" | fields @timestamp, message, totalSeconds, queueSeconds, providerSeconds, storingSeconds, sinceEndSeconds, seconds, milliseconds, provider, outcome, code, status, error, providerRequestId | sort @timestamp asc',
  'slowest requests':
    'filter message = "request ended" | fields @timestamp, requestId, accountId, model, outcome, totalSeconds, queueSeconds, providerSeconds, storingSeconds | sort totalSeconds desc | limit 50',
} as const;

const PERIOD = Duration.minutes(5);

/** One page with the state of the service, and saved queries of its logs. */
export class Dashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { api, table, stateMachines, functions, providers }: DashboardProps,
  ) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    const sum = { period: PERIOD, statistic: 'Sum' };
    const own = <Name extends MetricName>(metricName: Name, dimensions: MetricDimensions<Name>): Metric =>
      serviceMetric(this, metricName, dimensions);
    const ofLambda = (metricName: string, statistic: string): Metric =>
      new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: PERIOD });
    const graph = (title: string, left: IMetric[], right: IMetric[] = [], width = 12): GraphWidget =>
      new GraphWidget({ title, left, right, width });
    const felt = (title: string, left: IMetric[]): GraphWidget => graph(title, left, [], 6);
    const succeeded = new MathExpression({
      expression: '100 * (1 - failed)',
      usingMetrics: { failed: own(METRIC.requestFailed, {}).with({ statistic: 'Average' }) },
      label: 'succeeded',
      period: PERIOD,
    });
    const lag = own(METRIC.webhookLag, {});
    /** One line for each value of the metric's dimensions, named by them. */
    const each = (metricName: MetricName, statistic: string): MathExpression =>
      new MathExpression({
        expression: `SEARCH('{${[METRIC_NAMESPACE, ...metricDimensions(metricName), STACK_DIMENSION].join(',')}} MetricName="${metricName}" ${STACK_DIMENSION}="${stackName}"', '${statistic}', ${PERIOD.toSeconds()})`,
        label: '',
        period: PERIOD,
      });
    const latest = (metric: Metric): Metric => metric.with({ statistic: 'Maximum' });
    const executions = (of: (machine: StateMachine) => Metric): Metric[] =>
      Object.entries(stateMachines).map(([label, machine]) => of(machine).with({ label }));

    new CloudWatchDashboard(this, 'Dashboard', {
      // Dashboards have no region.
      dashboardName: `${stackName}-${region}`,
      widgets: [
        // What callers feel.
        [
          felt('Requests that succeeded, of 100', [succeeded]),
          felt('Seconds from creation to end by model and outcome, 50 and 95 of 100', [
            each(METRIC.timeToDone, 'p50'),
            each(METRIC.timeToDone, 'p95'),
          ]),
          felt('Milliseconds of the slowest of 100 calls of the API', [
            api.metricLatency({ period: PERIOD, statistic: 'p99' }),
          ]),
          felt('Seconds from the end of a request to its webhook, 50 and 95 of 100', [
            lag.with({ statistic: 'p50' }),
            lag.with({ statistic: 'p95' }),
          ]),
        ],
        [
          graph('Calls and errors', [
            api.metricCount(sum),
            api.metricClientError(sum),
            api.metricServerError(sum),
          ]),
          graph('Latency', [
            api.metricLatency({ period: PERIOD, statistic: 'p50' }),
            api.metricLatency({ period: PERIOD, statistic: 'p99' }),
          ]),
        ],
        [
          graph('Creations by model', [each(METRIC.requestCreated, 'Sum')]),
          graph('Ended by model and outcome', [each(METRIC.requestEnded, 'Sum')]),
        ],
        [
          graph('Calls to providers by outcome', [each(METRIC.providerCall, 'Sum')]),
          graph('Seconds at the provider by model, 50 and 95 of 100', [
            each(METRIC.atProvider, 'p50'),
            each(METRIC.atProvider, 'p95'),
          ]),
        ],
        [
          graph(
            'Open requests, and seconds: the oldest, and overdue work',
            [latest(own(METRIC.openRequests, {}))],
            [latest(own(METRIC.oldestOpenRequest, {})), latest(own(METRIC.workOverdue, {}))],
          ),
          graph(
            'xTokens held for open requests, and refunded',
            [latest(own(METRIC.held, {}))],
            [own(METRIC.refunded, {})],
          ),
        ],
        [
          graph(
            'Requests waiting, and calls running, by route',
            [each(METRIC.requestsWaiting, 'Maximum')],
            [each(METRIC.callsRunning, 'Maximum')],
          ),
          graph('Seconds since the oldest waiting request was created, by route', [
            each(METRIC.oldestWaitingOfRoute, 'Maximum'),
          ]),
        ],
        [
          graph(
            'Executions started',
            executions((machine) => machine.metricStarted(sum)),
          ),
          graph('Executions that failed, those of failed requests among them, or timed out', [
            ...executions((machine) => machine.metricFailed(sum)),
            ...executions((machine) => machine.metricTimedOut(sum)),
          ]),
        ],
        [
          graph(
            'Time of executions',
            executions((machine) => machine.metricTime({ period: PERIOD, statistic: 'p90' })),
          ),
          graph(
            'Providers',
            providers.flatMap((provider) => [
              own(METRIC.providerAccessRefused, { provider }),
              own(METRIC.providerCallLost, { provider }),
              own(METRIC.unknownProviderState, { provider }),
            ]),
          ),
        ],
        [
          graph(
            'Concurrency of all functions of the account, and throttled calls',
            [ofLambda('ConcurrentExecutions', 'Maximum')],
            [ofLambda('Throttles', 'Sum')],
          ),
          graph('Usage that providers report and we did not bill, or billed and they did not use', [
            each(METRIC.providerUsageDiffers, 'Sum'),
          ]),
        ],
        [
          graph('Webhooks given up, executions lost, ledger problems', [
            own(METRIC.webhookGivenUp, {}),
            own(METRIC.executionLost, {}),
            own(METRIC.reconcileFailed, {}),
            own(METRIC.ledgerProblem, {}),
          ]),
        ],
        [
          graph(
            'Table: capacity and throttled calls',
            [table.metricConsumedReadCapacityUnits(sum), table.metricConsumedWriteCapacityUnits(sum)],
            [table.metric('ReadThrottleEvents', sum), table.metric('WriteThrottleEvents', sum)],
          ),
        ],
      ],
    });
    const logGroupNames = [...new Set(functions.map(({ lambda }) => lambda.logGroup.logGroupName))];
    for (const [name, queryString] of Object.entries(LOG_QUERIES)) {
      new CfnQueryDefinition(this, `Query ${name}`, {
        name: `${stackName}/${name}`,
        queryString,
        logGroupNames,
      });
    }
  }
}
