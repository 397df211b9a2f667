import { putEnabled } from '../../core/models/model-settings.ts';
import { listModelRoutes } from '../../core/provider-calls/model-routes.ts';
import { type Action, MODELS } from './actions.ts';
import { TIGHT_ROUTES } from './admission-rules.ts';
import type { Simulation } from './simulation.ts';
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

type Routes = Record<string, Record<string, unknown>>;

const readRoutes = (): Routes => JSON.parse(process.env.MODEL_ROUTES ?? '{}') as Routes;
const writeRoutes = (routes: Routes): void => {
  process.env.MODEL_ROUTES = JSON.stringify(routes);
};

export type Deployment = Extract<
  Action,
  { do: 'set-route' | 'set-running' | 'unroute' | 'set-retention' | 'redeploy' }
>;

/**
 * A deployment changes the functions' environment and replaces their processes. Requests under way, and those that wait, go on. One of
 * three is of another release, forward or back: what runs keeps its definition, and is served by the functions of this one.
 */
export const deploy = (world: World, { do: what, pick }: Deployment): void => {
  const routes = readRoutes();
  switch (what) {
    case 'set-retention':
      process.env.RETENTION_DAYS = RETENTION_DAYS[pick % RETENTION_DAYS.length];
      break;
    case 'set-route':
      for (const [model, [provider, upstreamModel]] of Object.entries(ROUTES[pick % ROUTES.length] ?? {})) {
        // A model that goes elsewhere keeps its limits, or has none there.
        const { maxRunning } = pick % 2 === 0 ? (routes[model] ?? {}) : {};
        routes[model] = { provider, upstreamModel, ...(maxRunning === undefined ? {} : { maxRunning }) };
      }
      break;
    case 'set-running': {
      const model = LIMITED[pick % LIMITED.length] ?? '';
      if (routes[model]) routes[model] = { ...routes[model], maxRunning: LIMITS[pick % LIMITS.length] };
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
  world.lambda.replaceAll();
  if (pick % 3 === 0) world.stepFunctions.redefine(Math.floor(pick / 3));
};

/** Until the next upgrade of a run that begins with the definitions of the last release. */
const UPGRADE_MS = [0, 20_000] as const;

/** Begins with the definitions of the last release. This one and the next follow, so that executions of all three run at once. */
export const beginBeforeUpgrades = (world: World): void => {
  const { scheduler, stepFunctions, random } = world;
  stepFunctions.define('last');
  let inMs = 0;
  for (const release of ['this', 'next'] as const) {
    inMs += random.whole(...UPGRADE_MS);
    scheduler.after(inMs, () => {
      stepFunctions.define(release);
      world.evidence.deployedAt = scheduler.now;
      world.lambda.replaceAll();
    });
  }
};

/** What deployments change: as it is when a run begins. */
const DEPLOYED = ['MODEL_ROUTES', 'RETENTION_DAYS', 'QUEUE_DEADLINE_SECONDS'] as const;
let deployed: Record<string, string | undefined> | undefined;

/** How long a request may wait for its turn, in the runs in which that is not long. */
const SHORT_QUEUE_SECONDS = '90';

/**
 * Undoes what the deployments of another run changed. `kind` is any number: in three of four runs the providers have
 * little capacity, and in a third of these a request waits for its turn for a short time only.
 */
export const resetDeployment = (kind: number): void => {
  deployed ??= Object.fromEntries(DEPLOYED.map((name) => [name, process.env[name]]));
  Object.assign(process.env, deployed);
  if (kind % 4 === 0) return;
  if (kind % 3 === 0) process.env.QUEUE_DEADLINE_SECONDS = SHORT_QUEUE_SECONDS;
  writeRoutes({ ...readRoutes(), ...TIGHT_ROUTES[kind % TIGHT_ROUTES.length] });
};

/** Gives every model that has lost its route the one that it had when the run began, and switches all models on. */
export const restoreModels = async ({ world, models }: Simulation): Promise<void> => {
  const first = JSON.parse(deployed?.MODEL_ROUTES ?? '{}') as Routes;
  if (MODELS.some((model) => listModelRoutes()[model] === undefined)) {
    writeRoutes({ ...first, ...readRoutes() });
    world.evidence.deployedAt = world.scheduler.now;
    world.lambda.replaceAll();
  }
  for (const model of models.switchedOff()) await models.switch(model, true);
};

/** The operators' switches of models, and what is accepted in spite of one. */
export class ModelSwitches {
  readonly violations: string[] = [];
  private readonly world: World;
  /** Since when a model is off; not while that is under way. */
  private readonly offSince = new Map<string, number>();
  /** The models that may be off. */
  private readonly touched = new Set<string>();

  constructor(world: World) {
    this.world = world;
  }

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
      this.violations.push(`[switched off] ${requestId} was accepted although ${model} is switched off`);
  }
}

/** The longest that a call takes. */
const CALL_MS = 30_000;
