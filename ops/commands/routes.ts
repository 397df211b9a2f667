import type { Command } from 'commander';
import { routeNameOf } from '../../core/admission/route-gates.ts';
import { listRouteLoads } from '../../core/admission/route-loads.ts';
import { listModelSettings } from '../../core/models/model-settings.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import { listModelRoutes } from '../../core/provider-calls/model-routes.ts';
import { formatTable } from '../output.ts';
import type { Perform, Verb } from '../verb.ts';

/** `routes list` */
export const addRouteVerbs = (routes: Command, perform: Perform): void => {
  routes
    .command('list')
    .description('the upstream model behind each model, and how full it is')
    .action(perform(list));
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const now = new Date();
  const [settings, credentials, loads] = await Promise.all([
    listModelSettings(),
    listCredentials(now),
    listRouteLoads(),
  ]);
  const routes = Object.entries(listModelRoutes()).flatMap(([model, list]) =>
    list.map((route, index) => ({ model, route, position: index + 1 })),
  );
  const value = routes.map(({ model, route, position }) => {
    const load = loads.get(routeNameOf(route));
    const isOn = credentials.has(route.provider) && settings.get(model)?.enabled !== false;
    const oldestMs = load?.oldestAt === undefined ? undefined : now.getTime() - Date.parse(load.oldestAt);
    return {
      model,
      provider: route.provider,
      upstreamModel: route.upstreamModel,
      position,
      state: isOn ? 'on' : 'off',
      running: load?.running ?? null,
      maxRunning: route.maxRunning ?? null,
      waiting: load?.waiting ?? null,
      oldestWaitingSeconds: oldestMs === undefined ? null : Math.max(0, Math.floor(oldestMs / 1000)),
    };
  });
  return {
    value,
    text: (columns) =>
      formatTable(
        [
          'model',
          'position',
          'provider',
          { id: 'upstream model' },
          'state',
          'running',
          'most',
          'waiting',
          'oldest (s)',
        ],
        value.map((route) => [
          route.model,
          route.position,
          route.provider,
          route.upstreamModel,
          route.state,
          route.running,
          route.maxRunning,
          route.waiting,
          route.oldestWaitingSeconds,
        ]),
        columns,
      ),
  };
};
