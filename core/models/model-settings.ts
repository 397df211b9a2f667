import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { MODEL_SETTINGS_PARTITION, modelSettingsKey } from '../table/keys.ts';
import { type StoredItem, table, tableName } from '../table/table.ts';
import { DEFAULT_RATES, Rate } from './rates.ts';

/** What the operator set for a model; a model nobody touched has no item. */
export const ModelSettings = z.object({
  model: z.string(),
  enabled: z.optional(z.boolean()),
  rate: z.optional(Rate),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

export const toModelSettings = (item: StoredItem): ModelSettings => ModelSettings.parse(item);

/** The rate in force for a model: the operator's, else the default card's; undefined when neither has one. */
export const rateOf = (modelId: string, settings: ModelSettings | undefined): Rate | undefined =>
  settings?.rate ?? DEFAULT_RATES[modelId];

/**
 * Access pattern 13: the settings of every model that has any, by model id, strongly consistent. One page.
 */
export const listModelSettings = async (): Promise<Map<string, ModelSettings>> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :catalog',
      ExpressionAttributeValues: { ':catalog': MODEL_SETTINGS_PARTITION },
      ConsistentRead: true,
    }),
  );
  return new Map(Items.map(toModelSettings).map((settings) => [settings.model, settings]));
};

/**
 * Access pattern 14: stores the operator's rate for a model; requests already created keep the price they
 * were created with.
 */
export const putRate = (modelId: string, rate: Rate): Promise<void> => putSetting(modelId, 'rate', rate);

/**
 * Access pattern 15: switches a model on or off for creations from now on; requests already created go on.
 */
export const putEnabled = (modelId: string, enabled: boolean): Promise<void> =>
  putSetting(modelId, 'enabled', enabled);

const putSetting = async <Name extends 'rate' | 'enabled'>(
  modelId: string,
  name: Name,
  value: NonNullable<ModelSettings[Name]>,
): Promise<void> => {
  await table.send(
    new UpdateCommand({
      TableName: tableName(),
      Key: modelSettingsKey(modelId),
      UpdateExpression: 'SET #model = :model, #setting = :value',
      ExpressionAttributeNames: { '#model': 'model', '#setting': name },
      ExpressionAttributeValues: { ':model': modelId, ':value': value },
    }),
  );
};
