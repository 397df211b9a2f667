import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { storedObject } from '../stored-objects.ts';
import {
  MODEL_SETTINGS_COPIES,
  modelSettingsCopyOf,
  modelSettingsKey,
  modelSettingsPartition,
} from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { type TransactItem, transact } from '../table/transactions.ts';
import { Rate } from './rates.ts';

/** What the operator set for a model. A model without settings has no item. */
export const ModelSettings = storedObject({
  model: z.string(),
  enabled: z.optional(z.boolean()),
  rate: z.optional(Rate),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/** The settings of a stored item. Throws when the item is malformed. */
export const toModelSettings = (item: StoredItem): ModelSettings => ModelSettings.parse(item);

/** Access pattern 13: all model settings by model id, from the copy that an account's calls read, strongly consistent. One page. */
export const listModelSettings = async (accountId = ''): Promise<Map<string, ModelSettings>> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :catalog',
      ExpressionAttributeValues: { ':catalog': modelSettingsPartition(modelSettingsCopyOf(accountId)) },
      ConsistentRead: true,
    }),
  );
  return new Map(Items.map(toModelSettings).map((settings) => [settings.model, settings]));
};

/** Access pattern 14: sets the operator's rate for a model in all copies, at once. Existing requests keep their price. */
export const putRate = (modelId: string, rate: Rate): Promise<void> => putSetting(modelId, 'rate', rate);

/** Access pattern 15: switches a model on or off for new creations in all copies, at once. Existing requests continue. */
export const putEnabled = (modelId: string, enabled: boolean): Promise<void> =>
  putSetting(modelId, 'enabled', enabled);

const putSetting = async <Name extends 'rate' | 'enabled'>(
  modelId: string,
  name: Name,
  value: NonNullable<ModelSettings[Name]>,
): Promise<void> => {
  const writeTo = (copy: number): TransactItem => ({
    Update: {
      TableName: tableName(),
      Key: modelSettingsKey(modelId, copy),
      UpdateExpression: 'SET #model = :model, #setting = :value',
      ExpressionAttributeNames: { '#model': 'model', '#setting': name },
      ExpressionAttributeValues: { ':model': modelId, ':value': value },
    },
  });
  const writes = Array.from({ length: MODEL_SETTINGS_COPIES }, (_, copy) => writeTo(copy));
  await transact(() => writes);
};
