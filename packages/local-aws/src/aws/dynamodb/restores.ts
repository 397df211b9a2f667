import type { TableSpec } from '../../types.ts';
import { type Place, tableArn } from '../arn.ts';
import type { Permission } from '../authorize.ts';
import { AwsError, messageOf } from '../errors.ts';
import { type JsonAnswer, jsonAnswer, parseJsonObject } from '../json-protocol.ts';
import { replaceFile } from '../write-file.ts';
import type { DynamoDbClient } from './client.ts';
import { type Copier, createCopier } from './copy-table.ts';
import { denials, refuseIfDenied } from './table-policies.ts';
import {
  continuousBackupsOf,
  createRequestOf,
  currentSecond,
  describedTable,
  readStates,
  type TableState,
} from './table-states.ts';

type Json = Record<string, unknown>;

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

/** What `openRestores` works with. */
interface RestoresOptions {
  place: Place;
  engine: DynamoDbClient;
  tables: TableSpec[];
  /** Keeps the states of tables. */
  file: string;
}

/** The restores of `openRestores`: what the engine does not know of its tables. */
class TableRestores implements Restores {
  private readonly options: RestoresOptions;
  private readonly states: Map<string, TableState>;
  private readonly copier: Copier;
  readonly pass: Restores['pass'];

  constructor(options: RestoresOptions) {
    this.options = options;
    this.states = new Map(Object.entries(readStates(options.file)));
    this.copier = createCopier(options.engine);
    this.pass = this.copier.pass;
  }

  /** Undoes restores that the end of a process interrupted, and adds the restored tables to `tables`. */
  async recover(): Promise<void> {
    for (const [name, { createTable, restore: restored }] of [...this.states]) {
      if (restored?.inProgress) {
        if (await this.describe(name)) await this.options.engine.call('DeleteTable', { TableName: name });
        this.forget(name);
      } else if (createTable) this.options.tables.push({ createTable });
    }
  }

  check(caller: string, permissions: () => Permission[]): void {
    const special = [...this.states].filter(
      ([, { policy, restore: restored }]) => policy || restored?.inProgress,
    );
    if (special.length === 0) return;
    for (const permission of permissions()) {
      const { action, resource } = permission;
      for (const [name, { policy, restore: restored }] of special) {
        const arn = tableArn(this.options.place, name);
        if (resource !== arn && !resource.startsWith(`${arn}/`)) continue;
        if (restored?.inProgress && !ON_TABLE.test(action)) {
          throw new AwsError('ResourceNotFoundException', 'Requested resource not found');
        }
        if (policy) refuseIfDenied(policy, caller, permission);
      }
    }
  }

  answer(operation: string, body: string): Promise<JsonAnswer> | undefined {
    if (!OWN_OPERATIONS.has(operation)) return undefined;
    return this.perform(operation, parseJsonObject(body)).then((answer) => jsonAnswer(200, answer, '1.0'));
  }

  private save(): void {
    replaceFile(this.options.file, JSON.stringify(Object.fromEntries(this.states)));
  }

