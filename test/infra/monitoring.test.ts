import { globSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Stack } from 'aws-cdk-lib';
import { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { Topic } from 'aws-cdk-lib/aws-sns';
import {
  METRIC,
  METRIC_NAMESPACE,
  type MetricName,
  metricDimensions,
  STACK_DIMENSION,
} from '../../core/observability.ts';
import { alarmsTo } from '../../lib/add-alarm.ts';
import { addCallerAlarms } from '../../lib/caller-alarms.ts';
import type { ServiceFunction } from '../../lib/service-function.ts';
import { PROJECT_ROOT, readDocument } from '../unit/docs/documents.ts';
import { DEVELOPMENT, MOST, NEXT_TO_EDGES, PRODUCTION } from './option-sets.ts';
import {
  ofType,
  onlyOne,
  propertiesOf,
  type Resource,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

/** A part of the metric math of an alarm. */
interface MathMetric {
  Id: string;
  Expression?: string;
  MetricStat?: { Metric: Resource['Properties']; Stat: string; Period: number };
}

const service = await synthesizeService();
const alarms = propertiesOf(service.resources, 'AWS::CloudWatch::Alarm');
const dashboard = onlyOne(service.resources, 'AWS::CloudWatch::Dashboard').Properties;
const { widgets } = JSON.parse(render(dashboard.DashboardBody)) as {
  widgets: { y: number; properties: { metrics: (string | { expression?: string })[][] } }[];
};

describe('the alarms', () => {
  test('that the reconciler is dead rings after three of its intervals, in whole minutes', async () => {
    const { resources } = await synthesizeService(NEXT_TO_EDGES);
    const [found] = ofType(resources, 'AWS::CloudWatch::Alarm').flatMap(([, { Properties }]) =>
      Properties.MetricName === METRIC.checkOverdue ? [Properties] : [],
    );

    expect(found).toMatchObject({ Threshold: 180, EvaluationPeriods: 3, DatapointsToAlarm: 1, Period: 120 });
  });

  test('combine ten metrics at most, which is all that CloudWatch takes', () => {
    for (const Properties of alarms) {
      const combined = ((Properties.Metrics ?? []) as MathMetric[]).filter(({ MetricStat }) => MetricStat);
      expect(combined.length).toBeLessThanOrEqual(10);
    }
  });

  test('combine no more when a release has a renamed task under both its names', () => {
    const stack = new Stack();
    const functionNamed = (name: string) =>
      ({ lambda: LambdaFunction.fromFunctionName(stack, name, name) }) as ServiceFunction;
    const api = new RestApi(stack, 'Api');
    api.root.addMethod('GET');

    addCallerAlarms(stack, alarmsTo(stack, new Topic(stack, 'Topic')), {
      ...{ api, answering: [functionNamed('answers')], deliverWebhook: functionNamed('delivers') },
      ...{ table: Table.fromTableName(stack, 'Table', 'table'), stateMachines: [], models: [] },
      workers: Array.from({ length: 11 }, (_, index) => functionNamed(`works${index}`)),
    });

    const names = stack.node.children.map(({ node }) => node.id);
    expect(names.filter((name) => name.startsWith('FunctionsThrottled'))).toEqual([
      'FunctionsThrottled',
      'FunctionsThrottled2',
    ]);
  });

  test('describe the problem in a sentence, and notify the topic, when they are over too', () => {
    const { logicalId } = onlyOne(service.resources, 'AWS::SNS::Topic');

    for (const Properties of alarms) {
      expect(Properties.AlarmDescription).toMatch(/^\S.*\.$/);
      expect(Properties.AlarmActions).toEqual([{ Ref: logicalId }]);
      expect(Properties.OKActions).toEqual([{ Ref: logicalId }]);
      expect(Properties.ActionsEnabled).not.toBe(false);
    }
  });

  test('are sent to the given email address only', async () => {
    const subscriptions = async (overrides: Record<string, unknown>) =>
      ofType((await synthesizeService(overrides)).resources, 'AWS::SNS::Subscription').map(
        ([, { Properties }]) => [Properties.Protocol, Properties.Endpoint],
      );

    expect(await subscriptions({})).toEqual([]);
    expect(await subscriptions(PRODUCTION)).toEqual([['email', PRODUCTION.alarmEmail]]);
  });
});

describe('a stack that is kept and notifies nobody', () => {
  const warningsOf = async (overrides: Record<string, unknown>) =>
    (await synthesizeService(overrides)).stack.warnings.filter((text) => text.includes('alarmEmail'));

  test('is a warning of the synthesis', async () => {
    expect(await warningsOf({})).toEqual([expect.stringMatching(/^No alarm reaches anybody/)]);
  });

  test.each([
    ['notifies somebody', PRODUCTION],
    ['may go', DEVELOPMENT],
  ])('is not meant by one that %s', async (_, overrides) => {
    expect(await warningsOf(overrides)).toEqual([]);
  });
});

describe('the operating guide', () => {
  const guide = readDocument('docs/alarms.md');

  test('names the saved queries of the stack, which search the logs of every function that serves requests for messages that are logged', () => {
    const sources = ['core', 'functions', 'providers']
      .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: PROJECT_ROOT }))
      .map(readDocument);
    const queries = propertiesOf(service.resources, 'AWS::Logs::QueryDefinition');

    const serving = Object.entries(service.functions).flatMap(([name, { properties }]) =>
      /create-signing-key|publish-pages|stop-executions/.test(name)
        ? []
        : [render(properties.LoggingConfig.LogGroup)],
    );

    expect(queries).toHaveLength(6);
    for (const { Name, QueryString, LogGroupNames } of queries) {
      expect(Name).toMatch(/^GenerationService\/\S/);
      expect(guide).toContain(`\`${String(Name).split('/')[1]}\``);
      for (const [, message] of QueryString.matchAll(/filter message = "([^"]+)"/g))
        expect(sources.some((source) => source.includes(`'${message}'`))).toBe(true);
      expect(LogGroupNames.map(render).toSorted()).toEqual([...new Set(serving)].toSorted());
    }
  });
});

