import { CALLER_PATIENCE, type Patience, SETTLEMENT_PATIENCE } from '../../core/table/retry-rules.ts';

/**
 * Who writes to accounts, and how the table behaves. Everything is an assumption; docs/performance.md gives the sources.
 */
export interface Situation {
  /** How long a transaction holds its items, from its arrival to its commit. */
  holdMs: number;
  /** Creations that arrive at random each second, over all accounts, for 60 s. */
  creationsPerSecond?: number;
  /** Creations that arrive at once on the first account. */
  burst?: number;
  /** Refunds that arrive within 50 ms on the first account, 10 s after the start. */
  refundsAtOnce?: number;
  accounts?: number;
  /** Write units that a try costs the partition of its account, refused or not. */
  unitsPerTry?: number;
  seed: number;
}

/** What became of the creations and refunds. */
export interface Outcome {
  /** Share of creations accepted, 0 to 1. */
  accepted: number;
  p99Ms: number;
  slowestMs: number;
  /** Refunds that needed a further run of their function count as done when that one is. */
  refunds: number;
  slowestRefundMs: number;
  triesPerWriter: number;
}

const SECONDS = 60;
/** Share of creations that are refunded, up to 20 s later. */
const REFUND_SHARE = 0.05;
const REFUND_AFTER_MS = 20_000;
/** A call's way to the table, and the way back. */
const WAY_MS = { least: 1, most: 4 };
const PARTITION_UNITS_PER_SECOND = 1_000;
/** The account, up to 1 KB, in a transaction. */
const ACCOUNT_UNITS = 2;
/** The state machine runs a settlement again within this time. */
const RERUN_WITHIN_MS = 2_000;
/** As `waitForTable`. */
const throttledWaitMs = (losses: number): number => Math.min(250, 25 * 2 ** losses);

/** A small generator of numbers from 0 to 1, the same for the same seed. */
const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** Events in the order of their time: a binary heap. */
class Agenda {
  now = 0;
  private readonly heap: { at: number; run: () => void }[] = [];

  in(milliseconds: number, run: () => void): void {
    const { heap } = this;
    let index = heap.push({ at: this.now + milliseconds, run }) - 1;
    for (
      let parent = (index - 1) >> 1;
      index > 0 && this.isEarlier(index, parent);
      parent = (index - 1) >> 1
    ) {
      this.swap(index, parent);
      index = parent;
    }
  }

  /** Runs everything, in order. */
  run(): void {
    for (let next = this.take(); next; next = this.take()) {
      this.now = next.at;
      next.run();
    }
  }

  private take(): { at: number; run: () => void } | undefined {
    const { heap } = this;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ; ) {
      let child = 2 * index + 1;
      if (child + 1 < heap.length && this.isEarlier(child + 1, child)) child += 1;
      if (child >= heap.length || !this.isEarlier(child, index)) return first;
      this.swap(index, child);
      index = child;
    }
  }

  private isEarlier(one: number, other: number): boolean {
    return (this.heap[one]?.at ?? 0) < (this.heap[other]?.at ?? 0);
  }

  private swap(one: number, other: number): void {
    const { heap } = this;
    [heap[one], heap[other]] = [heap[other] as Agenda['heap'][0], heap[one] as Agenda['heap'][0]];
  }
}

/** An account's item, and the write units left in its partition. */
class AccountItem {
  entries = 0;
  private heldUntil = 0;
  private units = PARTITION_UNITS_PER_SECOND;
  private countedAt = 0;

  /** Tries a transaction that was planned after so many entries. */
  try(now: number, entries: number, holdMs: number, units: number): 'held' | 'made' | 'moved' | 'throttled' {
    this.units = Math.min(PARTITION_UNITS_PER_SECOND, this.units + now - this.countedAt);
    this.countedAt = now;
    if (this.units < units) return 'throttled';
    this.units -= units;
    if (this.heldUntil > now) return 'held';
    if (entries !== this.entries) return 'moved';
    this.heldUntil = now + holdMs;
    return 'made';
  }
}

/**
 * Runs a situation, in virtual time: writers read the account, then try their transaction as `transact` does, with the waits that
 * it has.
 */
export const runSituation = (situation: Situation): Outcome => {
  const { holdMs, creationsPerSecond = 0, burst = 0, refundsAtOnce = 0, accounts = 1 } = situation;
  const { unitsPerTry = ACCOUNT_UNITS, seed } = situation;
  const random = randomFrom(seed);
  const agenda = new Agenda();
  const items = Array.from({ length: accounts }, () => new AccountItem());
  const times: Record<'creation' | 'refund', number[]> = { creation: [], refund: [] };
  let [writers, creations, tries] = [0, 0, 0];
  const way = (): number => WAY_MS.least + (WAY_MS.most - WAY_MS.least) * random();

  const write = (kind: 'creation' | 'refund', account: number): void => {
    const item = items[account] as AccountItem;
    const patience: Patience = kind === 'creation' ? CALLER_PATIENCE : SETTLEMENT_PATIENCE;
    const begunAt = agenda.now;
    let [firstTryAt, losses] = [begunAt, 0];
    writers += 1;
    const read = (): void =>
      agenda.in(way(), () => {
        const { entries } = item;
        agenda.in(way(), () => attempt(entries));
      });
    const attempt = (entries: number): void =>
      agenda.in(way(), () => {
        tries += 1;
        const result = item.try(agenda.now, entries, holdMs, unitsPerTry);
        if (result !== 'made') {
          const found = item.entries;
          agenda.in(way(), () => lose(result, found));
          return;
        }
        agenda.in(holdMs, () => {
          item.entries += 1;
          agenda.in(way(), () => times[kind].push(agenda.now - begunAt));
        });
      });
    const lose = (result: 'held' | 'moved' | 'throttled', found: number): void => {
      losses += 1;
      const elapsedMs = agenda.now - firstTryAt;
      if (elapsedMs >= patience.budgetMs) {
        if (kind === 'creation') return;
        agenda.in(random() * RERUN_WITHIN_MS, () => {
          [firstTryAt, losses] = [agenda.now, 0];
          read();
        });
      } else if (result === 'moved') attempt(found);
      else {
        const longest =
          result === 'held' ? patience.longestWaitMs(losses, elapsedMs) : throttledWaitMs(losses);
        agenda.in(random() * longest, read);
      }
    };
    read();
  };
  const create = (account: number): void => {
    creations += 1;
    write('creation', account);
    if (random() < REFUND_SHARE) agenda.in(random() * REFUND_AFTER_MS, () => write('refund', account));
  };

  const arrive = (): void =>
    agenda.in((-Math.log(1 - random()) * 1_000) / creationsPerSecond, () => {
      if (agenda.now >= SECONDS * 1_000) return;
      create(Math.floor(random() * accounts));
      arrive();
    });
  if (creationsPerSecond > 0) arrive();
  for (let index = 0; index < burst; index++) create(0);
  for (let index = 0; index < refundsAtOnce; index++)
    agenda.in(10_000 + 50 * random(), () => write('refund', 0));
  agenda.run();

  const slowest = (all: readonly number[]): number => all.reduce((most, time) => Math.max(most, time), 0);
  const sorted = times.creation.toSorted((one, other) => one - other);
  return {
    accepted: creations === 0 ? 1 : times.creation.length / creations,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    slowestMs: slowest(times.creation),
    refunds: times.refund.length,
    slowestRefundMs: slowest(times.refund),
    triesPerWriter: tries / writers,
  };
};
