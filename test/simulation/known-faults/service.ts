import { insertAccount } from '../../../core/accounts/accounts.ts';
import { insertApiKey, SCOPES } from '../../../core/accounts/api-keys.ts';
import { changeBalance } from '../../../core/ledger/change-balance.ts';
import { requestKey, routeLimitKey } from '../../../core/table/keys.ts';
import type { Item } from '../../unit/fakes/expressions.ts';
import { type Answer, type ApiCall, callApi } from '../stimuli/api.ts';
import { keyText } from '../world/aws/indexes.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { enter } from '../world/current.ts';
import { setTime } from '../world/engine/globals.ts';
import { outside } from '../world/engine/invocation.ts';
import { type Behaviour, promptOf } from '../world/upstream/wire-formats.ts';
import { type Mutation, World } from '../world/world.ts';
import { interceptCalls } from './client-calls.ts';

const DAY_MS = 86_400_000;
const SCHEDULE_MS = 60_000;
const LIMITS = { requestsPerSecond: 1_000, burst: 1_000 };
const BALANCE_THOUSANDTHS = 1_000_000_000;
export const EMAIL = 'ada@example.com';
/** A model of videos, whose provider calls back, and its route. */
export const VIDEO_MODEL = 'xW2.7S';
export const VIDEO_ROUTE = 'modelark/seedance';

/** The service in a world of its own: one account, the reconciler's schedule, and nothing failing. */
export interface Service {
  world: World;
  accountId: string;
  keyId: string;
  apiKey: string;
  /** Calls the API as the account. */
  call: (call: Omit<ApiCall, 'apiKey'>) => Promise<Answer>;
  /** Creates a video, which its provider handles in this way. Its id; throws when it is refused. */
  createVideo: (behaviour: Behaviour) => Promise<string>;
  /** Creates an image. Its id; throws when it is refused. */
  createImage: (behaviour: Behaviour, more?: { webhookUrl: string }) => Promise<string>;
  /** Lets time pass until this settles. */
  settled: <T>(work: Promise<T>) => Promise<T>;
  /** Lets time pass until this holds. Throws when it does not within 3 h. */
  until: (holds: () => boolean) => Promise<void>;
  record: (requestId: string) => Item | undefined;
  /** When the request's only provider call was made, in epoch milliseconds; infinite while there is none. */
  calledAt: (requestId: string) => number;
  /** Lets time pass until that call is made, and returns when; the present when it is not within 10 min. */
  calledBy: (requestId: string) => Promise<number>;
  /** When the provider is done with that call; infinite until it was made. */
  doneAt: (requestId: string) => number;
  /** When the schedule starts the reconciler next. */
  nextRunAt: () => number;
  /** Does something once, when the last permit of the route of `VIDEO_MODEL` is given back next. */
  onFree: (act: () => void) => void;
}

export interface Setting {
  /** Limits of the route of `VIDEO_MODEL`. */
  limits?: { maxRunning: number; requestsPerSecond?: number };
  /** A second route of some models, by model. */
  second?: Record<string, object>;
  /** How long after a run of the reconciler the first request comes. */
  phaseMs?: number;
  /** A bug, put there on purpose. */
  mutation?: Mutation | undefined;
  /** When the world begins, in epoch milliseconds; by default on a day after the world before. */
  startsAt?: number;
}

let nextStart = Date.parse('2026-01-01T00:00:00.000Z');
/** A request that is called so late counts as not called. */
const CALLED_MS = 600_000;
const LIMIT_MS = 3 * 3_600_000;

/** Measures something in a world of its own. One at a time: the process has the clock of that world. */
export const inService = async <T>(
  deployment: Deployment,
  { limits, second = {}, phaseMs = 0, mutation, startsAt = nextStart }: Setting,
  measure: (service: Service) => Promise<T>,
): Promise<T> => {
  const routes = String(process.env.MODEL_ROUTES);
  const { [VIDEO_MODEL]: route, ...others } = JSON.parse(routes) as Record<string, object>;
  const first: Record<string, object> = { ...others, [VIDEO_MODEL]: { ...route, ...limits } };
  const lists = Object.entries(second).map(([model, other]) => [model, [first[model], other]]);
  process.env.MODEL_ROUTES = JSON.stringify({ ...first, ...Object.fromEntries(lists) });
  const world = new World({ seed: 1, faults: [], startsAt, deployment, mutation });
  world.table.lateIndexShare = 0;
  world.lambda.lateEventShare = 0;
  enter(world);
  setTime(world);
  try {
    const service = await open(world);
    world.outages.begin();
    await world.scheduler.advance(SCHEDULE_MS + phaseMs);
    const measured = await measure(service);
    if (world.broken.length > 0) throw world.broken[0];
    return measured;
  } finally {
    nextStart = Math.ceil((world.scheduler.now + DAY_MS) / DAY_MS) * DAY_MS;
    interceptCalls(undefined);
    setTime(undefined);
    enter(undefined);
    process.env.MODEL_ROUTES = routes;
  }
};

