import type { Command } from 'commander';
import { listRouteLoads } from '../../core/admission/route-loads.ts';
import { NotFoundError } from '../../core/errors.ts';
import { leftRoutesIn, listModelSettings, putLeftRoute } from '../../core/models/model-settings.ts';
import { listCredentials } from '../../core/provider-calls/credentials.ts';
import {
  type ConfiguredRoute,
  isLeft,
  listModelRoutes,
  routeProblem,
} from '../../core/provider-calls/model-routes.ts';
import { routeNameOf } from '../../core/provider-names.ts';
import { isPaused, mayTry, type RouteState, UNPAUSED } from '../../core/route-pauses/pause-rules.ts';
import { readRouteStates } from '../../core/route-pauses/route-states.ts';
import { type Instant, toInstant } from '../../core/time.ts';
import { formatFields, formatNumber, formatTable } from '../output.ts';
import { callsOfRoute, MOST_REQUESTS, readRecentCalls } from '../recent-calls.ts';
import { about } from '../subject.ts';
import { UsageError } from '../usage-error.ts';
import type { Perform, Verb } from '../verb.ts';

/** `routes list|leave|return` */
export const addRouteVerbs = (routes: Command, perform: Perform): void => {
  routes
    .command('list')
    .description('the upstream models behind each model, in their order, with state, failed calls and load')
    .action(perform(list));
  const verb = (name: string, description: string): Command =>
    about(routes.command(name).description(description), 'route', 'the route');
  verb('leave', 'leave a route out: requests go to the other routes of its models').action(
    perform(setLeft(true)),
  );
  verb('return', 'end that').action(perform(setLeft(false)));
};

/** Every route with its model and its position there, from 1. */
const listRoutes = (): { model: string; route: ConfiguredRoute; position: number }[] =>
  Object.entries(listModelRoutes()).flatMap(([model, list]) =>
    list.map((route, index) => ({ model, route, position: index + 1 })),
  );

const setLeft =
  (isLeft: boolean): Verb<{ route: string }> =>
  async ({ route }, connected, { recorder }) => {
    await connected();
    const routes = listRoutes();
    const models = routes.filter((one) => routeNameOf(one.route) === route).map(({ model }) => model);
    if (models.length === 0) throw new NotFoundError(`There is no route ${route}.`);
    if (isLeft) await checkOthers(route, models, routes);
    const leftAt = isLeft ? toInstant(new Date()) : undefined;
    await putLeftRoute(route, leftAt, (await recorder()).write({ subject: route }));
    const fields = { route, leftOut: isLeft ? 'yes' : 'no' };
    return { value: { route, leftOut: isLeft }, text: (columns) => formatFields(fields, columns) };
  };

/** Throws `UsageError` when a model would have no route left that can be used: its requests would wait until they fail. */
const checkOthers = async (
  route: string,
  models: readonly string[],
  routes: ReturnType<typeof listRoutes>,
): Promise<void> => {
  const [settings, credentials] = await Promise.all([listModelSettings(), listCredentials(new Date())]);
  const left = leftRoutesIn(settings);
  const isUsed = (one: ConfiguredRoute): boolean =>
    !isLeft(one, left) && routeProblem(one, (provider) => credentials.has(provider)) === undefined;
  for (const model of models) {
    const others = routes.filter((one) => one.model === model && routeNameOf(one.route) !== route);
    if (!others.some((one) => isUsed(one.route)))
      throw new UsageError(`${model} has no other route to use: models disable refuses its requests.`);
  }
};

/** A route as it is printed. */
type RouteRow = Awaited<ReturnType<typeof readRows>>['rows'][number];

const readRows = async (now: Date) => {
  const routes = listRoutes();
  const [settings, credentials, loads, states, recent] = await Promise.all([
    listModelSettings(),
    listCredentials(now),
    listRouteLoads(),
    readRouteStates([...new Set(routes.map(({ route }) => routeNameOf(route)))]),
    readRecentCalls(now),
  ]);
  const left = leftRoutesIn(settings);
  const rows = routes.map(({ model, route, position }) => {
    const name = routeNameOf(route);
    const load = loads.get(name);
    const isDisabled = settings.get(model)?.enabled === false;
    const problem = routeProblem(route, (provider) => credentials.has(provider));
    const off = isDisabled ? 'its model is switched off' : problem;
    const oldestMs = load?.oldestAt === undefined ? undefined : now.getTime() - Date.parse(load.oldestAt);
    const { ended, failed, lastError } = callsOfRoute(recent, name);
    return {
      model,
      provider: route.provider,
      upstreamModel: route.upstreamModel,
      position,
      ...stateOf(off, left[name], states.get(name) ?? UNPAUSED, now),
      endedIn5Minutes: ended,
      failedIn5Minutes: failed,
      lastError,
      running: load?.running ?? null,
      maxRunning: route.maxRunning ?? null,
      waiting: load?.waiting ?? null,
      oldestWaitingSeconds: oldestMs === undefined ? null : Math.max(0, Math.floor(oldestMs / 1000)),
    };
  });
  return { rows, isCut: recent.isCut };
};

const list: Verb<object> = async (_options, connected) => {
  await connected();
  const { rows, isCut } = await readRows(new Date());
  const note = isCut ? `\n\nCalls are those of the newest ${formatNumber(MOST_REQUESTS)} requests.` : '';
  return {
    value: rows,
    text: (columns) =>
      formatTable(
        [
          ...['model', 'state', 'failed (5 min)', 'running', 'waiting'],
          { id: 'route' },
          { rest: 'cause, last error' },
        ],
        rows.map((row) => [
          ...[row.model, row.state, `${row.failedIn5Minutes} of ${row.endedIn5Minutes}`, runningText(row)],
          ...[waitingText(row), routeNameOf(row), newsText(row)],
        ]),
        columns,
      ) + note,
  };
};

const runningText = ({ running, maxRunning }: RouteRow): string | null =>
  running === null || maxRunning === null ? null : `${running} of ${maxRunning}`;

const waitingText = ({ waiting, oldestWaitingSeconds: seconds }: RouteRow): string | null =>
  waiting === null ? null : `${waiting}${seconds === null ? '' : `, oldest ${seconds} s`}`;

/** Why a route is not used and since when, and its last error: `access since 11-20 09:12:07; 09:12:06 InvalidApiKey: …`. */
const newsText = ({ cause, since, lastError }: RouteRow): string | null => {
  const parts = [
    ...(cause === null
      ? []
      : [since === null ? cause : `${cause} since ${since.slice(5, 19).replace('T', ' ')}`]),
    ...(lastError === null ? [] : [`${lastError.at.slice(11, 19)} ${lastError.text}`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
};

/** Whether a route is used, and if not, why and since when. The next request tries a route that is `due`. */
const stateOf = (
  off: string | undefined,
  leftAt: Instant | undefined,
  state: RouteState,
  now: Date,
): { state: string; cause: string | null; since: Instant | null } => {
  if (off !== undefined) return { state: 'off', cause: off, since: null };
  if (leftAt !== undefined) return { state: 'left', cause: 'by hand', since: leftAt };
  if (!isPaused(state)) return { state: 'on', cause: null, since: null };
  const { pauseReason = null, pausedAt = null } = state;
  return { state: mayTry(state, now) ? 'due' : 'paused', cause: pauseReason, since: pausedAt };
};
