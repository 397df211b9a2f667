import { readFileSync } from 'node:fs';
import type { TableSpec } from '../../types.ts';
import { type Place, tableArn } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError, messageOf, systemCodeOf } from '../errors.ts';
import { type JsonAnswer, jsonAnswer, parseJsonObject } from '../json-protocol.ts';
import { replaceFile } from '../write-file.ts';
import type { DynamoDbClient } from './client.ts';
import { createCopier } from './copy-table.ts';
import { denials, refuseIfDenied } from './table-policies.ts';

type Json = Record<string, unknown>;

/** What is known of a table beside its items. */
interface TableState {
  pointInTimeRecovery: boolean;
  /** A policy that denies actions to everyone, as it was given. */
  policy?: string;
  /** Where a restored table came from. */
  restore?: { sourceTableArn: string; restoreDateTime: number; inProgress: boolean };
  /** The `CreateTable` request of a restored table. */
  createTable?: Json;
}

/**
 * Point-in-time recovery, restores and resource policies, which engines do not have. There is no history: the only instant that a table can
 * be restored to is the present second.
 */
export interface Restores {
  /** Throws as the service does when a table is still being restored, or its policy denies the call. */
  check(caller: string, permissions: () => Permission[]): void;
  /** Answers an operation that is not the engine's; undefined for any other. */
  answer(operation: string, body: string): Promise<JsonAnswer> | undefined;
  /** Makes a call of the engine, not while a table is copied. */
  pass<Result>(call: () => Promise<Result>): Promise<Result>;
}

const OWN_OPERATIONS = new Set([
  'DescribeTable',
  'DeleteTable',
  'DescribeContinuousBackups',
  'UpdateContinuousBackups',
  'RestoreTableToPointInTime',
  'PutResourcePolicy',
  'GetResourcePolicy',
  'DeleteResourcePolicy',
]);
/** Operations on a table itself, which work while it is restored. */
const ON_TABLE = /^dynamodb:(Describe|Delete(Table|ResourcePolicy)|Restore|List)/;

const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

/**
 * The restores of an engine's tables. Their state is kept in `file`. A restore that was under way when the process ended is undone. Restored
 * tables are added to `tables`.
 */
