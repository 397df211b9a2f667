import type { Command } from 'commander';
import { getAccount } from '../../core/accounts/accounts.ts';
import { CATALOG } from '../../core/models/catalog.ts';
import { listModelSettings } from '../../core/models/model-settings.ts';
import { MODEL_IDS, text } from '../options.ts';
import { modelOf, shownRate, tableOf } from '../rate-text.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';
import { addAffectedVerb } from './rates-affected.ts';
import { addSetVerb } from './rates-set.ts';

const ACCOUNT = 'the account whose rates these are (default: of all that have no own)';

/** `rates list|show|set|affected` */
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
  addSetVerb(verb, perform);
  addAffectedVerb(verb, perform);
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
  await connected();
  const model = modelOf(id);
  const account = accountId === undefined ? undefined : await getAccount(accountId);
  const { value, rows } = shownRate(model, await listModelSettings(), account);
  return { value, text: tableOf(rows) };
};
