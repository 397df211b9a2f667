import { putEnabled } from '../../../core/models/model-settings.ts';
import { listModelRoutes } from '../../../core/provider-calls/model-routes.ts';
import { TIGHT_ROUTES } from '../rules/admission-rules.ts';
import type { Simulation } from '../runs/simulation.ts';
import { type Action, MODELS } from '../stimuli/actions.ts';
import { Part } from './part.ts';
import type { World } from './world.ts';

/** Routes of the models of videos, as deployments exchange them: each provider can make either, of a new model too. */
const ROUTES = [
  { 'xW2.7S': ['modelark', 'seedance'], 'xW3.0s': ['modelstudio', 'wan'] },
  { 'xW2.7S': ['modelstudio', 'wan'], 'xW3.0s': ['modelark', 'seedance'] },
  { 'xW2.7S': ['modelark', 'seedance'], 'xW3.0s': ['modelstudio', 'wan-next'] },
];
/** The models that may have a limit on what runs at once, and the limits. */
const LIMITED = ['xSD4.5', 'xW3.0s', 'xW2.7S'] as const;
const LIMITS = [1, 3, null, 2];
/** Days, all of which are over when a run ends. */
const RETENTION_DAYS = ['90', '30', '60'];

type Route = Record<string, unknown>;
type Routes = Record<string, Route | Route[]>;

/** The second route of each model, in the runs in which it has two. */
const SECOND: Record<string, Route> = {
  'xSD4.5': { provider: 'modelstudio', upstreamModel: 'qwen-image-2' },
  xQI3Pro: { provider: 'modelark', upstreamModel: 'seedream-2' },
  'xZI1.0Pro': { provider: 'modelark', upstreamModel: 'seedream-3', requestsPerSecond: 2 },
  xSD5Pro: { provider: 'modelark', upstreamModel: 'seedream-4' },
  'xW2.7S': { provider: 'modelstudio@eu', upstreamModel: 'wan-2' },
  'xW3.0s': { provider: 'modelark', upstreamModel: 'seedance-2', maxRunning: 3 },
};

const firstOf = (route: Route | Route[] | undefined): Route | undefined =>
  Array.isArray(route) ? route[0] : route;
/** A model's routes with another first one. */
const withFirst = (routes: Route | Route[] | undefined, first: Route): Route | Route[] =>
  Array.isArray(routes) ? [first, ...routes.slice(1)] : first;

const readRoutes = (): Routes => JSON.parse(process.env.MODEL_ROUTES ?? '{}') as Routes;
const writeRoutes = (routes: Routes): void => {
  process.env.MODEL_ROUTES = JSON.stringify(routes);
};

export type Deployment = Extract<
  Action,
  { do: 'set-route' | 'set-running' | 'unroute' | 'set-retention' | 'redeploy' }
>;

/**
 * A deployment changes the functions' environment and replaces their processes. Requests under way, and those that
 * wait, go on. One in three deployments changes the release, forward or back. Running executions keep their
 * definition and use the functions of the new release.
 */
export const deploy = (world: World, { do: what, pick }: Deployment): void => {
  const routes = readRoutes();
  switch (what) {
    case 'set-retention':
      process.env.RETENTION_DAYS = RETENTION_DAYS[pick % RETENTION_DAYS.length];
      break;
    case 'set-route':
      for (const [model, [provider, upstreamModel]] of Object.entries(ROUTES[pick % ROUTES.length] ?? {})) {
        // A model that moves to another route keeps its limits, or gets a route without limits.
        const { maxRunning } = pick % 2 === 0 ? (firstOf(routes[model]) ?? {}) : {};
        const limits = maxRunning === undefined ? {} : { maxRunning };
        routes[model] = withFirst(routes[model], { provider, upstreamModel, ...limits });
      }
      break;
    case 'set-running': {
      const model = LIMITED[pick % LIMITED.length] ?? '';
      const first = firstOf(routes[model]);
      if (first)
        routes[model] = withFirst(routes[model], { ...first, maxRunning: LIMITS[pick % LIMITS.length] });
      break;
    }
    case 'unroute': {
      const model = LIMITED[pick % LIMITED.length] ?? '';
      world.evidence.unroutedAt.set(model, world.scheduler.now);
      delete routes[model];
      break;
    }
    case 'redeploy':
  }
  writeRoutes(routes);
  world.evidence.deployedAt = world.scheduler.now;
  world.lateness.add('deployment', world.scheduler.now);
  world.lambda.processes.replaceAll();
  if (pick % 3 === 0) world.stepFunctions.redefine(Math.floor(pick / 3));
};

