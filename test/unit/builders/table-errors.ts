import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

/** A cancelled transaction: the reason of each item, with the item it found where one is given. */
export const cancelled = (
  ...reasons: (string | { code: string; item: Record<string, unknown> })[]
): TransactionCanceledException =>
  new TransactionCanceledException({
    message: 'Transaction cancelled',
    $metadata: {},
    CancellationReasons: reasons.map(
      (reason): CancellationReason =>
        typeof reason === 'string'
          ? { Code: reason }
          : { Code: reason.code, Item: marshall(reason.item, { removeUndefinedValues: true }) },
    ),
  });

/** An error of DynamoDB by its name. */
export const tableError = (name: string): Error => Object.assign(new Error(name), { name });
