import { logger } from '../observability.ts';
import type { Provider, TaskListing } from '../provider-calls/providers.ts';
import type { During } from '../waiting/query-tasks.ts';
import type { Kept } from './due-work.ts';

/** Fewer due tasks are queried one by one: a list takes two calls or more. */
const LEAST_TO_LIST = 3;
/** Shortest time from one list to the next. */
const LIST_MS = 1_000;
/** Time that a lister waits for more tasks before its first list. */
const FIRST_MS = 400;
/** Share of an account's calls a second that its lists may take. The others fetch results. */
const LIST_SHARE = 1 / 4;
/** Pause before another single query of a task that the lists do not name and whose last query found it unfinished. */
const UNNAMED_MS = 15_000;
/** Shortest and longest pause after a list that met a busy provider. Tasks are queried one by one meanwhile. */
const BUSY_MS = 10_000;
const MOST_BUSY_MS = 60_000;
/** A provider that takes longer for a page counts as too busy. */
const PAGE_TIMEOUT_MS = 10_000;

/** The parts of a run that the lister uses. */
export interface ListerHost {
  nowMs: () => number;
  /** Whether the run continues. */
  keepGoing: () => boolean;
  pause: (milliseconds: number) => Promise<unknown>;
  /** The kept items with tasks of this lister, without the items under check. */
  kept: () => Kept[];
  /** Checks an item: queries its tasks, or with `isNamed` takes them for unfinished. Returns whether the provider reported their states. */
  check: (kept: Kept, isNamed: boolean) => Promise<boolean>;
  /** Makes each call in the turn of the account. */
  during: During;
  /** The account's calls a second. */
  perSecond: number;
}

/** The last sighting of a task in a list, and the last query of the task because a list did not name it, in epoch milliseconds. */
interface Sighting {
  namedMs: number;
  queriedMs: number;
}

/**
 * Looks up the tasks of a provider account in the provider's lists, instead of a query for each task. A task that the lists no
 * longer name as unfinished has ended, and gets a query. Lists can be behind or miss a task: a task that its query finds
 * unfinished goes back to the lists, and is queried every 15 s until a list names the task.
 */
export class TaskLister {
  private readonly provider: Provider;
  private readonly host: ListerHost;
  private readonly sightings = new Map<string, Sighting>();
  private blockedUntilMs = 0;
  /** Whether the lister has taken over the queries of the account's tasks. */
  isAtWork = false;

  constructor(provider: Provider, host: ListerHost) {
    this.provider = provider;
    this.host = host;
  }

  /** Whether it takes over the queries of these tasks, which the run has found now. */
  takes(taskIds: readonly string[]): boolean {
    for (const id of taskIds) this.see(id);
    return this.sightings.size >= LEAST_TO_LIST && this.isOpen();
  }

  /** Whether it has enough tasks to begin. */
  hasEnough(): boolean {
    return this.host.kept().length >= LEAST_TO_LIST && this.isOpen();
  }

  private isOpen(): boolean {
    return this.host.nowMs() >= this.blockedUntilMs;
  }

  /** Lists until there are too few tasks, the provider does not list them, or the run is over. */
  async work(): Promise<void> {
    const { host } = this;
    this.isAtWork = true;
    try {
      // A run finds most of its tasks at its beginning, within a moment.
      await host.pause(FIRST_MS);
      for (;;) {
        const startedMs = host.nowMs();
        const kept = host.kept();
        if (!host.keepGoing() || kept.length < LEAST_TO_LIST || !this.isOpen()) return;
        const calls = await this.listOrQuery(kept, startedMs);
        const intervalMs = Math.max(LIST_MS, (calls * 1_000) / (host.perSecond * LIST_SHARE));
        await host.pause(Math.max(0, startedMs + intervalMs - host.nowMs()));
      }
    } finally {
      this.isAtWork = false;
    }
  }

  /** Lists the tasks when enough are due, else queries the due tasks. Returns the number of calls that the list took. */
  private async listOrQuery(kept: readonly Kept[], nowMs: number): Promise<number> {
    const soon = kept.filter(({ nextMs }) => nextMs <= nowMs + LIST_MS);
    if (soon.length < LEAST_TO_LIST) {
      for (const one of soon) if (isDue(one, nowMs)) void this.host.check(one, false);
      return 0;
    }
    let calls = 0;
    const listing = await this.provider.list?.(kept.flatMap(taskIdsOf), (call) => {
      calls++;
      return this.host.during(() => call(AbortSignal.timeout(PAGE_TIMEOUT_MS)));
    });
    if (listing?.kind === 'listed') {
      for (const one of kept) if (!one.isBeingChecked) this.judge(one, listing, nowMs);
    } else this.block(listing);
    return calls;
  }

  private judge(
    kept: Kept,
    { unfinished, isComplete }: TaskListing & { kind: 'listed' },
    listedMs: number,
  ): void {
    const nowMs = this.host.nowMs();
    const ids = taskIdsOf(kept);
    for (const id of ids) if (unfinished.has(id)) this.see(id, { namedMs: listedMs });
    const absent = ids.filter((id) => !unfinished.has(id));
    if (absent.length === 0) {
      void this.host.check(kept, true);
      return;
    }
    if (!isComplete) {
      if (isDue(kept, nowMs)) void this.host.check(kept, false);
      return;
    }
    const isToQuery = absent.some((id) => {
      const { namedMs, queriedMs } = this.see(id);
      return namedMs > queriedMs || nowMs - queriedMs >= UNNAMED_MS;
    });
    if (!isToQuery) {
      // The list that comes then decides, not the turn of a single query.
      kept.nextMs = Math.min(...absent.map((id) => this.see(id).queriedMs)) + UNNAMED_MS + 2 * LIST_MS;
      return;
    }
    for (const id of absent) this.see(id, { queriedMs: nowMs });
    void this.host.check(kept, false).then((isReported) => {
      if (!isReported) for (const id of absent) this.see(id, { queriedMs: 0 });
    });
  }

  private see(id: string, seen: Partial<Sighting> = {}): Sighting {
    const sighting = { namedMs: 0, queriedMs: 0, ...this.sightings.get(id), ...seen };
    this.sightings.set(id, sighting);
    return sighting;
  }

  /** Leaves the tasks to single queries: for a while, or where the provider lists nothing, until the end of the run. */
  private block(listing: Exclude<TaskListing, { kind: 'listed' }> | undefined): void {
    const isBusy = listing?.kind === 'busy';
    const wantedMs = isBusy ? (listing.retryAfterSeconds ?? 0) * 1_000 : Number.POSITIVE_INFINITY;
    const mostMs = isBusy ? MOST_BUSY_MS : Number.POSITIVE_INFINITY;
    this.blockedUntilMs = this.host.nowMs() + Math.min(mostMs, Math.max(BUSY_MS, wantedMs));
    logger.warn('tasks are queried one by one', { provider: this.provider.id, reason: listing?.kind });
  }
}

const taskIdsOf = ({ rest }: Kept): string[] => rest?.listed?.taskIds ?? [];

/** Half an interval early or late, not up to a whole one late. */
const isDue = ({ nextMs }: Kept, nowMs: number): boolean => nextMs <= nowMs + LIST_MS / 2;
