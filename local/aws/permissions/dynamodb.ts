import { type Place, tableArn } from '../arn.ts';
import type { Permission } from '../authorize.ts';

type Json = Record<string, unknown>;

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The action each part of a TransactWriteItems entry needs. */
const TRANSACT_ACTIONS: Record<string, string> = {
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
};

/**
 * What a DynamoDB call needs, as IAM asks for it: a batch needs its own action on every table, a transaction the actions of its parts,
 * and reading an index needs the action on the index's ARN.
 */
export const dynamodbPermissions = (place: Place, operation: string, body: Json): Permission[] => {
  const onTable = (action: string, table: unknown): Permission => ({
    action,
    resource: tableArn(place, asText(table)),
  });
  switch (operation) {
    case 'BatchGetItem':
    case 'BatchWriteItem':
      return Object.keys(asObject(body.RequestItems)).map((table) => onTable(`dynamodb:${operation}`, table));
    case 'TransactGetItems':
      return distinct(
        asList(body.TransactItems).map((item) =>
          onTable('dynamodb:GetItem', asObject(asObject(item).Get).TableName),
        ),
      );
    case 'TransactWriteItems':
      return distinct(
        asList(body.TransactItems).flatMap((item) =>
          Object.entries(asObject(item)).map(([part, request]) =>
            onTable(TRANSACT_ACTIONS[part] ?? `dynamodb:${part}`, asObject(request).TableName),
          ),
        ),
      );
    case 'Query':
    case 'Scan': {
      const table = onTable(`dynamodb:${operation}`, body.TableName);
      const index = asText(body.IndexName);
      return [index ? { ...table, resource: `${table.resource}/index/${index}` } : table];
    }
    default:
      return [
        asText(body.TableName)
          ? onTable(`dynamodb:${operation}`, body.TableName)
          : { action: `dynamodb:${operation}`, resource: '*' },
      ];
  }
};

const distinct = (permissions: Permission[]): Permission[] => [
  ...new Map(permissions.map((one) => [`${one.action} ${one.resource}`, one])).values(),
];
