import type { Command } from 'commander';
import { CATALOG } from '../../core/models/catalog.ts';
import { listModelSettings, putEnabled } from '../../core/models/model-settings.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { routesOf } from '../../core/provider-calls/model-routes.ts';
import { offerProblem } from '../../core/provider-calls/offer-problem.ts';
import { systemClock } from '../../core/time.ts';
import { MODEL_IDS } from '../options.ts';
import { formatFields, formatTable } from '../output.ts';
import { modelOf } from '../rate-text.ts';
import { about } from '../subject.ts';
import type { Perform, Verb } from '../verb.ts';
import { addAliasVerbs } from './model-aliases.ts';
import { addRetireVerb } from './model-retirement.ts';
import { addUsesVerb } from './model-uses.ts';

/** `models list|enable|disable|retire|uses|alias` */
export const addModelVerbs = (models: Command, perform: Perform): void => {
  models
    .command('list')
    .description('all models, with the reason when one cannot be used')
    .action(perform(list));
  const verb = (name: string, description: string): Command =>
    about(models.command(name).description(description), 'model', 'the model', { choices: MODEL_IDS });
  verb('enable', 'accept new requests for the model again').action(perform(setEnabled(true)));
  verb('disable', 'refuse new requests for the model; existing ones continue').action(
    perform(setEnabled(false)),
  );
  addRetireVerb(verb, perform);
  addUsesVerb(verb, perform);
  addAliasVerbs(models.command('alias').description("names of OpenAI's models for models here"), perform);
};

const setEnabled =
  (enabled: boolean): Verb<{ model: string }> =>
  async ({ model: id }, connected, { recorder }) => {
    await connected();
    await putEnabled(modelOf(id).id, enabled, (await recorder()).write({ subject: id }));
    const fields = { model: id, enabled: enabled ? 'yes' : 'no' };
    return { value: { id, enabled }, text: (columns) => formatFields(fields, columns) };
  };

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const now = systemClock.now();
  const [settings, credentials] = await Promise.all([listModelSettings(), listCredentials(now)]);
  const value = CATALOG.map((model) => {
    const own = settings.get(model.id);
    const reason = offerProblem(model, settings, credentials, now) ?? null;
    const { retiresAt, replacedBy = null } = own?.retirement ?? {};
    return {
      id: model.id,
      type: model.type,
      provider: routesOf(model.id)[0]?.provider ?? null,
      enabled: own?.enabled !== false,
      dispatchable: reason === null,
      reason,
      ...(retiresAt !== undefined && { retiresAt, replacedBy }),
    };
  });
  return {
    value,
    text: (columns) =>
      formatTable(
        ['model', 'type', 'provider', 'enabled', 'dispatchable', 'reason'],
        value.map(({ id, type, provider, enabled, dispatchable, reason, retiresAt }) => [
          id,
          type,
          provider,
          enabled ? 'yes' : 'no',
          dispatchable ? 'yes' : 'no',
          reason ?? (retiresAt && `retires at ${retiresAt}`),
        ]),
        columns,
      ),
  };
};
