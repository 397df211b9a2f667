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
  type Dimensions,
  METRIC,
  METRIC_DIMENSIONS,
  METRIC_NAMESPACE,
  type MetricName,
  STACK_DIMENSION,
} from '../core/observability.ts';
import { PROVIDER_IDS } from '../core/provider-names.ts';
import type { ServiceFunction } from './service-function.ts';

/** The resources on the dashboard. */
export interface DashboardProps {
  api: RestApi;
  table: ITable;
  stateMachines: Record<string, StateMachine>;
  /** Their logs are queried. */
  functions: readonly ServiceFunction[];
}

/** Saved queries of CloudWatch Logs Insights, by name. `docs/operating.md` shows the same. */
const LOG_QUERIES = {
  errors:
    'fields @timestamp, message, requestId, errorName, cause | filter level = "ERROR" | sort @timestamp desc',
  'provider refusals':
    'fields @timestamp, requestId, provider, errorClass, upstreamCode | filter message = "provider refused" | sort @timestamp desc',
  'refused calls': 'filter message = "request refused" | stats count() by code, route',
} as const;

const PERIOD = Duration.minutes(5);

/** One page with the state of the service, and saved queries of its logs. */
export class Dashboard extends Construct {
  constructor(scope: Construct, id: string, { api, table, stateMachines, functions }: DashboardProps) {
    super(scope, id);
    const { stackName, region } = Stack.of(this);
    const sum = { period: PERIOD, statistic: 'Sum' };
    const own = <Name extends MetricName>(metricName: Name, dimensions: Dimensions<Name>): Metric =>
      new Metric({
        namespace: METRIC_NAMESPACE,
        metricName,
        dimensionsMap: { [STACK_DIMENSION]: stackName, ...dimensions },
        ...sum,
      });
    const ofLambda = (metricName: string, statistic: string): Metric =>
      new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: PERIOD });
    const graph = (title: string, left: IMetric[], right: IMetric[] = []): GraphWidget =>
      new GraphWidget({ title, left, right, width: 12 });
    /** One line for each value of the metric's dimensions, named by them. */
    const each = (metricName: MetricName, statistic: string): MathExpression =>
      new MathExpression({
        expression: `SEARCH('{${[METRIC_NAMESPACE, ...METRIC_DIMENSIONS[metricName], STACK_DIMENSION].join(',')}} MetricName="${metricName}" ${STACK_DIMENSION}="${stackName}"', '${statistic}', ${PERIOD.toSeconds()})`,
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
          graph('Seconds from creation to success by model, median and 99 of 100', [
            each(METRIC.timeToDone, 'p50'),
            each(METRIC.timeToDone, 'p99'),
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
          graph('Executions that failed or timed out', [
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
            PROVIDER_IDS.flatMap((provider) => [
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
            [table.metric('ThrottledRequests', sum)],
          ),
        ],
      ],
    });
    const logGroupNames = functions.map(({ lambda }) => lambda.logGroup.logGroupName);
    for (const [name, queryString] of Object.entries(LOG_QUERIES)) {
      new CfnQueryDefinition(this, `Query ${name}`, {
        name: `${stackName}/${name}`,
        queryString,
        logGroupNames,
      });
    }
  }
}
