import { clearCaches } from '@aws-lambda-powertools/parameters';
import { deliveryProblems } from '../rules/delivery-rules.ts';
import { answerProblems, storeProblems } from '../rules/rest-rules.ts';
import { MODELS, type ModelName, type Step, stepText } from '../stimuli/actions.ts';
import { LAST_USER } from '../stimuli/creations.ts';
import { openAccounts, verifiedProblems, watchBalances } from '../stimuli/operators.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { enter } from '../world/current.ts';
import { beginBeforeUpgrades, resetDeployment, restoreModels } from '../world/deployments.ts';
import type { PlannedFault } from '../world/engine/faults.ts';
import { setTime } from '../world/engine/globals.ts';
import { outageText, type PlannedOutage } from '../world/engine/outages.ts';
import { RECEIVERS } from '../world/upstream/receivers.ts';
import { CALLBACKS } from '../world/upstream/wire-formats.ts';
import { type Mutation, World } from '../world/world.ts';
import { Simulation } from './simulation.ts';

/** What decides a run, to the last bit. */
export interface Scenario {
  seed: number;
  faults: readonly PlannedFault[];
  outages: readonly PlannedOutage[];
  steps: readonly Step[];
}

/** What a run came to. */
export interface Outcome {
  problems: string[];
  trace: readonly string[];
  requests: number;
  faultsMet: number;
  outagesMet: number;
  /** The most releases whose definitions executions ran on at once. */
  releasesAtOnce: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The longest that anything unfinished may take: the time limit of an execution, and a while for the reconciler. */
const REST_MS = 3 * HOUR_MS;
/** After this every file's time is over and every try of a webhook was made: 75 h with jitter. */
const AFTERMATH_MS = 5 * DAY_MS;
/** How long a request is kept after its files' time is over, and then some. */
const RETENTION_MS = 92 * DAY_MS;
/** What is kept for operators outlives a record: 100 days from its beginning. */
const ATTEMPT_RETENTION_MS = 15 * DAY_MS;

/** A run begins at a midnight after every time that an earlier run remembers: no cache outlives its run. */
const FIRST_START = Date.parse('2026-01-01T00:00:00.000Z');
let nextStart = FIRST_START;
/** Before years have five digits and text order is no longer time order. */
const LAST_START = Date.parse('9000-01-01T00:00:00.000Z');

/** Lets the next run begin at the given epoch milliseconds, the start of the run that it repeats in a new process. */
export const beginNextAt = (startsAt: number): void => {
  nextStart = startsAt;
};

/** One run in so many begins before upgrades. */
const UPGRADED_SHARE = 8;

export interface RunOptions {
  mutation?: Mutation | undefined;
  traced?: boolean | undefined;
  /** Whether nothing fails it on the way. */
  lenient?: boolean | undefined;
}

/** One run of the whole service in a world of its own. */
export class Run {
  readonly simulation: Simulation;
  /** The steps that were taken, in order. */
  readonly taken: Step[] = [];
  /** When it begins, in epoch milliseconds. */
  readonly startsAt = nextStart;
  private readonly world: World;
  private readonly seed: number;
  private readonly options: RunOptions;

  constructor(deployment: Deployment, scenario: Omit<Scenario, 'steps'>, options: RunOptions = {}) {
    this.options = options;
    this.seed = scenario.seed;
    this.world = new World({ ...scenario, ...options, startsAt: this.startsAt, deployment });
    this.simulation = new Simulation(this.world);
  }

  /** Makes this run's time that of the process, and opens its accounts. */
  async begin(): Promise<void> {
    clearCaches();
    resetDeployment(this.seed);
    enter(this.world);
    setTime(this.world);
    if (this.seed % UPGRADED_SHARE === 0) beginBeforeUpgrades(this.world);
    await this.passing(() => openAccounts(this.simulation));
    await this.passing(() => watchBalances(this.simulation));
    // A deployment has its first run of the loop before its first call: that names the function that a waiting request starts.
    await this.passing(() => this.simulation.schedule.runNow());
    this.world.faults.enabled = true;
    this.world.outages.begin();
  }

  /** Does a step and lets its time pass. */
  async step(step: Step): Promise<void> {
    const { action, waitMs } = step;
    this.taken.push(step);
    this.simulation.begin(action);
    await this.world.scheduler.advance(waitMs);
  }

  /** Lets everything come to its end, without further faults, and reports what is wrong on the way. */
  async end(): Promise<Outcome> {
    const { world, simulation } = this;
    world.faults.enabled = false;
    world.stepFunctions.forgetEntries();
    if (!this.hasFailed()) await this.rest();
    return {
      problems: this.problems(),
      trace: world.trace,
      requests: simulation.witness.lives.size,
      faultsMet: world.faults.met,
      releasesAtOnce: world.stepFunctions.releasesAtOnce,
      outagesMet: world.outages.met,
    };
  }

  /** Gives the process its own time back. */
  close(): void {
    const next = Math.ceil((this.world.scheduler.now + DAY_MS) / DAY_MS) * DAY_MS;
    nextStart = next > LAST_START ? FIRST_START : next;
    setTime(undefined);
    enter(undefined);
  }

  /** What was found wrong so far. */
  problems(): string[] {
    return [...this.world.problems, ...this.simulation.verification.problems()];
  }

  /** Whether that fails it. */
  hasFailed(): boolean {
    return !this.options.lenient && this.problems().length > 0;
  }