/** Measures each case in a world of its own. Returns the cases with what came of them. */
export const inEach = async <Case extends object, Result extends object>(
  deployment: Deployment,
  cases: readonly Case[],
  settingOf: (one: Case) => Setting,
  measure: (service: Service, one: Case) => Promise<Result>,
): Promise<(Case & Result)[]> => {
  const measured: (Case & Result)[] = [];
  for (const one of cases)
    measured.push({
      ...one,
      ...(await inService(deployment, settingOf(one), (service) => measure(service, one))),
    });
  return measured;
};

/** Runs the reconciler each minute. Returns when it starts next. */
const schedule = (world: World): (() => number) => {
  let next = world.scheduler.now;
  const run = (): void => {
    next += SCHEDULE_MS;
    world.scheduler.after(SCHEDULE_MS, run);
    const event = { everySeconds: SCHEDULE_MS / 1000 };
    // A run that is killed is no error of the schedule: the next one goes on.
    outside(() => world.lambda.invoke(world.functionNamed('reconcile'), event)).catch(() => undefined);
  };
  run();
  return () => next;
};

const open = async (world: World): Promise<Service> => {
  const { scheduler, evidence, table } = world;
  const until: Service['until'] = async (holds) => {
    if (await scheduler.advanceUntil(holds, LIMIT_MS)) return;
    throw world.broken[0] ?? new Error(`It never came to this: ${holds}`);
  };
  const settled: Service['settled'] = async (work) => {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    work.then(settle, settle);
    await until(() => isSettled);
    return work;
  };
  const { accountId } = await settled(insertAccount('one', new Date()));
  const key = { scopes: SCOPES, label: '', limits: LIMITS };
  const {
    text: apiKey,
    apiKey: { keyId },
  } = await settled(insertApiKey(accountId, key, new Date()));
  const opening = { amountThousandths: BALANCE_THOUSANDTHS, reason: 'topup', reference: '' } as const;
  await settled(changeBalance(accountId, opening, new Date()));
  const call: Service['call'] = (made) => settled(callApi(world, { ...made, apiKey }));
  const create = async (route: string, behaviour: Behaviour, more: object): Promise<string> => {
    const body = { ...more, prompt: promptOf('p', behaviour, 'once'), endUserEmail: EMAIL };
    const { status, body: answer } = await call({ route, body });
    if (status !== 202) throw new Error(`${route} was answered with ${status}: ${JSON.stringify(answer)}`);
    return String(answer.requestId);
  };
  const only = (requestId: string) => {
    const [made, ...others] = evidence.callsOf(requestId);
    if (others.length > 0) throw new Error(`${requestId} was called more than once.`);
    return made;
  };
  return {
    ...{ world, accountId, keyId, apiKey, call, settled, until },
    createVideo: (behaviour) =>
      create('create-video', behaviour, { model: VIDEO_MODEL, image: 'https://images.example.com/a.png' }),
    createImage: (behaviour, more) => create('create-generation', behaviour, { model: 'xSD4.5', ...more }),
    record: (requestId) => table.get({ ...requestKey(requestId) }),
    calledAt: (requestId) => only(requestId)?.sentAt ?? Number.POSITIVE_INFINITY,
    calledBy: async (requestId) => {
      await scheduler.advanceUntil(() => only(requestId) !== undefined, CALLED_MS);
      return only(requestId)?.sentAt ?? scheduler.now;
    },
    doneAt: (requestId) => only(requestId)?.made?.doneAt ?? Number.POSITIVE_INFINITY,
    nextRunAt: schedule(world),
    onFree: (act) => {
      let isFree = false;
      table.witnesses.push((key, before, after) => {
        const isRouteLimit = key === keyText({ ...routeLimitKey(VIDEO_ROUTE) });
        if (isFree || !isRouteLimit || Number(after?.used) !== 0 || Number(before?.used) === 0) return;
        isFree = true;
        act();
      });
    },
  };
};