export const openRestores = async (options: {
  place: Place;
  engine: DynamoDbClient;
  tables: TableSpec[];
  file: string;
}): Promise<Restores> => {
  const { place, engine, tables, file } = options;
  const states = new Map<string, TableState>(Object.entries(readStates(file)));
  const copier = createCopier(engine);

  const save = (): void => replaceFile(file, JSON.stringify(Object.fromEntries(states)));
  const nameOf = (nameOrArn: unknown): string => String(nameOrArn).replace(/^arn:.*:table\//, '');
  const stateOf = (name: string): TableState => {
    const declared = tables.find(({ createTable }) => createTable.TableName === name);
    return states.get(name) ?? { pointInTimeRecovery: declared?.pointInTimeRecovery ?? false };
  };
  const change = (name: string, changed: Partial<TableState>): void => {
    states.set(name, { ...stateOf(name), ...changed });
    save();
  };
  const describe = async (name: string): Promise<Json | undefined> => {
    try {
      return (await engine.call('DescribeTable', { TableName: name })).Table as Json;
    } catch (error) {
      if (error instanceof AwsError && error.code === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  };
  const tableOf = async (body: Json): Promise<string> => {
    const name = nameOf(body.TableName ?? body.ResourceArn);
    if (!(await describe(name))) throw new AwsError('TableNotFoundException', `Table not found: ${name}`);
    return name;
  };

  const forget = (name: string): void => {
    states.delete(name);
    save();
  };

  const restore = async (body: Json): Promise<Json> => {
    const source = nameOf(body.SourceTableName ?? body.SourceTableArn);
    const target = String(body.TargetTableName);
    const now = nowSeconds();
    const sourceTable = await describe(source);
    if (!sourceTable) throw new AwsError('TableNotFoundException', `Table not found: ${source}`);
    if (!stateOf(source).pointInTimeRecovery) {
      throw new AwsError(
        'PointInTimeRecoveryUnavailableException',
        `Point in time recovery is not enabled for table '${source}'`,
      );
    }
    if ((body.RestoreDateTime === undefined) === (body.UseLatestRestorableTime !== true)) {
      throw new AwsError('ValidationException', 'Give either RestoreDateTime or UseLatestRestorableTime');
    }
    const restoreDateTime = Math.floor(Number(body.RestoreDateTime ?? now));
    if (restoreDateTime !== now) {
      throw new AwsError(
        'InvalidRestoreTimeException',
        'The local run keeps no history: it restores the present second only',
      );
    }
    if (await describe(target)) {
      throw new AwsError('TableAlreadyExistsException', `Table already exists: ${target}`);
    }
    const createTable = createRequestOf(sourceTable, target);
    const summary = { sourceTableArn: tableArn(place, source), restoreDateTime };
    await engine.call('CreateTable', createTable);
    states.set(target, {
      pointInTimeRecovery: false,
      createTable,
      restore: { ...summary, inProgress: true },
    });
    save();
    tables.push({ createTable });
    void copier
      .copy(source, target)
      .then(() => change(target, { restore: { ...summary, inProgress: false } }))
      .catch((error: unknown) =>
        console.error(`[aws] dynamodb: ${target} was not restored: ${messageOf(error)}`),
      );
    return { TableDescription: adjusted((await describe(target)) ?? {}) };
  };

  /** A table as AWS describes it: with this region's ARNs, and where it was restored from. */
  const adjusted = (table: Json): Json => {
    const name = String(table.TableName);
    const { restore: restored } = stateOf(name);
    const indexes = table.GlobalSecondaryIndexes as Json[] | undefined;
    const arn = tableArn(place, name);
    return {
      ...table,
      TableArn: arn,
      ...(indexes && {
        GlobalSecondaryIndexes: indexes.map((index) => ({
          ...index,
          IndexArn: `${arn}/index/${index.IndexName}`,
        })),
      }),
      ...(restored && {
        RestoreSummary: {
          SourceTableArn: restored.sourceTableArn,
          RestoreDateTime: restored.restoreDateTime,
          RestoreInProgress: restored.inProgress,
        },
      }),
      ...(restored?.inProgress && { TableStatus: 'CREATING' }),
    };
  };

  const continuousBackups = (name: string): Json => {
    const isOn = stateOf(name).pointInTimeRecovery;
    const now = nowSeconds();
    return {
      ContinuousBackupsDescription: {
        ContinuousBackupsStatus: 'ENABLED',
        PointInTimeRecoveryDescription: {
          PointInTimeRecoveryStatus: isOn ? 'ENABLED' : 'DISABLED',
          ...(isOn && {
            RecoveryPeriodInDays: 35,
            EarliestRestorableDateTime: now,
            LatestRestorableDateTime: now,
          }),
        },
      },
    };
  };

  const policyOf = (name: string): string => {
    const { policy } = stateOf(name);
    if (policy === undefined) {
      throw new AwsError('PolicyNotFoundException', `Resource-based policy not found for ${name}`);
    }
    return policy;
  };

  const perform = async (operation: string, body: Json): Promise<Json> => {
    switch (operation) {
      case 'RestoreTableToPointInTime':
        return restore(body);
      case 'DescribeTable': {
        const { Table } = await engine.call(operation, { ...body, TableName: nameOf(body.TableName) });
        return { Table: adjusted(Table as Json) };
      }
      case 'DeleteTable': {
        const answer = await engine.call(operation, { ...body, TableName: nameOf(body.TableName) });
        forget(nameOf(body.TableName));
        return answer;
      }
      case 'DescribeContinuousBackups':
        return continuousBackups(await tableOf(body));
      case 'UpdateContinuousBackups': {
        const name = await tableOf(body);
        const { PointInTimeRecoveryEnabled } = body.PointInTimeRecoverySpecification as Json;
        change(name, { pointInTimeRecovery: PointInTimeRecoveryEnabled === true });
        return continuousBackups(name);
      }
      case 'PutResourcePolicy': {
        denials(String(body.Policy));
        change(await tableOf(body), { policy: String(body.Policy) });
        return { RevisionId: String(Date.now()) };
      }
      case 'GetResourcePolicy':
        return { Policy: policyOf(await tableOf(body)) };
      default: {
        const name = await tableOf(body);
        policyOf(name);
        const { policy: _, ...rest } = stateOf(name);
        states.set(name, rest);
        save();
        return {};
      }
    }
  };

  for (const [name, { createTable, restore: restored }] of [...states]) {
    if (restored?.inProgress) {
      if (await describe(name)) await engine.call('DeleteTable', { TableName: name });
      forget(name);
    } else if (createTable) tables.push({ createTable });
  }

  return {
    check(caller, permissions) {
      const special = [...states].filter(
        ([, { policy, restore: restored }]) => policy || restored?.inProgress,
      );
      if (special.length === 0) return;
      for (const permission of permissions()) {
        const { action, resource } = permission;
        for (const [name, { policy, restore: restored }] of special) {
          const arn = tableArn(place, name);
          if (resource !== arn && !resource.startsWith(`${arn}/`)) continue;
          if (restored?.inProgress && !ON_TABLE.test(action)) {
            throw new AwsError('ResourceNotFoundException', 'Requested resource not found');
          }
          if (policy) refuseIfDenied(policy, caller, permission);
        }
      }
    },
    answer(operation, body) {
      if (!OWN_OPERATIONS.has(operation)) return undefined;
      return perform(operation, parseJsonObject(body)).then((answer) => jsonAnswer(200, answer, '1.0'));
    },
    pass: copier.pass,
  };
};

/** The request that creates a table with the keys and indexes of another: a restore takes nothing else of it. */
const createRequestOf = (table: Json, name: string): Json => {
  const indexes = table.GlobalSecondaryIndexes as Json[] | undefined;
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: table.AttributeDefinitions,
    KeySchema: table.KeySchema,
    ...(indexes && {
      GlobalSecondaryIndexes: indexes.map(({ IndexName, KeySchema, Projection }) => ({
        IndexName,
        KeySchema,
        Projection,
      })),
    }),
  };
};

const readStates = (file: string): Record<string, TableState> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, TableState>;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
};
