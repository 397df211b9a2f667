import type { Command } from 'commander';
import { NotFoundError } from '../../core/errors.ts';
import { CATALOG, type CatalogModel, findModel } from '../../core/models/catalog.ts';
import { listModelSettings, putRate } from '../../core/models/model-settings.ts';
import { type Rate, rateOf, rateProblem } from '../../core/models/rates.ts';
import { MODEL_IDS, rate } from '../options.ts';
import { type Cell, formatTable, type Layout } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `rates list|set` */
export const addRateVerbs = (rates: Command, perform: Perform): void => {
  rates.command('list').description("every model's current rate").action(perform(list));
  const command = rates
    .command('set')
    .description('set the rate of a model; existing requests keep their price');
  about(command, 'model', 'the model', { choices: MODEL_IDS })
    .requiredOption(
      '--value <JSON>',
      'perImage: [{"maxPixels":1048576,"xTokens":4}, {"maxPixels":null,"xTokens":6}], the last tier unbounded; or perSecond: {"720p":5,"1080p":8}, with every resolution of the model',
      rate,
    )
    .action(perform(set));
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const settings = await listModelSettings();
  const rated = CATALOG.map((model) => ({ model, rate: rateOf(model.id, settings.get(model.id)) }));
  return {
    value: rated.map((each) => renderRate(each.model, each.rate)),
    text: tableOf(rated.flatMap((each) => rowsOf(each.model, each.rate))),
  };
};

const set: Verb<{ model: string; value: Rate }> = async (
  { model: id, value: newRate },
  connected,
  { recorder },
) => {
  const model = findModel(id);
  if (!model) throw new NotFoundError(`There is no model ${id}.`);
  const problem = rateProblem(model, newRate);
  if (problem) throw new UsageError(problem);
  await connected();
  const { write } = await recorder();
  await putRate(id, newRate, write({ subject: id, detail: JSON.stringify(newRate) }));
  return { value: renderRate(model, newRate), text: tableOf(rowsOf(model, newRate)) };
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

const tableOf =
  (rows: Cell[][]): Layout =>
  (columns) =>
    formatTable(['model', 'unit', 'of', 'xTokens'], rows, columns);
