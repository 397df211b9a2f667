import type { Command } from 'commander';
import { NotFoundError } from '../../core/errors.ts';
import { CATALOG, findImageModel, findModel } from '../../core/models/catalog.ts';
import { aliasesIn, listModelSettings, putAlias } from '../../core/models/model-settings.ts';
import { alias as aliasName } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

const IMAGE_MODEL_IDS = CATALOG.flatMap(({ id, type }) => (type === 'image' ? [id] : []));

/** `models alias list|set|remove` */
export const addAliasVerbs = (aliases: Command, perform: Perform): void => {
  const named = (name: string, description: string): Command =>
    about(aliases.command(name).description(description), 'alias', 'the alias', { parse: aliasName });
  aliases.command('list').description('all aliases, by name').action(perform(list));
  const command = named(
    'set',
    "let OpenAI's clients name an image model by an alias, in place of what it was",
  );
  about(command, 'model', 'the image model', { choices: IMAGE_MODEL_IDS }).action(perform(set));
  named('remove', 'remove an alias: calls with that name are refused').action(perform(remove));
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const aliases = Object.entries(aliasesIn(await listModelSettings())).toSorted();
  return {
    value: aliases.map(([alias, model]) => ({ alias, model })),
    text: (columns) => formatTable([{ id: 'alias' }, 'model'], aliases, columns),
  };
};

const set: Verb<{ alias: string; model: string }> = async ({ alias, model }, connected, { recorder }) => {
  await connected();
  if (!findImageModel(model)) throw new NotFoundError(`There is no image model ${model}.`);
  if (findModel(alias)) throw new UsageError(`${alias} is a model itself: choose another alias.`);
  await putAlias(alias, model, (await recorder()).write({ subject: alias, detail: `model ${model}` }));
  const value = { alias, model };
  return { value, text: (columns) => formatFields(value, columns) };
};

const remove: Verb<{ alias: string }> = async ({ alias }, connected, { recorder }) => {
  await connected();
  const aliases = aliasesIn(await listModelSettings());
  if (!Object.hasOwn(aliases, alias)) throw new NotFoundError(`There is no alias ${alias}.`);
  await putAlias(alias, undefined, (await recorder()).write({ subject: alias, detail: 'none' }));
  const value = { alias, model: null };
  return { value, text: (columns) => formatFields(value, columns) };
};
