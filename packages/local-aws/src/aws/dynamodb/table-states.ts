import { readFileSync } from 'node:fs';
import { type Place, tableArn } from '../arn.ts';
import { systemCodeOf } from '../errors.ts';

type Json = Record<string, unknown>;

/** What is known of a table beside its items. */
export interface TableState {
  pointInTimeRecovery: boolean;
  /** A policy that denies actions to everyone, as it was given. */
  policy?: string;
  /** Where a restored table came from. */
  restore?: { sourceTableArn: string; restoreDateTime: number; inProgress: boolean };
  /** The `CreateTable` request of a restored table. */
  createTable?: Json;
}

/** The current time in epoch seconds, as AWS gives times. */
export const currentSecond = (): number => Math.floor(Date.now() / 1_000);

/** A table as AWS describes it: with this region's ARNs, and where the table was restored from. */
export const describedTable = (place: Place, table: Json, { restore: restored }: TableState): Json => {
  const indexes = table.GlobalSecondaryIndexes as Json[] | undefined;
  const arn = tableArn(place, String(table.TableName));
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

/** The answer of `DescribeContinuousBackups`. The only restorable time is now. */
export const continuousBackupsOf = ({ pointInTimeRecovery: isOn }: TableState): Json => {
  const now = currentSecond();
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

/** The request that creates a table with the keys and indexes of another: a restore takes nothing else of it. */
export const createRequestOf = (table: Json, name: string): Json => {
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

/** The states kept in a file; none when the file does not exist. */
export const readStates = (file: string): Record<string, TableState> => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, TableState>;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return {};
    throw error;
  }
};
