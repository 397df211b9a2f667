import { beforeAll, describe, expect, test } from '@jest/globals';
import { METRIC, METRIC_DIMENSIONS, METRIC_NAMESPACE, STACK_DIMENSION } from '../../core/observability.ts';
import { PROVIDER_IDS } from '../../core/provider-names.ts';
import { codeIn, readDocument } from '../unit/docs/documents.ts';
import {
  ofType,
  onlyOne,
  type Resource,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

/** An alarm: its metric with dimensions, and its threshold. */
type Alarm = [metric: string, bound: string];

const OURS = 'service=GenerationService';
const ofService = (metric: string, bound: string, split = ''): Alarm => [
  `${METRIC_NAMESPACE}/${metric} ${split}${OURS}`,
  bound,
];
const executionsOf = (machine: string, end: string): Alarm => [
  `AWS/States/${end} StateMachineArn=${machine}`,
  '>= 1 in 1 x 300 s',
];

/** Every alarm. Only the first three tell also when they have no data any more. */
const ALARMS: Alarm[] = [
  ofService(METRIC.ledgerVerified, '< 1 in 2 x 86400 s, or no data'),
  ofService(METRIC.workOverdue, '>= 900 in 1 x 900 s, or no data'),
  ofService(METRIC.lookOverdue, '>= 180 in 1 of 3 x 60 s, or no data'),
  ofService(METRIC.oldestOpenRequest, '>= 19800 in 1 x 900 s'),
  ofService(METRIC.oldestWaiting, '>= 1800 in 1 x 900 s'),
  ofService(METRIC.ledgerProblem, '>= 1 in 1 x 300 s'),
  ofService(METRIC.reconcileFailed, '>= 1 in 1 x 300 s'),
  executionsOf('GenerationWorkflowMachineStateMachine', 'ExecutionsFailed'),
  executionsOf('GenerationWorkflowMachineStateMachine', 'ExecutionsTimedOut'),
  executionsOf('WebhookWorkflowMachineStateMachine', 'ExecutionsFailed'),
  executionsOf('WebhookWorkflowMachineStateMachine', 'ExecutionsTimedOut'),
  executionsOf('ExpiryWorkflowMachineStateMachine', 'ExecutionsFailed'),
  ofService(METRIC.filesNotRemoved, '>= 1 in 1 x 300 s'),
  ofService(METRIC.outputStorageFailed, '>= 1 in 1 x 300 s'),
  // Half of at least 20: the metric is 1 for a request that failed, 0 for one that succeeded.
  [
    `IF(ended >= 20, failed, 0) ended=SampleCount,failed=Average of ${METRIC_NAMESPACE}/${METRIC.requestFailed} ${OURS}`,
    '>= 0.5 in 1 x 900 s',
  ],
  ['AWS/ApiGateway/5XXError ApiName=GenerationService', '>= 5 in 1 x 300 s'],
  // Of the whole account, which shares its concurrency.
  ['AWS/Lambda/Throttles ', '>= 50 in 1 x 300 s'],
  ofService(METRIC.webhookGivenUp, '>= 50 in 1 x 300 s'),
  ...PROVIDER_IDS.flatMap((provider) => [
    ofService(METRIC.providerAccessRefused, '>= 1 in 1 x 300 s', `provider=${provider} `),
    ofService(METRIC.providerCallLost, '>= 5 in 1 x 300 s', `provider=${provider} `),
    ofService(METRIC.unknownProviderState, '>= 1 in 1 x 300 s', `provider=${provider} `),
  ]),
];

/** A part of the metric math of an alarm. */
interface MathMetric {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: Resource['Properties']; Stat: string; Period: number };
}

