import { BatchGetCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { compareTables } from '../../../../core/restore/compare-tables.ts';
import { requestKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { toEpochSeconds } from '../../../../core/time.ts';
import { NOW } from '../../builders/clocks.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';

test('a request that is gone comes back, unless it has expired since and DynamoDB removes it again', async () => {
  const nowSeconds = toEpochSeconds(NOW.toISOString());
  const restored = [undefined, nowSeconds + 1, nowSeconds].map((ttl, index) => {
    const requestId = `img_${index}`;
    return { ...requestKey(requestId), ...anImageRequest({ requestId }), ttl };
  });
  const aws = mockClient(table);
  aws.on(ScanCommand, { TableName: 'restored' }).resolves({ Items: restored });
  aws.on(ScanCommand, { TableName: 'living' }).resolves({ Items: [] });
  aws.on(BatchGetCommand).resolves({ Responses: { living: [] } });

  const { comeBack } = await withEnvironment({ TABLE_NAME: 'living' }, () => compareTables('restored', NOW));

  expect(comeBack.requests).toBe(2);
});
