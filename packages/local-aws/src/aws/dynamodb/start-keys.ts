import type { TableSpec } from '../../types.ts';
import { AwsError } from '../errors.ts';
import { parseJsonObject } from '../json-protocol.ts';
import { createLeadingKeys } from '../permissions/leading-keys.ts';

/**
 * Throws `ValidationException`, as DynamoDB does, for a Query that starts after a key of another partition. Engines answer it, from the partition's
 * first item on.
 */
export type CheckStartKey = (operation: string, body: string) => void;

/** The check for these tables. */
export const createStartKeyCheck = (tables: TableSpec[]): CheckStartKey => {
  const leadingKeys = createLeadingKeys(tables);
  return (operation, body) => {
    if (operation !== 'Query' || !body.includes('"ExclusiveStartKey"')) return;
    const request = parseJsonObject(body);
    const { ExclusiveStartKey: startKey } = request;
    if (startKey === undefined || startKey === null) return;
    const [queried] = leadingKeys.ofQuery(request);
    // A key condition that cannot be read is the engine's to judge.
    if (!queried || leadingKeys.ofKey(request, startKey) === queried) return;
    throw new AwsError(
      'ValidationException',
      'The provided starting key is outside query boundaries based on provided conditions',
    );
  };
};