const described = ({ Properties }: Resource): Alarm => {
  const { MetricName, Threshold, EvaluationPeriods, DatapointsToAlarm } = Properties;
  // Missing data is never a breach: the first deployment would raise every such alarm at once.
  const sign = { GreaterThanOrEqualToThreshold: '>=', LessThanThreshold: '<' }[
    Properties.ComparisonOperator as string
  ];
  const missing = Properties.InsufficientDataActions ? 'missing' : 'notBreaching';
  const noData = Properties.InsufficientDataActions ? ', or no data' : '';
  expect(Properties.InsufficientDataActions ?? Properties.AlarmActions).toEqual(Properties.AlarmActions);
  expect([MetricName, Properties.TreatMissingData]).toEqual([MetricName, missing]);
  const { metric, period } = Properties.Metrics ? ofMath(Properties.Metrics) : ofMetric(Properties);
  const some = DatapointsToAlarm === undefined ? '' : `${DatapointsToAlarm} of `;
  return [metric, `${sign} ${Threshold} in ${some}${EvaluationPeriods} x ${period} s${noData}`];
};

const ofMetric = ({ Namespace, MetricName, Dimensions, Period }: Resource['Properties']) => {
  const split = (Dimensions ?? []).map(
    ({ Name, Value }: { Name: string; Value: unknown }) => `${Name}=${render(Value)}`,
  );
  return { metric: `${Namespace}/${MetricName} ${split.toSorted().join(' ')}`, period: Period };
};

/** An expression over statistics of one metric. */
const ofMath = (metrics: MathMetric[]) => {
  const [{ Expression } = {}] = metrics.filter((metric) => metric.Expression);
  const parts = metrics.flatMap(({ Id, MetricStat }) => (MetricStat ? [{ Id, ...MetricStat }] : []));
  const of = new Set(parts.map(({ Metric }) => ofMetric(Metric).metric));
  const periods = new Set(parts.map(({ Period }) => Period));
  expect([of.size, periods.size]).toEqual([1, 1]);
  const statistics = parts.map(({ Id, Stat }) => `${Id}=${Stat}`).toSorted();
  return { metric: `${Expression} ${statistics} of ${[...of]}`, period: [...periods][0] };
};

let service: ServiceTemplate;
beforeAll(async () => {
  service = await synthesizeService();
});
const alarms = () => ofType(service.resources, 'AWS::CloudWatch::Alarm').map(([, alarm]) => alarm);

describe('the alarms', () => {
  test('are these, and no others', () => {
    expect(alarms().map(described).toSorted()).toEqual(ALARMS.toSorted());
  });

  test('that the reconciler is dead rings after three of its intervals, in whole minutes', async () => {
    const { resources } = await synthesizeService({ reconcileIntervalSeconds: 61 });
    const found = ofType(resources, 'AWS::CloudWatch::Alarm').map(([, alarm]) => described(alarm));

    expect(found).toContainEqual(ofService(METRIC.lookOverdue, '>= 180 in 1 of 3 x 120 s, or no data'));
  });

  test('describe the problem in a sentence, and notify the topic', () => {
    const { logicalId } = onlyOne(service.resources, 'AWS::SNS::Topic');

    for (const { Properties } of alarms()) {
      expect(Properties.AlarmDescription).toMatch(/^\S.*\.$/);
      expect(Properties.AlarmActions).toEqual([{ Ref: logicalId }]);
      expect(Properties.ActionsEnabled).not.toBe(false);
    }
  });

  test('are sent to the given email address only', async () => {
    const subscriptions = async (overrides: Record<string, unknown>) =>
      ofType((await synthesizeService(overrides)).resources, 'AWS::SNS::Subscription').map(
        ([, { Properties }]) => [Properties.Protocol, Properties.Endpoint],
      );

    expect(await subscriptions({})).toEqual([]);
    expect(await subscriptions({ alarmEmail: 'ops@example.com' })).toEqual([['email', 'ops@example.com']]);
  });
});

