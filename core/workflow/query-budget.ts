/** Most queries of one provider at a time. */
const QUERIES_AT_ONCE = 4;

/** Queries waiting for one provider, and the workers that make them. */
interface Lane {
  waiting: (() => Promise<void>)[];
  workers: Promise<void>[];
  working: number;
}

/**
 * Makes queries of providers: at most 4 at a time for each, in the order they were added. A provider that
 * hangs holds up only its own. Starts no further one once `keepGoing` returns false.
 */
export class QueryBudget {
  private readonly lanes = new Map<string, Lane>();
  private readonly keepGoing: () => boolean;

  constructor(keepGoing: () => boolean) {
    this.keepGoing = keepGoing;
  }

  /** Adds a query, which must not reject. */
  add(providerId: string, query: () => Promise<void>): void {
    const lane = this.lanes.get(providerId) ?? { waiting: [], workers: [], working: 0 };
    this.lanes.set(providerId, lane);
    lane.waiting.push(query);
    if (lane.working < QUERIES_AT_ONCE) lane.workers.push(this.work(lane));
  }

  /** Resolves when every query is made that will be. Call it after the last `add`. */
  async finished(): Promise<void> {
    await Promise.all([...this.lanes.values()].flatMap(({ workers }) => workers));
  }

  private async work(lane: Lane): Promise<void> {
    lane.working++;
    while (this.keepGoing()) {
      const query = lane.waiting.shift();
      if (!query) break;
      await query();
    }
    lane.working--;
  }
}
