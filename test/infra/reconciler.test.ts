import { describe, expect, test } from '@jest/globals';
import { ERROR_STATUS } from '../../core/errors.ts';
import { LEAST, MOST, NEXT_TO_EDGES } from './option-sets.ts';
import { ofType, propertiesOf, render, type ServiceTemplate, synthesizeService } from './service-template.ts';

interface Rule {
  ScheduleExpression?: string;
  State: string;
  EventPattern?: Record<string, unknown> & {
    detail: { stateMachineArn: unknown[] } & Record<string, unknown>;
  };
  Targets: { Arn: { 'Fn::GetAtt': [string, string] }; Input?: string; RetryPolicy?: object }[];
}

const rulesOf = ({ resources, functions }: ServiceTemplate, name: string): Rule[] =>
  ofType(resources, 'AWS::Events::Rule')
    .map(([, { Properties }]) => Properties as Rule)
    .filter(({ Targets }) =>
      Targets.some(({ Arn }) => Arn['Fn::GetAtt']?.[0] === functions[name]?.logicalId),
    );

const service = await synthesizeService();

describe('the schedule of the reconciler', () => {
  const schedulesFor = async (overrides: Record<string, unknown>) =>
    rulesOf(await synthesizeService(overrides), 'events/reconcile').filter(
      ({ ScheduleExpression }) => ScheduleExpression,
    );

  test.each([
    [{}, 'rate(1 minute)', 60],
    [LEAST, 'rate(1 minute)', 1],
    [NEXT_TO_EDGES, 'rate(2 minutes)', 61],
    [MOST, 'rate(1 hour)', 3600],
  ])('with %j is %s, and gives the function an interval of %i s', async (overrides, rate, everySeconds) => {
    const [schedule, ...more] = await schedulesFor(overrides);

    expect(more).toEqual([]);
    expect(schedule).toMatchObject({ ScheduleExpression: rate, State: 'ENABLED' });
    expect(schedule?.Targets).toHaveLength(1);
    expect(JSON.parse(schedule?.Targets[0]?.Input ?? '')).toEqual({ everySeconds });
  });

  test('has no retries: the next run is the retry', async () => {
    const [schedule] = await schedulesFor({});

    expect(schedule?.Targets[0]?.RetryPolicy).toEqual({ MaximumRetryAttempts: 0 });
  });
});

describe('lost executions', () => {
  // An expiry that is lost needs no report: the next minute starts another.
  const PATTERNS_BY_MACHINE = {
    // A failed request is settled: its execution fails with the request's own error.
    GenerationWorkflowMachineStateMachine: {
      $or: [
        { status: ['TIMED_OUT', 'ABORTED'] },
        { status: ['FAILED'], error: [{ 'anything-but': Object.keys(ERROR_STATUS) }] },
      ],
    },
    // A stop is meant, as at the deletion of the stack.
    WebhookWorkflowMachineStateMachine: { status: ['FAILED', 'TIMED_OUT'] },
  };
  const eventRules = () =>
    rulesOf(service, 'events/reconcile-lost').filter(({ EventPattern }) => EventPattern);

  test('are reported at once, for exactly these state machines and ends', () => {
    const reported = eventRules().map(({ EventPattern }) => {
      const { stateMachineArn = [], ...end } = EventPattern?.detail ?? {};
      return [stateMachineArn.map(render).join(' '), end];
    });

    expect(Object.fromEntries(reported)).toEqual(PATTERNS_BY_MACHINE);
  });

  test('are reported by Step Functions, with the whole event', () => {
    for (const { EventPattern, State, Targets } of eventRules()) {
      expect(State).toBe('ENABLED');
      expect(EventPattern).toMatchObject({
        source: ['aws.states'],
        'detail-type': ['Step Functions Execution Status Change'],
      });
      expect(Object.keys(EventPattern ?? {}).toSorted()).toEqual(['detail', 'detail-type', 'source']);
      expect(Targets).toHaveLength(1);
      expect(Targets[0]?.Input).toBeUndefined();
      expect(Targets[0]?.RetryPolicy).toEqual({ MaximumRetryAttempts: 2 });
    }
  });
});

describe('what Lambda does with an event that a function failed', () => {
  const settingsOf = (name: string) =>
    propertiesOf(service.resources, 'AWS::Lambda::EventInvokeConfig').filter(
      ({ FunctionName }) => FunctionName.Ref === service.functions[name]?.logicalId,
    );

  test('events/reconcile, which runs on a schedule, is not run again, and no later than after 60 s', () => {
    expect(settingsOf('events/reconcile')).toEqual([
      expect.objectContaining({
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: 60,
      }),
    ]);
    for (const { Targets } of rulesOf(service, 'events/reconcile')) {
      expect(Targets[0]?.RetryPolicy).toEqual({ MaximumRetryAttempts: 0 });
    }
  });

  test('events/reconcile-lost is run twice more, as Lambda does by default', () => {
    expect(settingsOf('events/reconcile-lost')).toEqual([]);
  });
});

test('a run of the control loop has twice a minute, for the calls under way at its end, and little memory', () => {
  expect(service.functions['events/reconcile']?.properties).toMatchObject({ Timeout: 120, MemorySize: 256 });
});

test('these are all the rules', () => {
  expect(rulesOf(service, 'events/reconcile')).toHaveLength(1);
  expect(rulesOf(service, 'events/reconcile-lost')).toHaveLength(2);
  // The other starts executions that verify the ledgers.
  expect(ofType(service.resources, 'AWS::Events::Rule')).toHaveLength(4);
});