  private nameOf(nameOrArn: unknown): string {
    return String(nameOrArn).replace(/^arn:.*:table\//, '');
  }

  private stateOf(name: string): TableState {
    const declared = this.options.tables.find(({ createTable }) => createTable.TableName === name);
    return this.states.get(name) ?? { pointInTimeRecovery: declared?.pointInTimeRecovery ?? false };
  }

  private change(name: string, changed: Partial<TableState>): void {
    this.states.set(name, { ...this.stateOf(name), ...changed });
    this.save();
  }

  private async describe(name: string): Promise<Json | undefined> {
    try {
      return (await this.options.engine.call('DescribeTable', { TableName: name })).Table as Json;
    } catch (error) {
      if (error instanceof AwsError && error.code === 'ResourceNotFoundException') return undefined;
      throw error;
    }
  }

  private async tableOf(body: Json): Promise<string> {
    const name = this.nameOf(body.TableName ?? body.ResourceArn);
    if (!(await this.describe(name)))
      throw new AwsError('TableNotFoundException', `Table not found: ${name}`);
    return name;
  }

  private forget(name: string): void {
    this.states.delete(name);
    this.save();
  }

  private async restore(body: Json): Promise<Json> {
    const source = this.nameOf(body.SourceTableName ?? body.SourceTableArn);
    const target = String(body.TargetTableName);
    const now = currentSecond();
    const sourceTable = await this.describe(source);
    if (!sourceTable) throw new AwsError('TableNotFoundException', `Table not found: ${source}`);
    if (!this.stateOf(source).pointInTimeRecovery) {
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
    if (await this.describe(target)) {
      throw new AwsError('TableAlreadyExistsException', `Table already exists: ${target}`);
    }
    const createTable = createRequestOf(sourceTable, target);
    const summary = { sourceTableArn: tableArn(this.options.place, source), restoreDateTime };
    await this.options.engine.call('CreateTable', createTable);
    this.states.set(target, {
      pointInTimeRecovery: false,
      createTable,
      restore: { ...summary, inProgress: true },
    });
    this.save();
    this.options.tables.push({ createTable });
    void this.copier
      .copy(source, target)
      .then(() => this.change(target, { restore: { ...summary, inProgress: false } }))
      .catch((error: unknown) =>
        console.error(`[aws] dynamodb: ${target} was not restored: ${messageOf(error)}`),
      );
    return { TableDescription: this.asDescribed((await this.describe(target)) ?? {}) };
  }

  private asDescribed(table: Json): Json {
    return describedTable(this.options.place, table, this.stateOf(String(table.TableName)));
  }

  private policyOf(name: string): string {
    const { policy } = this.stateOf(name);
    if (policy === undefined) {
      throw new AwsError('PolicyNotFoundException', `Resource-based policy not found for ${name}`);
    }
    return policy;
  }

  private async perform(operation: string, body: Json): Promise<Json> {
    switch (operation) {
      case 'RestoreTableToPointInTime':
        return this.restore(body);
      case 'DescribeTable': {
        const { Table } = await this.options.engine.call(operation, {
          ...body,
          TableName: this.nameOf(body.TableName),
        });
        return { Table: this.asDescribed(Table as Json) };
      }
      case 'DeleteTable': {
        const answer = await this.options.engine.call(operation, {
          ...body,
          TableName: this.nameOf(body.TableName),
        });
        this.forget(this.nameOf(body.TableName));
        return answer;
      }
      case 'DescribeContinuousBackups':
        return continuousBackupsOf(this.stateOf(await this.tableOf(body)));
      case 'UpdateContinuousBackups': {
        const name = await this.tableOf(body);
        const { PointInTimeRecoveryEnabled } = body.PointInTimeRecoverySpecification as Json;
        this.change(name, { pointInTimeRecovery: PointInTimeRecoveryEnabled === true });
        return continuousBackupsOf(this.stateOf(name));
      }
      case 'PutResourcePolicy': {
        denials(String(body.Policy));
        this.change(await this.tableOf(body), { policy: String(body.Policy) });
        return { RevisionId: String(Date.now()) };
      }
      case 'GetResourcePolicy':
        return { Policy: this.policyOf(await this.tableOf(body)) };
      default: {
        const name = await this.tableOf(body);
        this.policyOf(name);
        const { policy: _, ...rest } = this.stateOf(name);
        this.states.set(name, rest);
        this.save();
        return {};
      }
    }
  }
}

/**
 * The restores of an engine's tables, kept in `file`. A restore that was in progress when the process ended is undone.
 * Restored tables are added to `tables`.
 */
export const openRestores = async (options: RestoresOptions): Promise<Restores> => {
  const restores = new TableRestores(options);
  await restores.recover();
  return restores;
};
