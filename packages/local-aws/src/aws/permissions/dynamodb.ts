import type { TableSpec } from '../../types.ts';
import { type Place, tableArn } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { attributesOf } from './attributes.ts';
import { createLeadingKeys } from './leading-keys.ts';

type Json = Record<string, unknown>;

/** Returns the permissions that a DynamoDB call needs. */
export type DynamoDbPermissions = (operation: string, body: Json) => Permission[];

const asObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The IAM action for each kind of transaction item. */
const TRANSACT_ACTIONS: Record<string, string> = {
  Get: 'dynamodb:GetItem',
  Put: 'dynamodb:PutItem',
  Update: 'dynamodb:UpdateItem',
  Delete: 'dynamodb:DeleteItem',
  ConditionCheck: 'dynamodb:ConditionCheckItem',
};

/** https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/backuprestore_IAM.html */
const RESTORE_ACTIONS = ['BatchWriteItem', 'DeleteItem', 'GetItem', 'PutItem', 'Query', 'Scan', 'UpdateItem'];

/** The keys and items in one table's part of a batch: `{ Keys }` for a read, a list of requests for a write. */
const itemsOfBatch = (requests: unknown): unknown[] =>
  Array.isArray(requests)
    ? requests.map((request) => {
        const { PutRequest, DeleteRequest } = asObject(request);
        return asObject(PutRequest).Item ?? asObject(DeleteRequest).Key;
      })
    : asList(asObject(requests).Keys);

/** The permissions of calls on one set of tables. */
class CallPermissions {
  private readonly place: Place;
  private readonly leadingKeys: ReturnType<typeof createLeadingKeys>;

  constructor(place: Place, tables: TableSpec[]) {
    this.place = place;
    this.leadingKeys = createLeadingKeys(tables);
  }

  readonly of: DynamoDbPermissions = (operation, body) => {
    const action = `dynamodb:${operation}`;
    switch (operation) {
      case 'BatchGetItem':
      case 'BatchWriteItem':
        return Object.entries(asObject(body.RequestItems)).map(([table, requests]) =>
          this.onItems(action, table, itemsOfBatch(requests), asObject(requests)),
        );
      case 'TransactGetItems':
      case 'TransactWriteItems':
        return this.ofTransaction(
          asList(body.TransactItems).flatMap((item) => Object.entries(asObject(item))),
        );
      case 'Query':
        return [
          {
            ...this.onRange(action, body),
            leadingKeys: this.leadingKeys.ofQuery(body),
            attributes: attributesOf(body),
          },
        ];
      case 'Scan':
        return [{ ...this.onRange(action, body), attributes: attributesOf(body) }];
      case 'GetItem':
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return [this.onItem(action, body)];
      case 'RestoreTableToPointInTime':
        return [
          { action, resource: tableArn(this.place, asText(body.SourceTableName ?? body.SourceTableArn)) },
          // The service writes the new table in the caller's name.
          ...RESTORE_ACTIONS.map((name) => ({
            action: `dynamodb:${name}`,
            resource: tableArn(this.place, asText(body.TargetTableName)),
          })),
        ];
      default: {
        const table = asText(body.TableName ?? body.ResourceArn);
        return [{ action, resource: table ? tableArn(this.place, table) : '*' }];
      }
    }
  };

  private onItems(action: string, table: string, items: unknown[], request: Json = {}): Permission {
    return {
      action,
      resource: tableArn(this.place, table),
      leadingKeys: this.leadingKeys.ofItems(table, items),
      attributes: attributesOf(request, items),
    };
  }

  private onItem(action: string, request: Json): Permission {
    return this.onItems(action, asText(request.TableName), [request.Key ?? request.Item], request);
  }

  private onRange(action: string, request: Json): Permission {
    const table = tableArn(this.place, asText(request.TableName));
    const index = asText(request.IndexName);
    return { action, resource: index ? `${table}/index/${index}` : table };
  }

  /** Every action by all the keys and attributes of its table: AWS does not say whether it looks at each item alone. */
  private ofTransaction(parts: [part: string, request: unknown][]): Permission[] {
    const items = parts.map(([part, request]) =>
      this.onItem(TRANSACT_ACTIONS[part] ?? `dynamodb:${part}`, asObject(request)),
    );
    return distinct(
      items.map(({ action, resource }) => {
        const onTable = items.filter((item) => item.resource === resource);
        return {
          action,
          resource,
          leadingKeys: [...new Set(onTable.flatMap(({ leadingKeys: keys = [] }) => keys))],
          attributes: [...new Set(onTable.flatMap(({ attributes = [] }) => attributes))],
        };
      }),
    );
  }
}

/**
 * Permissions as IAM requires them: a batch needs its own action on every table, a transaction the actions of its items, an index read the
 * action on the index's ARN. Each comes with its partition keys and the attributes that it names.
 */
export const createDynamoDbPermissions = (place: Place, tables: TableSpec[]): DynamoDbPermissions =>
  new CallPermissions(place, tables).of;

const distinct = (permissions: Permission[]): Permission[] => [
  ...new Map(permissions.map((one) => [JSON.stringify(one), one])).values(),
];
