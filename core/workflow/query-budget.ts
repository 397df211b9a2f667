/** Most queries of one provider at a time. */
const QUERIES_AT_ONCE = 4;

/** Queries waiting for one provider, and how many workers make them. */
interface Lane {
  waiting: (() => Promise<void>)[];
  working: number;
}

/**
 * Makes queries of providers: at most 4 at a time for each, in the order they were added. A provider that
 * hangs holds up only its own. Starts no further one once `keepGoing` returns false.
 */
export class QueryBudget {
  private readonly lanes = new Map<string, Lane>();
  private readonly underWay = new Set<Promise<void>>();
  private readonly keepGoing: () => boolean;

  constructor(keepGoing: () => boolean) {
    this.keepGoing = keepGoing;
  }

  /** Adds a query, which must not reject. */
  add(providerId: string, query: () => Promise<void>): void {
    const lane = this.lanes.get(providerId) ?? { waiting: [], working: 0 };
    this.lanes.set(providerId, lane);
    lane.waiting.push(query);
    if (lane.working < QUERIES_AT_ONCE) void this.work(lane);
  }

  /** Waits until one of the queries that are being made has ended; false when none is being made. */
  async settledOne(): Promise<boolean> {
    if (this.underWay.size === 0) return false;
    await Promise.race(this.underWay);
    return true;
  }

  private async work(lane: Lane): Promise<void> {
    lane.working++;
    while (this.keepGoing()) {
      const query = lane.waiting.shift();
      if (!query) break;
      const made = query();
      this.underWay.add(made);
      await made;
      this.underWay.delete(made);
    }
    lane.working--;
  }
}
