import { describe, expect, test } from '@jest/globals';
import { requestKey, routeLimitKey } from '../../../../core/table/keys.ts';
import { memory } from '../../fakes/fresh-table.ts';
import { RouteUnderTest, withLimits } from './a-route.ts';

/** Numbers from 0 to 1 that depend on the seed alone. */
const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
};

/** The death of a function between two calls to the table. */
class Death extends Error {
  override name = 'Death';
}

/**
 * Requests that ask for a permit, wait, work and leave, all at once. Calls to the table are served in a random order, and
 * with `deadly` some functions die before one. A step whose function died is run again, as the state machine does.
 */
class Course {
  readonly finished: string[] = [];
  readonly route: RouteUnderTest;
  private readonly random: () => number;
  private readonly deadly: number;
  private readonly maxRunning: number;
  private held: (() => void)[] = [];
  private readonly working = new Set<string>();

  constructor(seed: number, maxRunning: number, deadly: number) {
    this.random = randomOf(seed);
    this.maxRunning = maxRunning;
    this.deadly = deadly;
    this.route = new RouteUnderTest({ maxRunning });
    memory.beforeCall = () => this.pass();
  }

  async run(ids: readonly string[]): Promise<void> {
    let open = true;
    const requests = Promise.all(ids.map((id) => this.request(id)));
    const loop = this.tickWhile(() => this.finished.length < ids.length);
    const ended = Promise.all([requests, loop]).finally(() => {
      open = false;
    });
    for (let round = 0; open; round++) {
      if (round > 50_000) throw new Error(`Left: ${ids.filter((id) => !this.finished.includes(id))}`);
      await new Promise(setImmediate);
      if (this.held.length > 0) this.serveOne();
    }
    await ended;
  }

  /** The control loop, whose runs may die like any function. */
  private async tickWhile(isOpen: () => boolean): Promise<void> {
    for (let tick = 0; isOpen(); tick++) {
      await new Promise(setImmediate);
      try {
        await this.route.tick(tick);
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
      this.route.clock.advance(2);
    }
  }

  /** One call is served at a time, whichever. */
  private pass(): Promise<void> {
    this.check();
    return new Promise((resolve, reject) => {
      const dies = this.random() < this.deadly;
      this.held.push(() => (dies ? reject(new Death()) : resolve()));
    });
  }

  private serveOne(): void {
    const index = Math.floor(this.random() * this.held.length);
    const [serve] = this.held.splice(index, 1);
    serve?.();
  }

  private check(): void {
    const item = memory.get(routeLimitKey(this.route.limit.name)) ?? {};
    const permits = Object.keys(item).filter((name) => name.startsWith('permit#'));
    const isSound =
      (item.used ?? 0) === permits.length &&
      permits.length <= this.maxRunning &&
      [...this.working].every((id) => permits.includes(`permit#${id}`));
    // Not by `expect`: this runs before every call.
    if (!isSound) throw new Error(`Working: ${[...this.working]}; limit: ${JSON.stringify(item)}`);
  }

  /** Runs a step until its function lives through it. */
  private async step<T>(run: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Death)) throw error;
      }
    }
  }

  private async request(id: string): Promise<void> {
    for (let entry = 0; (await this.step(() => this.route.take(id))) === 'refused'; entry++) {
      await this.step(() => this.route.wait(id, { entry }));
      while (!this.route.gone.has(`${id}/${entry}`)) await new Promise(setImmediate);
    }
    this.working.add(id);
    for (let turns = Math.floor(this.random() * 20); turns > 0; turns--) await new Promise(setImmediate);
    this.working.delete(id);
    memory.patch(requestKey(id), { status: 'failed' });
    await this.step(() => this.route.leave(id));
    this.finished.push(id);
  }
}

/** Courses of each test. */
const SEEDS = 8;
const REQUESTS = ['a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'b1', 'b2', 'b3', 'c1', 'c2', 'd1'];

describe('with all calls in any order', () => {
  test.each([
    ['no function dies', 0],
    ['functions die', 0.05],
  ])('and when %s, every request gets its permit, never too many, and none is left', async (_, deadly) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      memory.reset();
      const maxRunning = 1 + (seed % 3);
      await withLimits({ maxRunning }, async () => {
        const course = new Course(seed, maxRunning, deadly);
        await course.run(REQUESTS);
        expect(course.finished.toSorted()).toEqual(REQUESTS);
        // One is woken for each permit that frees.
        if (deadly === 0) expect(course.route.woken).toEqual([...new Set(course.route.woken)]);
        memory.beforeCall = () => undefined;
        for (let tick = 0; tick < 3; tick++) await course.route.tick(tick);
        expect(await course.route.state()).toMatchObject({ used: 0, queued: undefined });
        expect(course.route.queue()).toEqual([]);
      });
    }
  });
});
