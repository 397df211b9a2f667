import type { Account } from '../../core/accounts/accounts.ts';
import type { RequestKind } from '../../core/ids.ts';
import { findModel } from '../../core/models/catalog.ts';
import { aliasesIn, currentModelSettings } from '../../core/models/model-settings.ts';
import { listOffered } from '../http/offered-models.ts';
import { retirementHeaders } from '../http/retirement-headers.ts';

/** A model as OpenAI's clients read it. The catalog knows no date of a model. */
export const renderModel = (id: string) => ({
  id,
  object: 'model',
  created: 0,
  owned_by: 'generation-service',
});

/** A name for a model at this surface: its id, or an alias of the operators. */
export interface ModelName {
  name: string;
  type: RequestKind | undefined;
}

/** The names of the models that an account can be served now: ids in the catalog's order, then aliases by their names. */
export const listModelNames = async (account: Account, now: Date): Promise<ModelName[]> => {
  const offered = await listOffered(account, now);
  const settings = await currentModelSettings(now);
  const types = new Map(offered.map(({ model }) => [model.id, model.type]));
  const aliases = Object.entries(aliasesIn(settings)).filter(([, id]) => types.has(id));
  const named = [...[...types.keys()].map((id): [string, string] => [id, id]), ...aliases.toSorted()];
  return named.map(([name, id]) => ({ name, type: types.get(id) }));
};

/** The models of a type that a call can name. */
export interface NamedModels {
  /** The id of the model with this name, whether or not the model can be dispatched now. */
  modelIdOf(name: string): string | undefined;
  /** The names on offer. */
  onOffer: readonly string[];
  /** The headers that tell of the announced end of the model with this id. */
  endOf(id: unknown): Record<string, string>;
}

/** The models of a type that a call of an account can name. */
export const loadNamedModels = async (
  type: RequestKind,
  account: Account,
  now: Date,
): Promise<NamedModels> => {
  const names = await listModelNames(account, now);
  const settings = await currentModelSettings(now);
  const aliases = new Map(Object.entries(aliasesIn(settings)));
  const isOfType = (id: string | undefined) => id !== undefined && findModel(id)?.type === type;
  return {
    endOf: (id) => retirementHeaders(settings.get(String(id))?.retirement),
    modelIdOf: (name) => [name, aliases.get(name)].find(isOfType),
    onOffer: names.flatMap((named) => (named.type === type ? [named.name] : [])),
  };
};
