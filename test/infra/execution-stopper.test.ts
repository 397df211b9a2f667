import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  ofType,
  onlyOne,
  type Resource,
  render,
  type ServiceTemplate,
  synthesizeService,
} from './service-template.ts';

let service: ServiceTemplate;
let stoppers: Map<string, [string, Resource]>;
beforeAll(async () => {
  service = await synthesizeService();
  stoppers = new Map(
    ofType(service.resources, 'Custom::RunningExecutions').map((entry) => [
      render(entry[1].Properties.StateMachineArn),
      entry,
    ]),
  );
});

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
    const role = service.functions['events/stop-executions']?.properties.Role['Fn::GetAtt'][0];
    const policies = ['AWS::IAM::Policy', 'AWS::IAM::ManagedPolicy'].flatMap((type) =>
      ofType(service.resources, type).flatMap(([id, { Properties }]) =>
        Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === role) ? [id] : [],
      ),
    );

    expect(policies).toHaveLength(2);
    for (const [, [logicalId]] of stoppers)
      expect([...createdBefore(logicalId)]).toEqual(expect.arrayContaining(policies));
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
    const starters = ofType(service.resources, 'AWS::IAM::Policy').flatMap(([, { Properties }]) =>
      Properties.PolicyDocument.Statement.some(
        ({ Action, Resource }: { Action: string; Resource: unknown }) =>
          [Action].flat().includes('states:StartExecution') &&
          [Resource].flat().map(render).includes(machine),
      )
        ? Properties.Roles.map(({ Ref }: { Ref: string }) => Ref)
        : [],
    );
    const role = service.functions['events/reconcile']?.properties.Role['Fn::GetAtt'][0];

    expect(starters).toEqual([role]);
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
