import type { Command } from 'commander';
import { type Account, getAccount } from '../../core/accounts/accounts.ts';
import { putAccountRate } from '../../core/accounts/debit-settings.ts';
import type { CatalogModel } from '../../core/models/catalog.ts';
import { listModelSettings, type ModelSettings, putRate } from '../../core/models/model-settings.ts';
import { rateProblem } from '../../core/models/rate-problem.ts';
import type { AccountRate, Rate } from '../../core/models/rate-schemas.ts';
import { factorThousandths, rate } from '../options.ts';
import { formatTable, type Result } from '../output.ts';
import { factorOf, priceChanges, steepChange } from '../rate-change.ts';
import { modelOf, shownRate, tableOf } from '../rate-text.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `rates set` */
export const addSetVerb = (verb: (name: string, description: string) => Command, perform: Perform): void => {
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
    .option('--yes', 'set it although a price becomes more than twice the former')
    .action(perform(set));
};

interface SetOptions {
  model: string;
  account?: string;
  value?: Rate;
  factor?: number;
  none?: true;
  yes?: true;
}

/** The settings and the account whose rate is set, as read before or written after the change. */
interface Priced {
  settings: ReadonlyMap<string, ModelSettings>;
  account?: Account | undefined;
}

const set: Verb<SetOptions> = async (options, connected, { recorder }) => {
  checkOptions(options);
  await connected();
  const model = modelOf(options.model);
  const problem = options.value && rateProblem(model, options.value);
  if (problem) throw new UsageError(problem);
  const { account: accountId } = options;
  const before: Priced = {
    settings: await listModelSettings(),
    account: accountId === undefined ? undefined : await getAccount(accountId),
  };
  const changes = changesOf(model, before, pricedBy(model, before, options));
  const steep = steepChange(model, changes);
  // The general rate was asked about when it was set.
  const isAsked = !options.yes && !options.none;
  if (steep !== undefined && isAsked) throw new UsageError(`${steep} Give --yes to set it.`);
  const { write } = await recorder();
  const extraWrites = write({
    ...(accountId !== undefined && { accountId }),
    ...{ subject: model.id, detail: detailOf(options) },
  });
  if (accountId !== undefined) {
    const account = await putAccountRate(accountId, model.id, ownRate(options), extraWrites);
    return resultOf(model, { ...before, account }, changes);
  }
  if (options.value) await putRate(model.id, options.value, extraWrites);
  return resultOf(model, pricedBy(model, before, options), changes);
};

const checkOptions = ({ account, value, factor, none }: SetOptions): void => {
  const given = [value, factor, none].filter((one) => one !== undefined);
  const isComplete = account === undefined ? value !== undefined : given.length === 1;
  if (!isComplete || given.length > 1) {
    throw new UsageError('Give --value; or, with --account, one of --value, --factor and --none.');
  }
};

const ownRate = ({ value, factor }: SetOptions): AccountRate | undefined =>
  value ?? (factor === undefined ? undefined : { factorThousandths: factor });

const detailOf = ({ value, factor }: SetOptions): string =>
  factor === undefined ? JSON.stringify(value ?? 'none') : `factor ${factor / 1000}`;

/** What would be in force after the change. */
const pricedBy = (model: CatalogModel, { settings, account }: Priced, options: SetOptions): Priced => {
  if (!account) {
    const changed = { ...settings.get(model.id), rate: options.value } as ModelSettings;
    return { settings: new Map([...settings, [model.id, changed]]) };
  }
  const { [model.id]: _former, ...others } = account.rates ?? {};
  const own = ownRate(options);
  return { settings, account: { ...account, rates: own ? { ...others, [model.id]: own } : others } };
};

const changesOf = (model: CatalogModel, before: Priced, after: Priced) => {
  const [former, wanted] = [before, after].map(
    ({ settings, account }) => shownRate(model, settings, account).rate,
  );
  return wanted ? priceChanges(former, wanted) : [];
};

const resultOf = (
  model: CatalogModel,
  { settings, account }: Priced,
  changes: ReturnType<typeof priceChanges>,
): Result => {
  const { value, rows } = shownRate(model, settings, account);
  const shown = changes.map((change) => ({ ...change, factor: factorOf(change) }));
  return {
    value,
    text: (columns) => {
      const cells = shown.map(({ of, before, after, factor }) => [of, before, after, factor]);
      const changed = formatTable(['of', 'before', 'now', 'factor'], cells, columns);
      return shown.length === 0 ? tableOf(rows)(columns) : `${tableOf(rows)(columns)}\n\n${changed}`;
    },
  };
};
