import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { ledgerCheckpointKey } from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';
import { LedgerCheckpoint } from './checkpoint-rules.ts';

/** Access pattern 101: up to where an account's ledger was verified, strongly consistent; undefined when it never was. */
export const findCheckpoint = async (accountId: string): Promise<LedgerCheckpoint | undefined> => {
  const { Item } = await table.send(
    new GetCommand({ TableName: tableName(), Key: ledgerCheckpointKey(accountId), ConsistentRead: true }),
  );
  return Item && LedgerCheckpoint.parse(Item);
};

/** Access pattern 102: keeps how far a ledger was verified, unless another verification came further. */
export const putCheckpoint = async (checkpoint: LedgerCheckpoint): Promise<void> => {
  try {
    await table.send(
      new PutCommand({
        TableName: tableName(),
        Item: { ...ledgerCheckpointKey(checkpoint.accountId), ...checkpoint },
        ConditionExpression: 'attribute_not_exists(PK) OR entryNumber <= :number',
        ExpressionAttributeValues: { ':number': checkpoint.entryNumber },
      }),
    );
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
};
