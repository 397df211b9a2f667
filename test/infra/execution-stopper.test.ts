import { describe, expect, test } from '@jest/globals';
import { ofType, onlyOne, policiesOf, render, roleOf, synthesizeService } from './service-template.ts';

const service = await synthesizeService();
const stoppers = new Map(
  ofType(service.resources, 'Custom::RunningExecutions').map((entry) => [
    render(entry[1].Properties.StateMachineArn),
    entry,
  ]),
);

/** Everything that CloudFormation creates before a resource, and so deletes after it. */
const createdBefore = (logicalId: string): Set<string> => {
  const found = new Set<string>();
  const visit = (id: string): void => {
    const resource = service.resources[id];
    if (!resource) return;
    const text = JSON.stringify(resource.Properties ?? {});
    const references = [
      ...[...text.matchAll(/"Ref":"(\w+)"/g)].map(([, name = '']) => name),
      ...[...text.matchAll(/"Fn::GetAtt":\["(\w+)"/g)].map(([, name = '']) => name),
      ...[resource.DependsOn ?? []].flat(),
    ];
    for (const name of references) {
      if (found.has(name)) continue;
      found.add(name);
      visit(name);
    }
  };
  visit(logicalId);
  return found;
};
const machines = () => ofType(service.resources, 'AWS::StepFunctions::StateMachine').map(([id]) => id);

describe('before a state machine is deleted, its executions are stopped', () => {
  test('by a resource for each, which goes before it, with a limit to its time', () => {
    expect([...stoppers.keys()].toSorted()).toEqual(
      machines()
        .map((Ref) => render({ Ref }))
        .toSorted(),
    );
    for (const [, [logicalId, { Properties }]] of stoppers) {
      expect(createdBefore(logicalId).has(Properties.StateMachineArn.Ref)).toBe(true);
      expect(Number(Properties.ServiceTimeout)).toBe(2400);
    }
  });

  test('while its function still has its permissions', () => {
    const policies = policiesOf(service.resources, roleOf(service, 'events/stop-executions'));

    expect(policies).toHaveLength(2);
    for (const [, [logicalId]] of stoppers)
      expect([...createdBefore(logicalId)]).toEqual(expect.arrayContaining(policies.map(({ id }) => id)));
  });

  test('by a function that knows which state machines the stack has, and its own stack only', () => {
    const { properties } = service.functions['events/stop-executions'] ?? {};

    const known = render(properties?.Environment.Variables.STATE_MACHINE_ARNS).split(',');
    expect(known.toSorted()).toEqual([...stoppers.keys()].toSorted());
  });

  // IAM changes no description, so CloudFormation makes another policy, and deletes the old one last.
  test('also of one that was replaced: another state machine is another policy, while the old one stays', () => {
    const { Properties } = onlyOne(service.resources, 'AWS::IAM::ManagedPolicy');

    const description = render(Properties.Description);
    for (const id of machines()) expect(description).toContain(`${render({ Ref: id })}.Name`);
  });

  test('of the expiry while nothing can start one: only the reconciler may, which its rules alone run', () => {
    const machine = 'ExpiryWorkflowMachineStateMachine';
    const starters = policiesOf(service.resources).filter(({ statements }) =>
      statements.some(
        ({ Action, Resource: on }) =>
          [Action].flat().includes('states:StartExecution') && [on].flat().map(render).includes(machine),
      ),
    );

    expect(starters.flatMap(({ roles }) => roles)).toEqual([roleOf(service, 'events/reconcile')]);
    const invoked = ofType(service.resources, 'AWS::Lambda::Permission').filter(
      ([, { Properties }]) =>
        Properties.FunctionName['Fn::GetAtt'][0] === service.functions['events/reconcile']?.logicalId,
    );
    expect(invoked.map(([, { Properties }]) => Properties.Principal)).toEqual(['events.amazonaws.com']);
  });

  test('those of generation first, because they start the others', () => {
    const order = (name: string) => stoppers.get(name)?.[0] ?? '';
    const before = createdBefore(order('GenerationWorkflowMachineStateMachine'));

    expect(before.has(order('WebhookWorkflowMachineStateMachine'))).toBe(true);
    expect(before.has(order('ExpiryWorkflowMachineStateMachine'))).toBe(true);
  });

  test('after everything is gone that starts executions by itself: the stage, and the rules', () => {
    const reconcilers = ['events/reconcile', 'events/reconcile-lost'].map(
      (name) => service.functions[name]?.logicalId,
    );
    const rules = ofType(service.resources, 'AWS::Events::Rule').filter(
      ([, { Properties }]) =>
        Properties.Targets[0].RoleArn !== undefined ||
        reconcilers.includes(Properties.Targets[0].Arn['Fn::GetAtt']?.[0]),
    );
    const starting = [...rules, ...ofType(service.resources, 'AWS::ApiGateway::Stage')].map(([id]) => id);

    expect(starting).toHaveLength(5);
    for (const logicalId of starting) {
      const before = createdBefore(logicalId);
      for (const [, [stopper]] of stoppers)
        expect([logicalId, before.has(stopper)]).toEqual([logicalId, true]);
    }
  });
});
