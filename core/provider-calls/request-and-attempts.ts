import type { StoredRequest } from '../requests/request-rules.ts';
import { toRequest } from '../requests/requests.ts';
import { PROVIDER_ATTEMPT_PREFIX, REQUEST_SORT, requestPartition } from '../table/keys.ts';
import { queryAll, tableName } from '../table/table.ts';
import { inPlanOrder, ProviderAttempt } from './provider-attempts.ts';

/**
 * Access pattern 44: a request, undefined when there is none, and its provider calls as `listAttempts` has them. Strongly consistent; the
 * request is as new as the attempts or newer.
 */
export const findRequestAndAttempts = async (
  requestId: string,
): Promise<{ request: StoredRequest | undefined; attempts: ProviderAttempt[] }> => {
  let request: StoredRequest | undefined;
  const attempts: ProviderAttempt[] = [];
  const query = {
    TableName: tableName(),
    KeyConditionExpression: 'PK = :request AND SK BETWEEN :attempts AND :itself',
    ExpressionAttributeValues: {
      ':request': requestPartition(requestId),
      ':attempts': PROVIDER_ATTEMPT_PREFIX,
      ':itself': REQUEST_SORT,
    },
    ConsistentRead: true,
  };
  for await (const item of queryAll(query)) {
    if (item.SK === REQUEST_SORT) request = toRequest(item);
    else attempts.push(ProviderAttempt.parse(item));
  }
  return { request, attempts: inPlanOrder(attempts) };
};
