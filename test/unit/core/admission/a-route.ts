import { enterQueue, returnPermit } from '../../../../core/admission/admission.ts';
import type { QueueEntry } from '../../../../core/admission/queue-entries.ts';
import {
  type RouteLimit,
  type RouteLimitState,
  routeLimitOf,
} from '../../../../core/admission/route-limit-rules.ts';
import { readRouteLimits, takePermit } from '../../../../core/admission/route-limits.ts';
import { admitWaiting, drainQueue, isQueued } from '../../../../core/reconciler/admit.ts';
import { requestKey, routeLimitKey, routeLimitPartition } from '../../../../core/table/keys.ts';
import { atSeconds, StoppedClock } from '../../builders/clocks.ts';
import { anImageRequest } from '../../builders/entities.ts';
import { withEnvironment } from '../../builders/environment.ts';
import { memory } from '../../fakes/fresh-table.ts';
import type { MemoryTable } from '../../fakes/memory-table.ts';

/** The route of a model with these limits. */
export const UPSTREAM = { provider: 'modelark', upstreamModel: 'seedream' } as const;
export const MODEL = 'xSD4.5';

/** Runs with limits of the route configured. */
export const withLimits = <T>(limits: object, run: () => T | Promise<T>): Promise<T> =>
  withEnvironment({ MODEL_ROUTES: JSON.stringify({ [MODEL]: { ...UPSTREAM, ...limits } }) }, run);

interface Limits {
  maxRunning?: number;
  requestsPerSecond?: number;
}

/** Runs with a route of these limits. */
export const at = (limits: Limits, run: (route: RouteUnderTest) => Promise<void>): Promise<void> =>
  withLimits(limits, () => run(new RouteUnderTest(limits)));

/** `a1` takes the only permit, and these wait, the first for longest. */
export const waitInTurn = async (route: RouteUnderTest, ...ids: string[]): Promise<void> => {
  await route.take('a1');
  for (const id of ids) {
    await route.wait(id);
    route.clock.advance(1);
  }
};

/** The only limit of a route with these limits. */
const limitWith = (limits: Limits): RouteLimit => routeLimitOf('modelark/seedream', limits);

/** Requests of accounts at one route, whose executions wait under tokens. */
export class RouteUnderTest {
  readonly clock = new StoppedClock();
  /** The requests woken, in order. */
  readonly woken: string[] = [];
  /** Tokens of executions that do not wait any more. */
  readonly gone = new Set<string>();
  readonly limit: RouteLimit;
  private readonly memory: MemoryTable;
  private readonly entries = new Map<string, QueueEntry>();

  constructor(limits: Limits, table: MemoryTable = memory) {
    this.memory = table;
    this.limit = limitWith(limits);
  }

  readonly wake = async (taskToken: string): Promise<boolean> => {
    if (this.gone.has(taskToken)) return false;
    this.gone.add(taskToken);
    this.woken.push(taskToken.slice(0, taskToken.indexOf('/')));
    return true;
  };

  /** A request as it waits; its account is what its id begins with. */
  queued(id: string, { seconds = 0, entry = 0, weight = 1 } = {}): QueueEntry {
    const accountId = id.replace(/\d.*/, '');
    const known = this.entries.get(id);
    const queued = {
      ...{ requestId: id, accountId, weight, starts: weight },
      createdAt: known?.createdAt ?? atSeconds(seconds).toISOString(),
      taskToken: `${id}/${entry}`,
      tokenOrder: String(entry).padStart(4, '0'),
    };
    this.entries.set(id, queued);
    if (!known) {
      const { createdAt } = queued;
      this.memory.put(requestKey(id), anImageRequest({ requestId: id, accountId, model: MODEL, createdAt }));
    }
    return queued;
  }

  /** Asks for a permit. */
  async take(id: string, weight = 1): Promise<'taken' | 'held' | 'refused'> {
    const { requestId, accountId } = this.queued(id, { weight });
    const entrant = { requestId, accountId, weight, starts: weight };
    const taken = await takePermit(this.limit, entrant, this.clock.now());
    if (!taken) return 'refused';
    return taken.isNew ? 'taken' : 'held';
  }

  /** Waits for a permit. */
  wait(id: string, options: { seconds?: number; entry?: number; weight?: number } = {}): Promise<void> {
    return enterQueue(this.limit.name, this.queued(id, options), this.clock);
  }

  /** Gives its permit back. */
  leave(id: string): Promise<unknown> {
    return returnPermit(this.limit.name, this.queued(id), this.clock);
  }

  /** A tick of the control loop at this route. */
  async tick(number = 0, wake = this.wake): Promise<void> {
    const state = await this.state();
    if (isQueued(state)) await admitWaiting(this.limit, state, { clock: this.clock, tick: number, wake });
  }

  /** Gives its permit back, before the next tick. */
  async leaveThenTick(id: string): Promise<void> {
    await this.leave(id);
    await this.tick();
  }

  /** A tick at this route once it is not configured. */
  async drain(): Promise<void> {
    const state = await this.state();
    if (!isQueued(state)) throw new Error('Nobody waits.');
    await drainQueue(this.limit.name, state, { clock: this.clock, tick: 0, wake: this.wake });
  }

  async state(): Promise<RouteLimitState> {
    const [state] = await readRouteLimits([this.limit.name]);
    if (!state) throw new Error('A limit has a state, stored or not.');
    return state;
  }

  /** The requests with a permit. */
  async holders(): Promise<string[]> {
    return [...(await this.state()).permits.keys()].sort();
  }

  /** Sort keys of what is stored beside the route limit. */
  queue(): string[] {
    return this.memory
      .partition(routeLimitPartition(this.limit.name))
      .map(({ SK }) => String(SK))
      .filter((sort) => sort !== routeLimitKey('').SK);
  }
}