/** Until the next upgrade of a run that begins with the definitions of the first release. */
const UPGRADE_MS = [0, 20_000] as const;

/**
 * Begins with the definitions of the first release there is. The remaining definitions follow, so that executions of
 * every definition run at once.
 */
export const beginBeforeUpgrades = (world: World): void => {
  const { scheduler, stepFunctions, random } = world;
  const [first = 'this', ...others] = stepFunctions.releases();
  stepFunctions.define(first);
  let inMs = 0;
  for (const release of others) {
    inMs += random.whole(...UPGRADE_MS);
    scheduler.after(inMs, () => {
      stepFunctions.define(release);
      world.evidence.deployedAt = scheduler.now;
      world.lambda.processes.replaceAll();
    });
  }
};

/** What deployments change: as it is when a run begins. */
const DEPLOYED = [
  ...(['MODEL_ROUTES', 'RETENTION_DAYS', 'QUEUE_DEADLINE_SECONDS'] as const),
  ...(['OPENAI_WAITING', 'OPENAI_WAITING_IN_ALL'] as const),
] as const;
let deployed: Record<string, string | undefined> | undefined;

/** How long a request may wait for its turn, in the runs in which that is not long. */
const SHORT_QUEUE_SECONDS = '90';

/** The slots of calls that wait, of an account and in all, in the runs in which they are few. */
const FEW_SLOTS = { OPENAI_WAITING: '2', OPENAI_WAITING_IN_ALL: '4' };

/**
 * Undoes what the deployments of another run changed. `kind` is any number: in three of four runs the providers have
 * little capacity, and in a third of these a request waits for its turn for a short time only. In two of five, each model has two routes. In half,
 * few calls of OpenAI's clients may wait at once.
 */
export const resetDeployment = (kind: number): void => {
  deployed ??= Object.fromEntries(DEPLOYED.map((name) => [name, process.env[name]]));
  Object.assign(process.env, deployed, kind % 2 === 0 && FEW_SLOTS);
  if (kind % 4 !== 0) {
    if (kind % 3 === 0) process.env.QUEUE_DEADLINE_SECONDS = SHORT_QUEUE_SECONDS;
    writeRoutes({ ...readRoutes(), ...TIGHT_ROUTES[kind % TIGHT_ROUTES.length] });
  }
  if (kind % 5 < 2) writeRoutes(withSecond(readRoutes()));
};

/** Two routes for each model. */
const withSecond = (routes: Routes): Routes =>
  Object.fromEntries(
    Object.entries(routes).map(([model, first]) => {
      const second = SECOND[model];
      return [model, second ? [firstOf(first) ?? {}, second] : first];
    }),
  );

/** Restores the first route of every model that lost its route, switches every model on, and returns to every route. */
export const restoreModels = async ({ world, models, leftRoutes }: Simulation): Promise<void> => {
  const first = JSON.parse(deployed?.MODEL_ROUTES ?? '{}') as Routes;
  if (MODELS.some((model) => listModelRoutes()[model] === undefined)) {
    writeRoutes({ ...first, ...readRoutes() });
    world.evidence.deployedAt = world.scheduler.now;
    world.lambda.processes.replaceAll();
  }
  for (const model of models.switchedOff()) await models.switch(model, true);
  await leftRoutes.returnAll();
};

/** The operators' switches of models, and what is accepted in spite of one. */
export class ModelSwitches extends Part {
  /** Since when a model is off; not while that is under way. */
  private readonly offSince = new Map<string, number>();
  /** The models that may be off. */
  private readonly touched = new Set<string>();

  /** Switches a model on or off. Rejects when that could not be done. */
  async switch(model: string, enabled: boolean): Promise<void> {
    this.offSince.delete(model);
    this.touched.add(model);
    await putEnabled(model, enabled);
    if (enabled) this.touched.delete(model);
    else this.offSince.set(model, this.world.scheduler.now);
  }

  switchedOff(): readonly string[] {
    return [...this.touched];
  }

  /** A request is accepted: its model was not off all the time since it was sent. */
  judgeAccepted(requestId: string, model: string): void {
    const since = this.offSince.get(model) ?? Number.POSITIVE_INFINITY;
    if (this.world.scheduler.now - since > CALL_MS)
      this.report(`[switched off] ${requestId} was accepted although ${model} is switched off`);
  }
}

/** The longest that a call takes. */
const CALL_MS = 30_000;