describe('the operating guide', () => {
  const guide = readDocument('docs/operating.md');

  test('has a paragraph on every alarm, and on no other', async () => {
    const { resources } = await synthesizeService({ exportBucket: 'exports.example' });
    const described = [...guide.matchAll(/^\*\*((?:`[\w-]+`(?:, )?)+)\*\*: \S/gm)].flatMap(([, names = '']) =>
      names.split(', ').map(codeIn),
    );
    const ids = ofType(resources, 'AWS::CloudWatch::Alarm').map(([id]) =>
      render({ Ref: id }).replace(/^(Monitoring|TableExport)/, ''),
    );

    expect(described.map((name) => name.replaceAll('-', '')).toSorted()).toEqual(ids.toSorted());
  });

  test('counts what is billed by the piece: secrets, metrics of alarms, dashboards', () => {
    const count = (type: string) => ofType(service.resources, type).length;
    const watched = alarms().flatMap(({ Properties }) =>
      ((Properties.Metrics ?? [{ MetricStat: {} }]) as MathMetric[]).filter(({ MetricStat }) => MetricStat),
    );

    expect(guide).toContain(
      `| $0.40, $0.10, $3 each | ${count('AWS::SecretsManager::Secret')}, ${watched.length} and ${count('AWS::CloudWatch::Dashboard')}: `,
    );
  });

  test('shows the saved queries of the stack, which search the logs of every function that serves requests', () => {
    const queries = ofType(service.resources, 'AWS::Logs::QueryDefinition').map(
      ([, { Properties }]) => Properties,
    );

    expect(queries).toHaveLength(3);
    for (const { Name, QueryString, LogGroupNames } of queries) {
      expect(Name).toMatch(/^GenerationService\/\S/);
      expect(guide).toContain(QueryString);
      expect(LogGroupNames.length).toBeGreaterThan(20);
    }
  });
});

