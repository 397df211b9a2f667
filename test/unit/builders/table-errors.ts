import { type CancellationReason, TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';

/** The error of a cancelled transaction: the reason for each item, optionally with the item found. */
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

/** A DynamoDB error with this name. */
export const tableError = (name: string): Error => Object.assign(new Error(name), { name });
