import type { Command } from 'commander';
import { NotFoundError } from '../../core/errors.ts';
import { findModel } from '../../core/models/catalog.ts';
import { listModelSettings, putRouteCost, routeCostsIn } from '../../core/models/model-settings.ts';
import { rateProblem } from '../../core/models/rate-problem.ts';
import type { Rate } from '../../core/models/rate-schemas.ts';
import { listRouteNames } from '../../core/provider-calls/model-routes.ts';
import { rate } from '../options.ts';
import { type Cell, formatTable, type Layout } from '../output.ts';
import { about } from '../subject.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** `routes costs|set-cost` */
export const addRouteCostVerbs = (routes: Command, perform: Perform): void => {
  routes.command('costs').description('what each route costs, as it was set').action(perform(list));
  const command = routes
    .command('set-cost')
    .description(
      'set what a route costs, in xTokens; `usage costs` shows the margin of requests created from then on',
    );
  about(command, 'route', 'the route, provider and upstream model: modelark/seedream-4-5-251128')
    .option('--value <JSON>', 'as of `rates set`: perImage, or perSecond with every resolution', rate)
    .option('--none', 'its cost is not known')
    .action(perform(set));
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const costs = routeCostsIn(await listModelSettings());
  const names = [...new Set([...listRouteNames().values()].flat())];
  const value = [...names, ...Object.keys(costs).filter((name) => !names.includes(name))].map((route) => ({
    route,
    cost: costs[route] ?? null,
  }));
  return { value, text: tableOf(value.flatMap(({ route, cost }) => rowsOf(route, cost))) };
};

const set: Verb<{ route: string; value?: Rate; none?: true }> = async (
  { route, value: cost, none },
  connected,
  { recorder },
) => {
  if ((cost === undefined) === (none === undefined)) throw new UsageError('Give --value or --none.');
  await connected();
  const models = [...listRouteNames()].flatMap(([model, names]) => (names.includes(route) ? [model] : []));
  // The cost of a route that was taken out of the configuration can still be removed.
  if (cost && models.length === 0) throw new NotFoundError(`There is no route ${route}.`);
  for (const id of models) {
    const model = findModel(id);
    const problem = cost && model && rateProblem(model, cost);
    if (problem) throw new UsageError(problem);
  }
  const { write } = await recorder();
  await putRouteCost(route, cost, write({ subject: route, detail: JSON.stringify(cost ?? 'none') }));
  return { value: { route, cost: cost ?? null }, text: tableOf(rowsOf(route, cost ?? null)) };
};

/** One row per tier or resolution. */
const rowsOf = (route: string, cost: Rate | null): Cell[][] => {
  if (!cost) return [[route, 'not set', null, null]];
  if ('perSecond' in cost)
    return Object.entries(cost.perSecond).map(([resolution, xTokens]) => [
      route,
      'second',
      resolution,
      xTokens,
    ]);
  return cost.perImage.map(({ maxPixels, xTokens }) => [
    ...[route, 'image', maxPixels === null ? 'any size' : `up to ${maxPixels.toLocaleString('en')} pixels`],
    xTokens,
  ]);
};

const tableOf =
  (rows: Cell[][]): Layout =>
  (columns) =>
    formatTable([{ id: 'route' }, 'unit', 'of', 'xTokens'], rows, columns);