describe('a metric of ours is looked up by exactly the dimensions that it is counted by', () => {
  const expected = (metric: string): string[] => [
    ...METRIC_DIMENSIONS[metric as keyof typeof METRIC_DIMENSIONS],
    STACK_DIMENSION,
  ];
  const expectCounted = (found: [metric: string, dimensions: string[]][]) => {
    expect(found.length).toBeGreaterThan(10);
    expect(found.map(([metric, dimensions]) => [metric, dimensions.toSorted()])).toEqual(
      found.map(([metric]) => [metric, expected(metric).toSorted()]),
    );
  };

  test('by every alarm', () => {
    const watched = alarms().flatMap(({ Properties }) => [
      Properties,
      ...(Properties.Metrics ?? []).flatMap(({ MetricStat }: MathMetric) => MetricStat?.Metric ?? []),
    ]);

    expectCounted(
      watched
        .filter(({ Namespace }) => Namespace === METRIC_NAMESPACE)
        .map(({ MetricName, Dimensions }) => [
          MetricName,
          Dimensions.map(({ Name }: { Name: string }) => Name),
        ]),
    );
  });

  test('by every line of the dashboard', () => {
    const { DashboardBody } = onlyOne(service.resources, 'AWS::CloudWatch::Dashboard').Properties;
    const { widgets } = JSON.parse(render(DashboardBody)) as {
      widgets: { properties: { metrics: (string | { expression?: string })[][] } }[];
    };
    const lines = widgets.flatMap(({ properties }) => properties.metrics);
    const searches = lines.flatMap(([search]) =>
      typeof search === 'object' ? [search.expression ?? ''] : [],
    );

    expectCounted([
      ...lines
        .filter(([namespace]) => namespace === METRIC_NAMESPACE)
        .map(([, metric, ...rest]): [string, string[]] => [
          String(metric),
          // Names and values take turns; how to draw the line comes last.
          rest.filter((part, index) => typeof part === 'string' && index % 2 === 0).map(String),
        ]),
      ...searches.map((search): [string, string[]] => {
        const [, schema = '', metric = ''] = /^SEARCH\('\{([^}]*)\} MetricName="(\w+)" /.exec(search) ?? [];
        const [namespace, ...dimensions] = schema.split(',');
        expect([search, namespace]).toEqual([search, METRIC_NAMESPACE]);
        return [metric, dimensions];
      }),
    ]);
  });
});

test('one dashboard shows calls, executions, providers, concurrency, webhooks and the table', () => {
  const { DashboardBody, DashboardName } = onlyOne(
    service.resources,
    'AWS::CloudWatch::Dashboard',
  ).Properties;
  const body = JSON.stringify(DashboardBody);

  expect(render(DashboardName)).toBe('GenerationService-AWS::Region');
  for (const metric of [
    '5XXError',
    'Latency',
    'ExecutionsStarted',
    'ExecutionsFailed',
    'ConcurrentExecutions',
    'Throttles',
    'WebhookGivenUp',
    'ThrottledRequests',
    METRIC.openRequests,
    METRIC.oldestOpenRequest,
    METRIC.workOverdue,
    METRIC.held,
    METRIC.refunded,
  ]) {
    expect(body).toContain(metric);
  }
});

test.each([
  [METRIC.requestCreated, 'model', 'Sum'],
  [METRIC.requestEnded, 'model,outcome', 'Sum'],
  [METRIC.providerCall, 'outcome,provider', 'Sum'],
  [METRIC.timeToDone, 'model,outcome', 'p50'],
  [METRIC.timeToDone, 'model,outcome', 'p99'],
])('the dashboard finds all lines of %s by %s itself: %s', (metric, dimensions, statistic) => {
  const { DashboardBody } = onlyOne(service.resources, 'AWS::CloudWatch::Dashboard').Properties;
  const search = `SEARCH('{GenerationService,${dimensions},service} MetricName="${metric}" service="GenerationService"', '${statistic}', 300)`;

  expect(JSON.stringify(DashboardBody).replaceAll('\\', '')).toContain(search);
});

test('the alarms on open work look at its maximum, and allow for a reconciler that runs seldom', async () => {
  const periodsOf = ({ resources }: ServiceTemplate) =>
    ofType(resources, 'AWS::CloudWatch::Alarm')
      .map(([, { Properties }]) => Properties)
      .filter(({ MetricName }) => [METRIC.workOverdue, METRIC.oldestOpenRequest].includes(MetricName))
      .map(({ Statistic, Period }) => [Statistic, Period]);

  expect(periodsOf(service)).toEqual([
    ['Maximum', 900],
    ['Maximum', 900],
  ]);
  expect(periodsOf(await synthesizeService({ reconcileIntervalSeconds: 3600 }))).toEqual([
    ['Maximum', 7200],
    ['Maximum', 7200],
  ]);
});

describe('the policy of the topic', () => {
  const statements = () => {
    const { PolicyDocument, Topics } = onlyOne(service.resources, 'AWS::SNS::TopicPolicy').Properties;
    expect(Topics).toEqual([{ Ref: onlyOne(service.resources, 'AWS::SNS::Topic').logicalId }]);
    return PolicyDocument.Statement as Record<string, unknown>[];
  };

  test('lets alarms of this account publish: a policy of our own replaces the default one, which would', () => {
    const topic = { Ref: onlyOne(service.resources, 'AWS::SNS::Topic').logicalId };

    expect(statements().filter(({ Effect }) => Effect === 'Allow')).toEqual([
      {
        Sid: 'AlarmsOfThisAccount',
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
        Resource: topic,
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      },
    ]);
  });

  test('refuses plain HTTP', () => {
    expect(statements().filter(({ Effect }) => Effect === 'Deny')).toMatchObject([
      { Action: 'sns:Publish', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  });
});

test('the ledgers are verified once a day', () => {
  const rules = ofType(service.resources, 'AWS::Events::Rule')
    .map(([, { Properties }]) => Properties)
    .filter(({ Targets }) => render(Targets[0].Arn) === 'LedgerVerificationWorkflowMachineStateMachine');

  expect(rules).toMatchObject([{ ScheduleExpression: 'rate(1 day)', State: 'ENABLED' }]);
  expect(rules.map(({ Targets }) => Targets[0].Input)).toEqual(['{}']);
});
