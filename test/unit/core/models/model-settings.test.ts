import '../../builders/environment.ts';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { newAccountId } from '../../../../core/ids.ts';
import { listModelSettings, putEnabled, putRate } from '../../../../core/models/model-settings.ts';
import { MODEL_SETTINGS_COPIES, modelSettingsCopyOf } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { putModelSettings } from '../../builders/entities.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

describe('the settings of a model', () => {
  const rate = { perImage: [{ maxPixels: null, xTokens: 3 }] };

  test('are set one by one, leaving the others as they are', async () => {
    putModelSettings(memory, { model: 'xQI3Pro', enabled: false });
    await putRate('xQI3Pro', rate);
    await putRate('xSD4.5', rate);

    expect(await listModelSettings()).toEqual(
      new Map([
        ['xQI3Pro', { model: 'xQI3Pro', enabled: false, rate }],
        ['xSD4.5', { model: 'xSD4.5', rate }],
      ]),
    );
    expect(memory.client.commandCalls(QueryCommand)[0]?.args[0].input).toStrictEqual({
      TableName: 'table',
      KeyConditionExpression: 'PK = :catalog',
      ExpressionAttributeValues: { ':catalog': 'CATALOG#0' },
      ConsistentRead: true,
    });
  });

  test('are written to all copies at once, so that a switch holds for every account from then on', async () => {
    await putEnabled('xQI3Pro', false);

    expect(memory.calls()).toEqual({ TransactWriteCommand: 1 });
    const accounts = Array.from({ length: 64 }, (_, index) => newAccountId(new Date(index)));
    for (const account of accounts)
      expect(await listModelSettings(account)).toEqual(
        new Map([['xQI3Pro', { model: 'xQI3Pro', enabled: false }]]),
      );
    expect(new Set(accounts.map(modelSettingsCopyOf)).size).toBe(MODEL_SETTINGS_COPIES);
  });

  test('are absent when none were set', async () => {
    expect(await listModelSettings()).toEqual(new Map());
  });
});