  /** Judges what is left once everything has come to its end, once files have expired, and once records are gone. */
  private async rest(): Promise<void> {
    const { outages, random, scheduler, stepFunctions, table } = this.world;
    const { simulation } = this;
    await scheduler.advance(Math.max(0, outages.endsAt - scheduler.now));
    await this.unblockAll();
    await this.liftKeyBudgets();
    await this.passing(() => restoreModels(simulation));
    simulation.isPatient = true;
    const isAtRest = (): boolean =>
      simulation.isIdle &&
      simulation.witness.open().length === 0 &&
      stepFunctions.running().every(({ machine }) => machine !== 'generation');
    await scheduler.advanceUntil(isAtRest, REST_MS);
    // What follows an end is started after it, and the indexes follow later.
    await scheduler.advance(5 * 60_000);
    await this.serveOnceMore(isAtRest, random.pick(MODELS));
    for (const wait of [0, AFTERMATH_MS, RETENTION_MS]) {
      await scheduler.advance(wait);
      this.report(storeProblems(simulation));
      this.report(simulation.budgets.countProblems());
      this.report(simulation.availability.problems());
      this.report(await this.answers(wait !== AFTERMATH_MS));
      this.report((await this.passing(() => simulation.verification.complete())) ?? []);
      if (wait === AFTERMATH_MS) this.report(deliveryProblems(simulation));
      if (this.hasFailed()) return;
    }
    // Nothing has swept what is past its retention: it stands behind a new request in the lists.
    await this.serveOnceMore(isAtRest, 'xZI1.0Pro');
    this.report(await this.answers(true));
    if (this.hasFailed()) return;
    await scheduler.advance(RETENTION_MS + ATTEMPT_RETENTION_MS);
    table.sweep();
    for (const { PK, SK } of table.items.values()) {
      if (/^(REQUEST|ATTEMPT#|WAIT|PAUSE#|WEBHOOK|BALANCE_EVENT#|DELETED$)/.test(String(SK)))
        this.world.report(`${PK} ${SK} is kept for ever`);
    }
  }

  private report(problems: readonly string[]): void {
    for (const problem of problems) this.world.report(problem);
  }

  /** Lets all that was begun come to its end. */
  private async idle(): Promise<void> {
    await this.world.scheduler.advanceUntil(() => this.simulation.isIdle, REST_MS);
  }

  /** An operator whose command meets another write gives it again. */
  private async unblockAll(): Promise<void> {
    const { scheduler } = this.world;
    // What was begun may block again: it comes to its end first.
    await this.idle();
    const isBlocked = (): boolean => this.world.accounts().some(({ blockedAt }) => blockedAt !== undefined);
    do {
      for (const account of this.simulation.callers.keys())
        this.simulation.begin({ do: 'unblock-account', account });
      await scheduler.advance(1_000);
    } while (isBlocked());
  }

  /** A key's budget may not stand in the way of what is served at rest. */
  private async liftKeyBudgets(): Promise<void> {
    for (const account of this.simulation.callers.keys())
      this.simulation.begin({ do: 'set-key-budget', account, perDay: null, perMonth: null });
    await this.idle();
  }

  /** Whatever went wrong before it: once everything is at rest, a new end-user of a caller who pays is served. */
  private async serveOnceMore(isAtRest: () => boolean, model: ModelName): Promise<void> {
    const { scheduler, random } = this.world;
    const { simulation } = this;
    const account = random.whole(0, simulation.callers.length - 1);
    simulation.begin({ do: 'top-up', account, amount: 200, repeats: 0 });
    await this.idle();
    simulation.begin({
      ...{ do: 'create', account, user: LAST_USER, model, outputs: 2 },
      behaviour: random.pick(['works', 'instant']),
      callback: random.pick(CALLBACKS),
      webhook: random.pick(RECEIVERS),
      ...{ key: undefined, repeats: 0, atOnce: 1 },
    });
    await scheduler.advanceUntil(isAtRest, REST_MS);
    // The indexes follow.
    await scheduler.advance(60_000);
    simulation.creations.judgeServed();
  }

  private async answers(withLists: boolean): Promise<string[]> {
    const { simulation } = this;
    const found = await this.passing(() =>
      Promise.all([answerProblems(simulation, withLists), verifiedProblems(simulation)]),
    );
    return found?.flat() ?? ['the last reads were not answered'];
  }

  /** Lets time pass until something is done; undefined when it failed, or takes more than an hour. */
  private async passing<T>(act: () => Promise<T>): Promise<T | undefined> {
    let done: { result: T } | undefined;
    act().then(
      (result) => {
        done = { result };
      },
      (error: unknown) => this.world.break(error),
    );
    await this.world.scheduler.advanceUntil(() => done !== undefined, HOUR_MS);
    return done?.result;
  }
}

/** Runs a scenario from its beginning to its end. */
export const runScenario = async (
  deployment: Deployment,
  scenario: Scenario,
  options: RunOptions = {},
): Promise<Outcome> => {
  const run = new Run(deployment, scenario, options);
  try {
    await run.begin();
    for (const step of scenario.steps) await run.step(step);
    return await run.end();
  } finally {
    run.close();
  }
};

/** A scenario as a report shows it. */
export const scenarioText = ({ seed, faults, outages, steps }: Scenario): string =>
  [
    `seed ${seed}`,
    `faults ${faults.map(({ gap, fault }) => `${fault} after ${gap}`).join(', ') || 'none'}`,
    `outages ${outages.map(outageText).join(', ') || 'none'}`,
    ...steps.map((step, index) => `${String(index + 1).padStart(3)}. ${stepText(step)}`),
  ].join('\n');
