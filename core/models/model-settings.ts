import * as z from 'zod/mini';
import { cachedFor } from '../cached.ts';
import { readable } from '../observability.ts';
import { MODEL_SETTINGS_PARTITION, modelOfSettings, modelSettingsKey } from '../table/keys.ts';
import { partitionQuery, queryItems, setAll, type UpdateParts, updateOf } from '../table/table.ts';
import { type ExtraWrites, writeBeside } from '../table/transactions.ts';
import type { Instant } from '../time.ts';
import { Rate } from './rate-schemas.ts';
import { Retirement } from './retirement.ts';

/** Our cost per image or second by route name, in xTokens. */
export const RouteCosts = z.record(z.string(), Rate);
export type RouteCosts = z.infer<typeof RouteCosts>;

/** Ids of image models by the names that OpenAI's clients may give in their place. */
export const ModelAliases = z.record(z.string(), z.string());
export type ModelAliases = z.infer<typeof ModelAliases>;

/** The operator's settings for a model. A model without settings has no item. */
export const ModelSettings = z.object({
  model: z.string(),
  enabled: z.optional(z.boolean()),
  rate: z.optional(Rate),
  /** Absent: no end of it is announced. */
  retirement: z.optional(Retirement),
  /** In the settings of no model, `NO_MODEL`: read with the others, it takes no read of its own. */
  costs: z.optional(RouteCosts),
  /** The routes that operators left by hand, with the instants. Where the costs are. */
  left: z.optional(z.record(z.string(), z.string())),
  /** As `costs`, in the settings of no model. */
  aliases: z.optional(ModelAliases),
});
export type ModelSettings = z.infer<typeof ModelSettings>;

/** Stands for a model in the settings that are of none. */
const NO_MODEL = '*';

/** Our costs by route, from the settings of every model. */
export const routeCostsIn = (settings: ReadonlyMap<string, ModelSettings>): RouteCosts =>
  settings.get(NO_MODEL)?.costs ?? {};

/** The routes that operators left by hand, from all settings. */
export const leftRoutesIn = (
  settings: ReadonlyMap<string, ModelSettings>,
): Readonly<Record<string, Instant>> => settings.get(NO_MODEL)?.left ?? {};

/** The aliases of models, from all settings. */
export const aliasesIn = (settings: ReadonlyMap<string, ModelSettings>): ModelAliases =>
  settings.get(NO_MODEL)?.aliases ?? {};

/**
 * Access pattern 13: all model settings by model id, strongly consistent. A model whose settings cannot be read, such as a
 * rate of another version, is switched off: its default price would be a guess. That is logged and counted.
 */
export const listModelSettings = async (): Promise<ReadonlyMap<string, ModelSettings>> => {
  const items = await queryItems(partitionQuery(MODEL_SETTINGS_PARTITION));
  const settings = readable(
    items,
    (item) => ModelSettings.parse(item),
    ({ SK }) => String(SK),
  );
  const off = items.map(({ SK }) => ({ model: modelOfSettings(String(SK)), enabled: false }));
  return new Map([...off, ...settings].map((each) => [each.model, each]));
};

/** Time for which a process uses the settings it read. A new rate or switch takes effect within this time. */
const SETTINGS_MAX_AGE_SECONDS = 5;

/** As `listModelSettings`, cached for 5 s, because every creation needs them. */
export const currentModelSettings = cachedFor(SETTINGS_MAX_AGE_SECONDS, listModelSettings);

/** Access pattern 14: sets the operator's rate for a model. Existing requests keep their price. */
export const putRate = (model: string, rate: Rate, extraWrites?: ExtraWrites): Promise<void> =>
  update(model, setAll({ model, rate }), extraWrites);

/** Access pattern 14: switches a model on or off for new creations. Existing requests continue. */
export const putEnabled = (model: string, enabled: boolean, extraWrites?: ExtraWrites): Promise<void> =>
  update(model, setAll({ model, enabled }), extraWrites);

/** Access pattern 14: announces the end of a model, or with `undefined` takes that back. Existing requests continue. */
export const putRetirement = (
  model: string,
  retirement: Retirement | undefined,
  extraWrites?: ExtraWrites,
): Promise<void> => update(model, setAll({ model, retirement }), extraWrites);

/** Access pattern 14: sets what a route costs for requests from now on; undefined: not known. */
export const putRouteCost = (
  route: string,
  cost: Rate | undefined,
  extraWrites?: ExtraWrites,
): Promise<void> => putEntry('costs', { name: route, value: cost }, extraWrites);

/** Access pattern 14: leaves a route by hand, or with `undefined` uses it again. Takes effect within 5 s. */
export const putLeftRoute = (
  route: string,
  leftAt: Instant | undefined,
  extraWrites?: ExtraWrites,
): Promise<void> => putEntry('left', { name: route, value: leftAt }, extraWrites);

/** Access pattern 14: sets the model that an alias stands for; undefined removes the alias. */
export const putAlias = (
  alias: string,
  model: string | undefined,
  extraWrites?: ExtraWrites,
): Promise<void> => putEntry('aliases', { name: alias, value: model }, extraWrites);

/** Sets or removes one entry of a map in the settings of no model. */
const putEntry = async (
  map: 'costs' | 'left' | 'aliases',
  { name, value }: { name: string; value: unknown },
  extraWrites?: ExtraWrites,
): Promise<void> => {
  // An update of one entry needs the map to be there.
  await update(NO_MODEL, {
    UpdateExpression: 'SET #model = :model, #map = if_not_exists(#map, :none)',
    ExpressionAttributeNames: { '#model': 'model', '#map': map },
    ExpressionAttributeValues: { ':model': NO_MODEL, ':none': {} },
  });
  const change =
    value === undefined
      ? { UpdateExpression: 'REMOVE #map.#name' }
      : { UpdateExpression: 'SET #map.#name = :value', ExpressionAttributeValues: { ':value': value } };
  await update(
    NO_MODEL,
    { ...change, ExpressionAttributeNames: { '#map': map, '#name': name } },
    extraWrites,
  );
};

const update = async (model: string, parts: UpdateParts, extraWrites: ExtraWrites = []): Promise<void> => {
  await writeBeside(updateOf(modelSettingsKey(model), parts), extraWrites);
};