describe('a metric of ours is looked up by exactly the dimensions that it is counted by', () => {
  const expected = (metric: string): string[] => [...metricDimensions(metric as MetricName), STACK_DIMENSION];
  const expectCounted = (found: [metric: string, dimensions: string[]][]) => {
    expect(found.length).toBeGreaterThan(10);
    expect(found.map(([metric, dimensions]) => [metric, dimensions.toSorted()])).toEqual(
      found.map(([metric]) => [metric, expected(metric).toSorted()]),
    );
  };

  test('by every alarm', () => {
    const watched = alarms.flatMap((Properties) => [
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
    const lines = widgets.flatMap(({ properties }) => properties.metrics);
    const searches = lines.flatMap(([search]) =>
      // Other expressions are over metrics that are lines of their own.
      typeof search === 'object' && search.expression?.startsWith('SEARCH') ? [search.expression] : [],
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

test("the dashboard's first row is what a caller feels", () => {
  const first = widgets
    .filter(({ y }) => y === 0)
    .map(({ properties }) => JSON.stringify(properties.metrics));

  expect(first).toHaveLength(4);
  const [succeeded, toEnd, calls, lag] = first;
  expect(succeeded).toContain(`${METRIC.requestFailed}`);
  for (const statistic of ['p50', 'p95']) {
    expect(toEnd).toContain(METRIC.timeToDone);
    expect([toEnd, lag].every((line) => line?.includes(statistic))).toBe(true);
  }
  expect(calls).toMatch(/AWS\/ApiGateway.*Latency.*p99/);
  expect(lag).toContain(METRIC.webhookLag);
});

test('one dashboard shows calls, executions, providers, concurrency, webhooks and the table', () => {
  const body = JSON.stringify(dashboard.DashboardBody);

  expect(render(dashboard.DashboardName)).toBe('GenerationService-AWS::Region');
  for (const metric of [
    ...['5XXError', 'Latency', 'ExecutionsStarted', 'ExecutionsFailed', 'ConcurrentExecutions', 'Throttles'],
    ...['WebhookGivenUp', 'ReadThrottleEvents', 'WriteThrottleEvents'],
    ...[METRIC.openRequests, METRIC.oldestOpenRequest, METRIC.workOverdue, METRIC.held, METRIC.refunded],
  ]) {
    expect(body).toContain(metric);
  }
});

test.each([
  [METRIC.requestCreated, 'model', 'Sum'],
  [METRIC.requestEnded, 'model,outcome', 'Sum'],
  [METRIC.providerCall, 'outcome,provider', 'Sum'],
  [METRIC.timeToDone, 'model,outcome', 'p50'],
  [METRIC.timeToDone, 'model,outcome', 'p95'],
  [METRIC.atProvider, 'model', 'p95'],
])('the dashboard finds all lines of %s by %s itself: %s', (metric, dimensions, statistic) => {
  const search = `SEARCH('{GenerationService,${dimensions},service} MetricName="${metric}" service="GenerationService"', '${statistic}', 300)`;

  expect(JSON.stringify(dashboard.DashboardBody).replaceAll('\\', '')).toContain(search);
});

test('the alarms on open work look at its maximum, and allow for a reconciler that runs seldom', async () => {
  const periodsOf = ({ resources }: ServiceTemplate) =>
    propertiesOf(resources, 'AWS::CloudWatch::Alarm')
      .filter(({ MetricName }) => [METRIC.workOverdue, METRIC.oldestOpenRequest].includes(MetricName))
      .map(({ Statistic, Period }) => [Statistic, Period]);

  expect(periodsOf(service)).toEqual([
    ['Maximum', 900],
    ['Maximum', 900],
  ]);
  expect(periodsOf(await synthesizeService(MOST))).toEqual([
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
  const rules = propertiesOf(service.resources, 'AWS::Events::Rule').filter(
    ({ Targets }) => render(Targets[0].Arn) === 'LedgerVerificationWorkflowMachineStateMachine',
  );

  expect(rules).toMatchObject([{ ScheduleExpression: 'rate(1 day)', State: 'ENABLED' }]);
  expect(rules.map(({ Targets }) => Targets[0].Input)).toEqual(['{}']);
});
