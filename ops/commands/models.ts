import type { Command } from 'commander';
import { CATALOG } from '../../core/catalog.ts';
import { listCredentials } from '../../core/credentials.ts';
import { dispatchProblem, findModelRoute } from '../../core/model-routes.ts';
import { listModelSettings } from '../../core/model-settings.ts';
import { formatTable } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

/** `models list` */
export const addModelVerbs = (models: Command, perform: Perform): void => {
  models.command('list').description('all models, and why one cannot be used now').action(perform(list));
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const [settings, credentials] = await Promise.all([listModelSettings(), listCredentials(new Date())]);
  const value = CATALOG.map((model) => {
    const own = settings.get(model.id);
    const reason = dispatchProblem(model, own, credentials) ?? null;
    return {
      id: model.id,
      type: model.type,
      provider: findModelRoute(model.id)?.provider ?? null,
      enabled: own?.enabled !== false,
      dispatchable: reason === null,
      reason,
    };
  });
  return {
    value,
    text: formatTable(
      ['model', 'type', 'provider', 'enabled', 'dispatchable', 'reason'],
      value.map(({ id, type, provider, enabled, dispatchable, reason }) => [
        id,
        type,
        provider,
        enabled ? 'yes' : 'no',
        dispatchable ? 'yes' : 'no',
        reason,
      ]),
    ),
  };
};
