import { setTimeout as sleep } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  ContinuousBackupsUnavailableException,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
  PutResourcePolicyCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  type Tag,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { clientOptions } from '../../core/aws-clients.ts';
import { ConflictError } from '../../core/errors.ts';
import { type Instant, toInstant } from '../../core/time.ts';

const dynamoDb = new DynamoDBClient(clientOptions('stack'));

/** Waits so many milliseconds. */
type Pause = (milliseconds: number) => Promise<unknown>;

/** The instants that a table can be restored to, in whole seconds. Throws `ConflictError` when its recovery is switched off. */
export const recoveryWindowOf = async (table: string): Promise<{ earliest: Instant; latest: Instant }> => {
  const { ContinuousBackupsDescription } = await dynamoDb.send(
    new DescribeContinuousBackupsCommand({ TableName: table }),
  );
  const { EarliestRestorableDateTime, LatestRestorableDateTime } =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription ?? {};
  if (!EarliestRestorableDateTime || !LatestRestorableDateTime) {
    throw new ConflictError(`Point-in-time recovery of the table ${table} is off: it cannot be restored.`);
  }
  return { earliest: toInstant(EarliestRestorableDateTime), latest: toInstant(LatestRestorableDateTime) };
};

const findTable = async (table: string): Promise<TableDescription | undefined> => {
  try {
    return (await dynamoDb.send(new DescribeTableCommand({ TableName: table }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

/** The end of a table's name that says which instant it shows. */
const AT = /-at-\d{8}T\d{6}Z$/;

/** The name of the table that a table is restored to: the same for the same instant, so that a repeated command finds it. */
export const restoredTableName = (table: string, at: Instant): string =>
  `${table.replace(AT, '')}-at-${at.slice(0, 19).replaceAll(/[-:]/g, '')}Z`;

/**
 * Restores a table, as of an instant or of the latest restorable time, into a new table, and waits for the new table
 * without a limit. A restore begun by an earlier call is continued. Returns the instant of the restored content.
 * Throws `ConflictError` for an instant out of reach, and when a different table has the new name.
 */
export const restoreTable = async (
  table: string,
  { name, at, said }: { name: string; at: Instant | 'latest'; said(status: string): void },
  pause: Pause = sleep,
): Promise<Instant> => {
  if ((await findTable(name)) === undefined) {
    const { earliest, latest } = await recoveryWindowOf(table);
    if (at !== 'latest' && (at < earliest || at > latest)) {
      throw new ConflictError(
        `The table ${table} can be restored to a second from ${earliest} to ${latest}.`,
      );
    }
    await dynamoDb.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: table,
        TargetTableName: name,
        ...(at === 'latest' ? { UseLatestRestorableTime: true } : { RestoreDateTime: new Date(at) }),
      }),
    );
  }
  let waitedMs = 0;
  for (;;) {
    const found = await findTable(name);
    const { SourceTableArn, RestoreDateTime, RestoreInProgress } = found?.RestoreSummary ?? {};
    if (found && !SourceTableArn?.endsWith(`:table/${table}`)) {
      throw new ConflictError(`The table ${name} exists, and was not restored from ${table}.`);
    }
    if (found?.TableStatus === 'ACTIVE' && RestoreInProgress === false && RestoreDateTime) {
      return toInstant(RestoreDateTime);
    }
    if (!found && waitedMs > UNSEEN_MS) {
      throw new ConflictError(`The table ${name} does not appear: its restore failed.`);
    }
    said(found?.TableStatus ?? 'not listed yet');
    const pauseMs = Math.min(MAX_PAUSE_MS, MIN_PAUSE_MS + waitedMs / 10);
    await pause(pauseMs);
    waitedMs += pauseMs;
  }
};

/** A table is described within seconds of the call that makes it. */
const UNSEEN_MS = 300_000;

/** A restore takes minutes to hours on AWS, and less than a second in a local run. */
const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 20_000;

/** How often a setting is tried that DynamoDB refuses for a new table's first minutes. */
const SETTING_ATTEMPTS = 30;
const SETTING_PAUSE_MS = 10_000;

/**
 * Gives a restored table what a restore does not take along: time to live, point-in-time recovery, tags and deletion protection, as another
 * table has them. Repeating it changes nothing.
 */
export const copySettings = async (from: string, to: string, pause: Pause = sleep): Promise<void> => {
  const [source, target] = [await findTable(from), await findTable(to)];
  const tags = await tagsOf(source?.TableArn);
  if (tags.length > 0) {
    await dynamoDb.send(new TagResourceCommand({ ResourceArn: target?.TableArn, Tags: tags }));
  }
  const [wanted, present] = [await timeToLiveOf(from), await timeToLiveOf(to)];
  if (wanted !== undefined && present === undefined) {
    await dynamoDb.send(
      new UpdateTimeToLiveCommand({
        TableName: to,
        TimeToLiveSpecification: { AttributeName: wanted, Enabled: true },
      }),
    );
  }
  await enableRecovery(to, pause);
  const DeletionProtectionEnabled = source?.DeletionProtectionEnabled ?? false;
  if ((target?.DeletionProtectionEnabled ?? false) !== DeletionProtectionEnabled) {
    await dynamoDb.send(new UpdateTableCommand({ TableName: to, DeletionProtectionEnabled }));
  }
};

const enableRecovery = async (table: string, pause: Pause): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await dynamoDb.send(
        new UpdateContinuousBackupsCommand({
          TableName: table,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        }),
      );
      return;
    } catch (error) {
      if (!(error instanceof ContinuousBackupsUnavailableException) || attempt === SETTING_ATTEMPTS)
        throw error;
      await pause(SETTING_PAUSE_MS);
    }
  }
};

