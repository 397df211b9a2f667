import type { Command } from 'commander';
import { putAccountRate } from '../../core/accounts/account-terms.ts';
import { type Account, getAccount } from '../../core/accounts/accounts.ts';
import { NotFoundError } from '../../core/errors.ts';
import { CATALOG, type CatalogModel, findModel } from '../../core/models/catalog.ts';
import { listModelSettings, type ModelSettings, putRate } from '../../core/models/model-settings.ts';
import type { Rate } from '../../core/models/rate-schemas.ts';
import { accountRateOf, ownRateOf, rateOf } from '../../core/models/rates.ts';
import { factorThousandths, MODEL_IDS, rate, text } from '../options.ts';
import { type Cell, formatTable, type Layout } from '../output.ts';
import { rateProblem } from '../rate-problem.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

const ACCOUNT = 'the account whose rates these are (default: of all that have no own)';

/** `rates list|show|set` */
export const addRateVerbs = (rates: Command, perform: Perform): void => {
  rates
    .command('list')
    .description("every model's current rate")
    .option('--account <id>', ACCOUNT, text)
    .action(perform(list));
  const verb = (name: string, description: string): Command =>
    about(rates.command(name).description(description), 'model', 'the model', { choices: MODEL_IDS }).option(
      '--account <id>',
      ACCOUNT,
      text,
    );
  verb('show', "a model's current rate").action(perform(show));
  verb('set', 'set the rate of a model; existing requests keep their price')
    .option(
      '--value <JSON>',
      'perImage: [{"maxPixels":1048576,"xTokens":4}, {"maxPixels":null,"xTokens":6}], the last tier unbounded; or perSecond: {"720p":5,"1080p":8}, with every resolution of the model',
      rate,
    )
    .option(
      '--factor <number>',
      'of an account: the general rate times this, also when that changes',
      factorThousandths,
    )
    .option('--none', 'of an account: the general rate again')
    .action(perform(set));
};

const list: Verb<{ account?: string }> = async ({ account: accountId }, connected) => {
  await connected();
  const settings = await listModelSettings();
  const account = accountId === undefined ? undefined : await getAccount(accountId);
  const shown = CATALOG.map((model) => shownRate(model, settings, account));
  return { value: shown.map(({ value }) => value), text: tableOf(shown.flatMap(({ rows }) => rows)) };
};

const show: Verb<{ model: string; account?: string }> = async (
  { model: id, account: accountId },
  connected,
) => {
  const model = modelOf(id);
  await connected();
  const account = accountId === undefined ? undefined : await getAccount(accountId);
  const { value, rows } = shownRate(model, await listModelSettings(), account);
  return { value, text: tableOf(rows) };
};

const modelOf = (id: string): CatalogModel => {
  const model = findModel(id);
  if (!model) throw new NotFoundError(`There is no model ${id}.`);
  return model;
};

/** The general rate of a model, or that of an account, and then whether it has an own one. */
const shownRate = (
  model: CatalogModel,
  settings: ReadonlyMap<string, ModelSettings>,
  account: Account | undefined,
) => {
  const general = settings.get(model.id);
  if (!account) {
    const rate = rateOf(model.id, general);
    return { value: renderRate(model, rate), rows: rowsOf(model, rate) };
  }
  const rate = accountRateOf(model.id, general, account);
  const own = ownRateOf(account, model.id);
  const factor =
    typeof own === 'object' && 'factorThousandths' in own ? own.factorThousandths / 1000 : undefined;
  const source = own === undefined ? 'general' : factor === undefined ? 'own' : `factor ${factor}`;
  return {
    value: { ...renderRate(model, rate), source },
    rows: rowsOf(model, rate).map((row) => [...row, source]),
  };
};

const set: Verb<{
  model: string;
  account?: string;
  value?: Rate;
  factor?: number;
  none?: true;
}> = async ({ model: id, account: accountId, value: newRate, factor, none }, connected, { recorder }) => {
  const model = modelOf(id);
  const given = [newRate, factor, none].filter((one) => one !== undefined);
  const isComplete = accountId === undefined ? newRate !== undefined : given.length === 1;
  if (!isComplete || given.length > 1) {
    throw new UsageError('Give --value; or, with --account, one of --value, --factor and --none.');
  }
  const problem = newRate && rateProblem(model, newRate);
  if (problem) throw new UsageError(problem);
  await connected();
  const { write } = await recorder();
  if (accountId === undefined && newRate) {
    await putRate(id, newRate, write({ subject: id, detail: JSON.stringify(newRate) }));
    return { value: renderRate(model, newRate), text: tableOf(rowsOf(model, newRate)) };
  }
  const own = newRate ?? (factor === undefined ? undefined : { factorThousandths: factor });
  const detail = factor === undefined ? JSON.stringify(own ?? 'none') : `factor ${factor / 1000}`;
  const account = await putAccountRate(accountId ?? '', id, own, write({ accountId, subject: id, detail }));
  const { value, rows } = shownRate(model, await listModelSettings(), account);
  return { value, text: tableOf(rows) };
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

const tableOf =
  (rows: Cell[][]): Layout =>
  (columns) =>
    formatTable(HEADS.slice(0, rows[0]?.length), rows, columns);
