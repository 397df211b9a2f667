import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { cachedFor } from '../cached-for.ts';
import { MODEL_SETTINGS_PARTITION, modelSettingsKey } from '../table/keys.ts';
import { table, tableName } from '../table/table.ts';
import { Rate } from './rate-schemas.ts';

/** The operator's settings for a model. A model without settings has no item. */
export const ModelSettings = z.object({
  model: z.string(),
  enabled: z.optional(z.boolean()),
  rate: z.optional(Rate),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/** Access pattern 15: all model settings by model id, strongly consistent. One page. Throws when an item is malformed. */
export const listModelSettings = async (): Promise<ReadonlyMap<string, ModelSettings>> => {
  const { Items = [] } = await table.send(
    new QueryCommand({
      TableName: tableName(),
      KeyConditionExpression: 'PK = :catalog',
      ExpressionAttributeValues: { ':catalog': MODEL_SETTINGS_PARTITION },
      ConsistentRead: true,
    }),
  );
  return new Map(
    Items.map((item) => ModelSettings.parse(item)).map((settings) => [settings.model, settings]),
  );
};

/** How long a process uses the settings it read. A new rate or switch takes effect within this time. */
const SETTINGS_MAX_AGE_SECONDS = 5;

/** As `listModelSettings`, cached for 5 s, because every creation needs them. */
export const currentModelSettings = cachedFor(SETTINGS_MAX_AGE_SECONDS, listModelSettings);

/** Access pattern 16: sets the operator's rate for a model. Existing requests keep their price. */
export const putRate = (modelId: string, rate: Rate): Promise<void> => putSetting(modelId, 'rate', rate);

/** Access pattern 17: switches a model on or off for new creations. Existing requests continue. */
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
