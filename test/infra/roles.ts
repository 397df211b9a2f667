import { findRefusal, type Permission } from '../../packages/local-aws/src/aws/authorize.ts';
import { createDynamoDbPermissions } from '../../packages/local-aws/src/aws/permissions/dynamodb.ts';
import type { Template } from '../../packages/local-aws/src/template/assembly.ts';
import { ACCOUNT_ID, REGION } from '../../packages/local-aws/src/template/attributes.ts';
import { tableSpecs } from '../../packages/local-aws/src/template/data.ts';
import { createResolver } from '../../packages/local-aws/src/template/resolver.ts';
import { principalOf, roleSpecs } from '../../packages/local-aws/src/template/roles.ts';
import type { Principal } from '../../packages/local-aws/src/types.ts';
import type { Call } from '../permissions/misuses.ts';
import type { ServiceTemplate } from './service-template.ts';

/** The roles of a template, under the permissions of the local AWS. */
export interface Roles {
  principals: ReadonlyMap<string, Principal>;
  /** Whether the function's role is allowed a call. */
  isAllowed(functionName: string, call: Call): boolean;
}

const PLACE = { region: REGION, accountId: ACCOUNT_ID };

/** Reads the roles of a synthesized service. */
export const rolesOf = ({ resources, functions }: ServiceTemplate): Roles => {
  const resolver = createResolver({ Resources: resources } as Template, 'Service', new Map());
  const specs = roleSpecs(resolver);
  const [table] = tableSpecs(resolver);
  const TableName = String(table?.createTable.TableName);
  const dynamoDbPermissions = createDynamoDbPermissions(PLACE, table ? [table] : []);
  const principals = new Map(
    Object.entries(functions).map(([name, { properties }]) => {
      const role = String(resolver.attribute(properties.Role['Fn::GetAtt'][0], 'Arn'));
      return [name, principalOf(name, specs.get(role))] as const;
    }),
  );

  const onTable = (operation: string, request: Record<string, unknown>): Permission[] => {
    if (operation.startsWith('Transact')) {
      const items = (request.TransactItems as Record<string, object>[]).map((item) =>
        Object.fromEntries(Object.entries(item).map(([part, one]) => [part, { TableName, ...one }])),
      );
      return dynamoDbPermissions(operation, { TransactItems: items });
    }
    if (operation === 'BatchWriteItem')
      return dynamoDbPermissions(operation, { RequestItems: { [TableName]: request.Requests } });
    if (operation === 'BatchGetItem')
      return dynamoDbPermissions(operation, { RequestItems: { [TableName]: request } });
    return dynamoDbPermissions(operation, { TableName, ...request });
  };
  const arnOf = (beginning: string): string => {
    const [logicalId] = Object.keys(resources)
      .filter((id) => id.startsWith(beginning) && TARGETS.has(resources[id]?.Type ?? ''))
      .toSorted();
    if (beginning === '*') return '*';
    if (beginning === 'stack') return String(resolver.resolve({ Ref: 'AWS::StackId' }));
    if (beginning === 'guardrail') return `arn:aws:bedrock:${REGION}:${ACCOUNT_ID}:guardrail/guardrail1`;
    if (logicalId === undefined) throw new Error(`No resource is named ${beginning}.`);
    const attribute = resources[logicalId]?.Type === 'AWS::SecretsManager::Secret' ? 'Id' : 'Arn';
    return String(
      attribute === 'Id' || resources[logicalId]?.Type === 'AWS::StepFunctions::StateMachine'
        ? resolver.reference(logicalId)
        : resolver.attribute(logicalId, attribute),
    );
  };
  const permissionsOf = (call: Call): Permission[] => {
    if (Array.isArray(call)) return onTable(...call);
    const { action, on, path, execution } = call;
    const arn = arnOf(on);
    if (path !== undefined) return [{ action, resource: `${arn}/${path}` }];
    const resource = execution ? `${arn.replace(':stateMachine:', ':execution:')}:name` : arn;
    return [{ action, resource }];
  };
  return {
    principals,
    isAllowed: (functionName, call) => {
      const principal = principals.get(functionName);
      if (!principal) throw new Error(`There is no function ${functionName}.`);
      return findRefusal(principal, permissionsOf(call)) === undefined;
    },
  };
};

/** Types that a call can be on. */
const TARGETS = new Set([
  'AWS::Lambda::Function',
  'AWS::S3::Bucket',
  'AWS::SecretsManager::Secret',
  'AWS::StepFunctions::StateMachine',
]);
