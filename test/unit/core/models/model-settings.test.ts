import '../../builders/environment.ts';
import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { listModelSettings, putRate } from '../../../../core/models/model-settings.ts';
import { modelSettingsKey } from '../../../../core/table/keys.ts';
import { table } from '../../../../core/table/table.ts';
import { MemoryTable } from '../../fakes/memory-table.ts';

const memory = new MemoryTable(table);
beforeEach(() => memory.reset());

describe('the settings of a model', () => {
  const rate = { perImage: [{ maxPixels: null, xTokens: 3 }] };

  test('are set one by one, leaving the others as they are', async () => {
    memory.put(modelSettingsKey('xQI3Pro'), { model: 'xQI3Pro', enabled: false });
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
      ExpressionAttributeValues: { ':catalog': 'CATALOG' },
      ConsistentRead: true,
    });
  });

  test('are absent when none were set', async () => {
    expect(await listModelSettings()).toEqual(new Map());
  });
});