/** The attribute by which items expire; undefined when they do not. */
const timeToLiveOf = async (table: string): Promise<string | undefined> => {
  const { TimeToLiveDescription } = await dynamoDb.send(new DescribeTimeToLiveCommand({ TableName: table }));
  const isOn = ['ENABLED', 'ENABLING'].includes(TimeToLiveDescription?.TimeToLiveStatus ?? '');
  return isOn ? TimeToLiveDescription?.AttributeName : undefined;
};

/** The tags of a table, without the `aws:` tags that only AWS can set, such as CloudFormation's. */
const tagsOf = async (arn: string | undefined): Promise<Tag[]> => {
  const tags: Tag[] = [];
  let NextToken: string | undefined;
  do {
    const page = await dynamoDb.send(new ListTagsOfResourceCommand({ ResourceArn: arn, NextToken }));
    tags.push(...(page.Tags ?? []).filter(({ Key = '' }) => !Key.startsWith('aws:')));
    NextToken = page.NextToken;
  } while (NextToken);
  return tags;
};

/** Every action that changes items. */
const WRITES = ['BatchWriteItem', 'DeleteItem', 'PutItem', 'UpdateItem'].map((name) => `dynamodb:${name}`);

/** A policy of a table takes effect within seconds. */
const DENIAL_ATTEMPTS = 60;
const DENIAL_PAUSE_MS = 1_000;

/**
 * Denies everyone all writes to a table's items, by a policy of the table, and waits until a write is refused. The
 * superseded table stays unchanged, and a deployment that uses it by mistake fails instead of keeping separate books.
 * Throws `ConflictError` when the table still accepts writes after a minute.
 */
export const denyWrites = async (table: string, pause: Pause = sleep): Promise<void> => {
  const ResourceArn = (await findTable(table))?.TableArn;
  const Statement = {
    Sid: 'Superseded',
    Effect: 'Deny',
    Principal: '*',
    Action: WRITES,
    Resource: ResourceArn,
  };
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [Statement] });
  await dynamoDb.send(new PutResourcePolicyCommand({ ResourceArn, Policy }));
  for (let attempt = 1; await isWritable(table); attempt++) {
    if (attempt === DENIAL_ATTEMPTS)
      throw new ConflictError(`Writes to the table ${table} are still accepted.`);
    await pause(DENIAL_PAUSE_MS);
  }
};

/** Whether the table accepts writes, tried with the deletion of an item that does not exist. */
const isWritable = async (table: string): Promise<boolean> => {
  const Key = { PK: { S: 'NONE' }, SK: { S: 'NONE' } };
  const ConditionExpression = 'attribute_exists(PK)';
  try {
    await dynamoDb.send(new DeleteItemCommand({ TableName: table, Key, ConditionExpression }));
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return true;
    if (error instanceof Error && error.name === 'AccessDeniedException') return false;
    throw error;
  }
};

/** Deletes a table. */
export const deleteTable = async (table: string): Promise<void> => {
  await dynamoDb.send(new DeleteTableCommand({ TableName: table }));
};
