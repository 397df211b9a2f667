import type { Account } from '../core/accounts/accounts.ts';
import { NotFoundError } from '../core/errors.ts';
import { type CatalogModel, findModel } from '../core/models/catalog.ts';
import type { ModelSettings } from '../core/models/model-settings.ts';
import type { Rate } from '../core/models/rate-schemas.ts';
import { accountRateOf, ownRateOf, rateOf } from '../core/models/rates.ts';
import { type Cell, formatTable, type Layout } from './output.ts';

/** A model of the catalog by its id. Throws `NotFoundError`. */
export const modelOf = (id: string): CatalogModel => {
  const model = findModel(id);
  if (!model) throw new NotFoundError(`There is no model ${id}.`);
  return model;
};

/** A rate for people and for `--json`: the general rate of a model, or the rate of an account with its source. */
export const shownRate = (
  model: CatalogModel,
  settings: ReadonlyMap<string, ModelSettings>,
  account: Account | undefined,
) => {
  const general = settings.get(model.id);
  if (!account) {
    const rate = rateOf(model.id, general);
    return { rate, value: renderRate(model, rate), rows: rowsOf(model, rate) };
  }
  const rate = accountRateOf(model.id, general, account);
  const own = ownRateOf(account, model.id);
  const factor =
    typeof own === 'object' && 'factorThousandths' in own ? own.factorThousandths / 1000 : undefined;
  const source = own === undefined ? 'general' : factor === undefined ? 'own' : `factor ${factor}`;
  return {
    rate,
    value: { ...renderRate(model, rate), source },
    rows: rowsOf(model, rate).map((row) => [...row, source]),
  };
};

/** A model's rate as `--json` prints it, with resolutions in catalog order. */
const renderRate = ({ id, billing, ...model }: CatalogModel, rate: Rate | undefined) => {
  if (!rate || 'perImage' in rate || model.type === 'image') return { model: id, billing, ...rate };
  const inOrder = model.resolutions.filter((resolution) => Object.hasOwn(rate.perSecond, resolution));
  const perSecond = Object.fromEntries(inOrder.map((resolution) => [resolution, rate.perSecond[resolution]]));
  return { model: id, billing, perSecond };
};

/** One row per tier or resolution. */
const rowsOf = (model: CatalogModel, rate: Rate | undefined): Cell[][] => {
  if (!rate) return [[model.id, 'no rate', null, null]];
  if ('perImage' in rate) {
    return rate.perImage.map(({ maxPixels, xTokens }) => [
      model.id,
      'image',
      maxPixels === null ? 'any size' : `up to ${maxPixels.toLocaleString('en')} pixels`,
      xTokens,
    ]);
  }
  return Object.entries(rate.perSecond).map(([resolution, xTokens]) => [
    model.id,
    'second',
    resolution,
    xTokens,
  ]);
};

const HEADS = ['model', 'unit', 'of', 'xTokens', 'source'];

/** A table of rows of rates. */
export const tableOf =
  (rows: Cell[][]): Layout =>
  (columns) =>
    formatTable(HEADS.slice(0, rows[0]?.length), rows, columns);
