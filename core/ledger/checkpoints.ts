import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { ledgerCheckpointKey } from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';
import type { Instant } from '../time.ts';
import { LedgerCheckpoint } from './checkpoint-rules.ts';

/** Access pattern 101: up to where an account's ledger was verified, strongly consistent; undefined when it never was. */
export const findCheckpoint = async (accountId: string): Promise<LedgerCheckpoint | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: ledgerCheckpointKey(accountId), ConsistentRead: true }),
  );
  return Item && LedgerCheckpoint.parse(Item);
};

/**
 * Access pattern 102: keeps how far a ledger was verified, unless another verification came further, or, with `readOn`, for one that read
 * on from a checkpoint, unless that was doubted or removed since.
 */
export const putCheckpoint = (checkpoint: LedgerCheckpoint, readOn = false): Promise<void> =>
  putIf(
    checkpoint,
    readOn
      ? 'attribute_exists(PK) AND attribute_not_exists(doubtedAt) AND entryNumber <= :number'
      : 'attribute_not_exists(PK) OR entryNumber <= :number',
    { ':number': checkpoint.entryNumber },
  );

/**
 * Access pattern 109: doubts a checkpoint, so that the next verification reads everything. Does nothing when the account, and its checkpoint with
 * it, was removed. One that another verification has put since is doubted as well: it rests on this one.
 */
export const doubtCheckpoint = (checkpoint: LedgerCheckpoint, doubtedAt: Instant): Promise<void> =>
  putIf({ ...checkpoint, doubtedAt }, 'attribute_exists(PK)');

const putIf = async (
  checkpoint: LedgerCheckpoint,
  ConditionExpression: string,
  values?: Record<string, unknown>,
): Promise<void> => {
  try {
    await table.send(
      new PutCommand({
        TableName: tableName(),
        Item: { ...ledgerCheckpointKey(checkpoint.accountId), ...checkpoint },
        ConditionExpression,
        ExpressionAttributeValues: values,
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
