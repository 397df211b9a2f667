import { Duration, Stack } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  Dashboard as CloudWatchDashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
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

const SUM = { period: PERIOD, statistic: 'Sum' };

const graph = (title: string, left: IMetric[], right: IMetric[] = [], width = 12): GraphWidget =>
  new GraphWidget({ title, left, right, width });
/** A graph of a figure that callers feel: four fit into a row. */
const felt = (title: string, left: IMetric[]): GraphWidget => graph(title, left, [], 6);
const latest = (metric: Metric): Metric => metric.with({ statistic: 'Maximum' });
const ofLambda = (metricName: string, statistic: string): Metric =>
  new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: PERIOD });

/** One page with the state of the service, and saved queries of its logs. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, props: DashboardProps) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    new CloudWatchDashboard(this, 'Dashboard', {
      // Dashboards have no region.
      dashboardName: `${stackName}-${region}`,
      widgets: [
        ...this.rowsOfCalls(props.api),
        ...this.rowsOfWork(),
        ...this.rowsOfExecutions(props),
        ...this.rowsOfLimits(props.table),
      ],
    });
    this.saveQueries(props.functions);
  }

  private saveQueries(functions: readonly ServiceFunction[]): void {
    const { stackName } = Stack.of(this);
    const logGroupNames = [...new Set(functions.map(({ lambda }) => lambda.logGroup.logGroupName))];
    for (const [name, queryString] of Object.entries(LOG_QUERIES)) {
      new CfnQueryDefinition(this, `Query ${name}`, {
        name: `${stackName}/${name}`,
        queryString,
        logGroupNames,
      });
    }
  }

  private own<Name extends MetricName>(metricName: Name, dimensions: MetricDimensions<Name>): Metric {
    return serviceMetric(this, metricName, dimensions);
  }

  /** One line for each value of the metric's dimensions, named by the value. */
  private each(metricName: MetricName, statistic: string): MathExpression {
    const { stackName } = Stack.of(this);
    return new MathExpression({
      expression: `SEARCH('{${[METRIC_NAMESPACE, ...metricDimensions(metricName), STACK_DIMENSION].join(',')}} MetricName="${metricName}" ${STACK_DIMENSION}="${stackName}"', '${statistic}', ${PERIOD.toSeconds()})`,
      label: '',
      period: PERIOD,
    });
  }

  /** What callers feel, the API's calls, and calls to providers. */
  private rowsOfCalls(api: RestApi): IWidget[][] {
    const succeeded = new MathExpression({
      expression: '100 * (1 - failed)',
      usingMetrics: { failed: this.own(METRIC.requestFailed, {}).with({ statistic: 'Average' }) },
      label: 'succeeded',
      period: PERIOD,
    });
    const lag = this.own(METRIC.webhookLag, {});
    return [
      [
        felt('Requests that succeeded, of 100', [succeeded]),
        felt('Seconds from creation to end by model and outcome, 50 and 95 of 100', [
          this.each(METRIC.timeToDone, 'p50'),
          this.each(METRIC.timeToDone, 'p95'),
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
          api.metricCount(SUM),
          api.metricClientError(SUM),
          api.metricServerError(SUM),
        ]),
        graph('Latency', [
          api.metricLatency({ period: PERIOD, statistic: 'p50' }),
          api.metricLatency({ period: PERIOD, statistic: 'p99' }),
        ]),
      ],
      [
        graph('Creations by model', [this.each(METRIC.requestCreated, 'Sum')]),
        graph('Ended by model and outcome', [this.each(METRIC.requestEnded, 'Sum')]),
      ],
      [
        graph('Calls to providers by outcome', [this.each(METRIC.providerCall, 'Sum')]),
        graph('Seconds at the provider by model, 50 and 95 of 100', [
          this.each(METRIC.atProvider, 'p50'),
          this.each(METRIC.atProvider, 'p95'),
        ]),
      ],
    ];
  }

  /** Open requests and queues. */
  private rowsOfWork(): IWidget[][] {
    return [
      [
        graph(
          'Open requests, and seconds: the oldest, and overdue work',
          [latest(this.own(METRIC.openRequests, {}))],
          [latest(this.own(METRIC.oldestOpenRequest, {})), latest(this.own(METRIC.workOverdue, {}))],
        ),
        graph(
          'xTokens held for open requests, and refunded',
          [latest(this.own(METRIC.held, {}))],
          [this.own(METRIC.refunded, {})],
        ),
      ],
      [
        graph(
          'Requests waiting, and calls running, by route',
          [this.each(METRIC.requestsWaiting, 'Maximum')],
          [this.each(METRIC.callsRunning, 'Maximum')],
        ),
        graph('Seconds since the oldest waiting request was created, by route', [
          this.each(METRIC.oldestWaitingOfRoute, 'Maximum'),
        ]),
      ],
    ];
  }

  /** Executions, and what providers refuse. */
  private rowsOfExecutions({ stateMachines, providers }: DashboardProps): IWidget[][] {
    const executions = (of: (machine: StateMachine) => Metric): Metric[] =>
      Object.entries(stateMachines).map(([label, machine]) => of(machine).with({ label }));
    return [
      [
        graph(
          'Executions started',
          executions((machine) => machine.metricStarted(SUM)),
        ),
        graph('Executions that failed, those of failed requests among them, or timed out', [
          ...executions((machine) => machine.metricFailed(SUM)),
          ...executions((machine) => machine.metricTimedOut(SUM)),
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
            this.own(METRIC.providerAccessRefused, { provider }),
            this.own(METRIC.providerCallLost, { provider }),
            this.own(METRIC.unknownProviderState, { provider }),
          ]),
        ),
      ],
    ];
  }

  /** Limits of the account and of the table, usage that was billed wrongly, and what was given up. */
  private rowsOfLimits(table: ITable): IWidget[][] {
    return [
      [
        graph(
          'Concurrency of all functions of the account, and throttled calls',
          [ofLambda('ConcurrentExecutions', 'Maximum')],
          [ofLambda('Throttles', 'Sum')],
        ),
        graph('Usage that providers report and we did not bill, or billed and they did not use', [
          this.each(METRIC.providerUsageDiffers, 'Sum'),
        ]),
      ],
      [
        graph('Webhooks given up, executions lost, ledger problems', [
          this.own(METRIC.webhookGivenUp, {}),
          this.own(METRIC.executionLost, {}),
          this.own(METRIC.reconcileFailed, {}),
          this.own(METRIC.ledgerProblem, {}),
        ]),
      ],
      [
        graph(
          'Table: capacity and throttled calls',
          [table.metricConsumedReadCapacityUnits(SUM), table.metricConsumedWriteCapacityUnits(SUM)],
          [table.metric('ReadThrottleEvents', SUM), table.metric('WriteThrottleEvents', SUM)],
        ),
      ],
    ];
  }
}
