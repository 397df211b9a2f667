import type { Answer, ApiCall } from '../../test/simulation/stimuli/api.ts';
import type { Deployment } from '../../test/simulation/world/aws/step-functions.ts';
import type { World } from '../../test/simulation/world/world.ts';
import { type Deployed, readDeployed } from './deployed.ts';
import { captureLogs } from './logs.ts';
import type { ProviderOptions, RecordingProvider } from './provider.ts';

const SEED = 1;
const DAY_MS = 86_400_000;
const SCHEDULE_MS = 60_000;
const STEP_MS = 50;
const LIMITS = { requestsPerSecond: 1_000, burst: 1_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000_000;
const EMAIL = 'ada@example.com';
const RECEIVER = 'https://hooks.caller.example/takes';

/** The functions of a deployment, changed by a measurement that wraps their handlers. */
export type Wrap = (deployment: Deployment, deployed: Deployed) => Deployment;

/** The deployed functions and state machines in virtual time, with the default routes, one account, and nothing failing. */
export interface SimulatedService {
  world: World;
  provider: RecordingProvider;
  deployed: Deployed;
  /** Creates a request of a model, by default for the one end-user. Its id, once accepted; throws when it is refused. */
  create: (model: string, prompt: string, email?: string) => Promise<string>;
  /** Calls the API as the account. */
  call: (call: Omit<ApiCall, 'apiKey'>) => Promise<Answer>;
  /** Whether the schedule invokes the reconciler. */
  isScheduled: boolean;
  /** The status of a request by its record. */
  statusOf: (requestId: string) => string;
  /** Lets time pass until this settles. */
  until: <T>(work: Promise<T>) => Promise<T>;
  /** Gives the process its own time back. */
  close: () => void;
}

let loaded: Promise<{ deployment: Deployment; deployed: Deployed }> | undefined;
let nextStart = Date.parse('2026-01-01T00:00:00.000Z');

const load = async () => {
  const deployed = readDeployed();
  const { loadDeployment } = await import('../../test/simulation/start.ts');
  const deployment = await loadDeployment();
  process.env.MODEL_ROUTES = deployed.routes;
  return { deployment, deployed };
};

/** Modules that may load only once the environment is set. */
const loadModules = async () => {
  const [{ insertAccount }, { insertApiKey, SCOPES }, { changeBalance }] = await Promise.all([
    import('../../core/accounts/accounts.ts'),
    import('../../core/accounts/api-keys.ts'),
    import('../../core/ledger/change-balance.ts'),
  ]);
  const [{ World }, { callApi }, { enter }, { setTime }, { outside }, media, { RecordingProvider }] =
    await Promise.all([
      import('../../test/simulation/world/world.ts'),
      import('../../test/simulation/stimuli/api.ts'),
      import('../../test/simulation/world/current.ts'),
      import('../../test/simulation/world/engine/globals.ts'),
      import('../../test/simulation/world/engine/invocation.ts'),
      import('../../test/simulation/world/upstream/media.ts'),
      import('./provider.ts'),
    ]);
  return {
    ...{ insertAccount, insertApiKey, SCOPES, changeBalance },
    ...{ World, callApi, enter, setTime, outside, media, RecordingProvider },
  };
};

type Modules = Awaited<ReturnType<typeof loadModules>>;

/** Creates the account, with money. Returns its key. */
const openAccount = async ({
  insertAccount,
  insertApiKey,
  SCOPES,
  changeBalance,
}: Modules): Promise<string> => {
  const { accountId } = await insertAccount('bench', new Date());
  const { text } = await insertApiKey(accountId, { scopes: SCOPES, label: '', limits: LIMITS }, new Date());
  const opening = { amountThousandths: BALANCE_THOUSANDTHS, reason: 'topup', reference: '' } as const;
  await changeBalance(accountId, opening, new Date());
  return text;
};

/** Lets time pass in a world until some work settles. */
const untilSettled = async <T>(world: World, work: Promise<T>): Promise<T> => {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  await world.scheduler.advance(0);
  while (!isDone) await world.scheduler.advance(STEP_MS);
  if (world.broken.length > 0) throw world.broken[0];
  return done;
};

/**
 * Opens the service. The schedule invokes the reconciler each minute from now on. Every request has a webhook, which its receiver
 * takes. One at a time in a process, whose clock it replaces until it is closed.
 */
export const openService = async (
  options: ProviderOptions,
  wrap: Wrap = (deployment) => deployment,
): Promise<SimulatedService> => {
  loaded ??= load();
  const { deployment, deployed } = await loaded;
  const modules = await loadModules();
  const { enter, setTime, media } = modules;
  const world = new modules.World({
    ...{ seed: SEED, faults: [], startsAt: nextStart },
    deployment: wrap(deployment, deployed),
  });
  // An index shows a write "usually within a fraction of a second"; the simulation's own runs have later ones.
  world.table.lateIndexShare = 0;
  enter(world);
  setTime(world);
  const pictures = { image: media.aPng, video: media.anMp4() };
  const provider = new modules.RecordingProvider(world, options, pictures);
  captureLogs();
  const until = <T>(work: Promise<T>): Promise<T> => untilSettled(world, work);
  const apiKey = await until(openAccount(modules));
  const call: SimulatedService['call'] = (sent) => modules.callApi(world, { ...sent, apiKey });
  const service: SimulatedService = {
    ...{ world, provider, deployed, call, until, isScheduled: true },
    create: (model, prompt, endUserEmail = EMAIL) => create(call, { model, prompt, endUserEmail }),
    statusOf: (requestId) =>
      String(world.table.get({ PK: `REQUEST#${requestId}`, SK: 'REQUEST' })?.status ?? 'gone'),
    close: () => {
      nextStart = Math.ceil((world.scheduler.now + DAY_MS) / DAY_MS) * DAY_MS;
      setTime(undefined);
      enter(undefined);
    },
  };
  scheduleReconciler(service, modules);
  return service;
};

/** Invokes the reconciler now and each minute, while the service's schedule is on. */
const scheduleReconciler = (service: SimulatedService, modules: Pick<Modules, 'outside'>): void => {
  const { world, deployed } = service;
  const run = (): void => {
    world.scheduler.after(SCHEDULE_MS, run);
    if (!service.isScheduled) return;
    // A run that is killed is no error of the measurement: the next run continues.
    modules
      .outside(() => world.lambda.invoke(world.functionNamed('reconcile'), deployed.scheduledEvent))
      .catch(() => undefined);
  };
  run();
};

const create = async (
  call: SimulatedService['call'],
  request: { model: string; prompt: string; endUserEmail: string },
): Promise<string> => {
  const { route, more } = creationOf(request.model);
  const { status, body } = await call({ route, body: { ...request, webhookUrl: RECEIVER, ...more } });
  if (status !== 202) throw new Error(`${route} answered ${status}: ${JSON.stringify(body)}`);
  return String(body.requestId);
};

/** How a model is called: as cheaply as it can be. */
const creationOf = (model: string): { route: string; more: object } => {
  if (!model.startsWith('xW')) return { route: 'create-generation', more: {} };
  const image = 'https://images.example.com/a.png';
  return { route: 'create-video', more: model === 'xW2.7S' ? { image } : {} };
};
