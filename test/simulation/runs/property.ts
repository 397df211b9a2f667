import fc from 'fast-check';
import { type Action, type Step, stepText } from '../stimuli/actions.ts';
import { FOCUSES } from '../stimuli/focuses.ts';
import { between, chosenFrom } from '../stimuli/stimuli.ts';
import type { Deployment } from '../world/aws/step-functions.ts';
import { FAULTS, type PlannedFault } from '../world/engine/faults.ts';
import {
  OUTAGE_MODES,
  type PlannedOutage,
  PROVIDER_OUTAGE_MODES,
  PROVIDERS,
  SERVICES,
  type Service,
} from '../world/engine/outages.ts';
import type { Mutation } from '../world/world.ts';
import { beginNextAt, type Outcome, Run, runScenario, type Scenario, scenarioText } from './run.ts';

/** What the next step is chosen by: reads and deletions need something to be about. */
interface Model {
  creations: number;
}

const NEEDS_A_REQUEST = new Set<Action['do']>([
  ...(['read', 'delete', 'intrude', 'bulk-delete'] as const),
  ...(['fail', 'abort', 'abort-in', 'redeliver', 'callback'] as const),
]);

/** One step as a command of fast-check's. */
class StepCommand implements fc.AsyncCommand<Model, Run> {
  readonly step: Step;

  constructor(taken: Step) {
    this.step = taken;
  }

  check({ creations }: Readonly<Model>): boolean {
    return creations > 0 || !NEEDS_A_REQUEST.has(this.step.action.do);
  }

  async run(model: Model, run: Run): Promise<void> {
    if (this.step.action.do === 'create' || this.step.action.do === 'crowd') model.creations++;
    await run.step(this.step);
    if (run.hasFailed()) throw new ProblemsError(run.problems());
  }

  toString(): string {
    return stepText(this.step);
  }
}

/** A rule was broken. */
export class ProblemsError extends Error {
  override name = 'ProblemsError';
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
  }
}

const faultsWith = (gap: fc.Arbitrary<number>): fc.Arbitrary<PlannedFault[]> =>
  fc.array(fc.record({ gap, fault: fc.constantFrom(...FAULTS) }), { maxLength: 12 });

/** Many at once in the first requests, or some all the way: a run makes a few thousand calls. */
const faultPlan: fc.Arbitrary<PlannedFault[]> = fc.oneof(
  faultsWith(chosenFrom([3, fc.nat(12)], [1, fc.nat(60)])),
  faultsWith(fc.nat(400)),
);

/** Seconds to minutes of a service out of order. */
const outageOf = (services: readonly Service[], startMs: fc.Arbitrary<number>): fc.Arbitrary<PlannedOutage> =>
  fc.record({
    service: fc.constantFrom(...services),
    mode: fc.constantFrom(...OUTAGE_MODES),
    startMs,
    lengthMs: fc.oneof(between(500, 15_000), between(15_000, 180_000)),
  });

/** Minutes of a provider that is down, silent, full, slow, or has revoked our credential. */
const providerOutage: fc.Arbitrary<PlannedOutage> = fc.record({
  service: fc.constantFrom(...PROVIDERS),
  mode: fc.constantFrom(...PROVIDER_OUTAGE_MODES),
  startMs: fc.oneof(fc.nat(60_000), fc.nat(600_000)),
  lengthMs: between(60_000, 900_000),
});

/** When files expire, if they were made in the first minutes of a run: 23 h later, as deployed. */
const EXPIRY_MS = 82_800_000;

/** Outages early on, when most happens, or when files expire. Half of the runs have none. */
const outagePlan: fc.Arbitrary<PlannedOutage[]> = fc.oneof(
  fc.constant<PlannedOutage[]>([]),
  fc.array(
    chosenFrom(
      [4, outageOf(SERVICES, fc.oneof(fc.nat(500), fc.nat(60_000)))],
      [1, providerOutage],
      [1, outageOf(['bucket', 'table', 'functions'], between(EXPIRY_MS, EXPIRY_MS + 120_000))],
    ),
    { minLength: 1, maxLength: 2 },
  ),
);

const world = fc.record({
  seed: fc.noShrink(fc.nat(0x7fff_ffff)),
  faults: faultPlan,
  outages: outagePlan,
});
const commandsOf = (step: fc.Arbitrary<Step>) =>
  fc.commands([step.map((taken) => new StepCommand(taken))], { maxCommands: 24, size: 'max' });
const commands = chosenFrom(...FOCUSES.map(([weight, step]) => [weight, commandsOf(step)] as const));

export interface SimulationOptions {
  runs: number;
  seed: number;
  /** The only run to do, from 1, and when it begins, in epoch milliseconds: as it did among the others. */
  only?: number | undefined;
  startsAt?: number | undefined;
  mutation?: Mutation | undefined;
  /** Whether a failure is made smaller. */
  shrinks?: boolean;
  /** Whether it goes on after a failure, and only counts. */
  survey?: boolean;
  /** Told after every run of how many there were. */
  progress?: (runs: number, totals: Totals) => void;
}

/** What all runs came to together. */
export interface Totals {
  requests: number;
  faultsMet: number;
  outagesMet: number;
  /** Runs with executions on the definitions of several releases at once. */
  ofSeveralReleases: number;
  /** How many runs broke each rule, the first seed of one with it. */
  broken: Map<string, { runs: number; example: string }>;
}

/** The smallest failure that was found. */
export interface Failure {
  scenario: Scenario;
  problems: string[];
  /** The run of the first failure, from 1, and when it began, in epoch milliseconds. */
  run: number;
  startsAt: number;
  shrinks: number;
  trace: readonly string[];
}

export interface Result {
  runs: number;
  totals: Totals;
  failure: Failure | undefined;
}

/** Runs scenario after scenario until one fails, and makes that one small. The same options give the same result. */
export const simulate = async (deployment: Deployment, options: SimulationOptions): Promise<Result> => {
  const totals: Totals = {
    requests: 0,
    faultsMet: 0,
    outagesMet: 0,
    ofSeveralReleases: 0,
    broken: new Map(),
  };
  let runs = 0;
  // The last scenario that failed is the smallest: shrinking only goes on from one that fails.
  let failed: Scenario | undefined;
  let firstFailedAt: number | undefined;
  const fail = (scenario: Scenario, { startsAt }: Run): void => {
    failed = scenario;
    firstFailedAt ??= startsAt;
  };
  if (options.startsAt !== undefined) beginNextAt(options.startsAt);
  const property = fc.asyncProperty(world, commands, async (chosen, taken) => {
    const run = new Run(deployment, chosen, { ...options, lenient: options.survey });
    const scenario = { ...chosen, steps: run.taken };
    let outcome: Outcome | undefined;
    try {
      await run.begin();
      await fc.asyncModelRun(() => ({ model: { creations: 0 }, real: run }), taken);
      outcome = await run.end();
    } catch (error) {
      fail(scenario, run);
      throw error;
    } finally {
      run.close();
    }
    runs++;
    totals.requests += outcome.requests;
    totals.faultsMet += outcome.faultsMet;
    totals.outagesMet += outcome.outagesMet;
    if (outcome.releasesAtOnce > 1) totals.ofSeveralReleases += 1;
    options.progress?.(runs, totals);
    const when = `run ${runs}, from ${new Date(run.startsAt).toISOString()}`;
    tally(totals, outcome.problems, `${when}\n${scenarioText(scenario)}`);
    if (!run.hasFailed()) return;
    fail(scenario, run);
    throw new ProblemsError(outcome.problems);
  });
  const checked = await fc.check(property, {
    numRuns: options.only === undefined ? options.runs : 1,
    seed: options.seed,
    path: options.only === undefined ? '' : String(options.only - 1),
    endOnFailure: options.shrinks === false,
  });
  if (!checked.failed) return { runs, totals, failure: undefined };
  if (!failed) throw checked.errorInstance ?? new Error('The runs failed without an example.');
  const scenario = failed;
  const { problems, trace } = await runScenario(deployment, scenario, { ...options, traced: true });
  const isRepeated = checked.errorInstance instanceof ProblemsError && problems.length > 0;
  const reported = isRepeated ? [] : [String(checked.errorInstance)];
  return {
    runs,
    totals,
    failure: {
      scenario,
      problems: [...problems, ...reported],
      run: options.only ?? checked.numRuns,
      startsAt: firstFailedAt ?? 0,
      shrinks: checked.numShrinks,
      trace,
    },
  };
};

/** The name of the rule that a problem breaks, `[name] …`; older rules have none. */
const ruleOf = (problem: string): string => /^\[([^\]]+)\]/.exec(problem)?.[1] ?? 'unnamed';

const tally = ({ broken }: Totals, problems: readonly string[], scenario: string): void => {
  for (const rule of new Set(problems.map(ruleOf))) {
    const example = problems.find((problem) => ruleOf(problem) === rule) ?? '';
    const known = broken.get(rule) ?? { runs: 0, example: `${example}\n${scenario}` };
    broken.set(rule, { ...known, runs: known.runs + 1 });
  }
};

/** A failure as the command line shows it. */
export const failureText = ({ scenario, problems, run, shrinks }: Failure): string =>
  [
    `Run ${run} failed; made smaller ${shrinks} times:`,
    scenarioText(scenario),
    'What is wrong:',
    ...problems.map((problem) => `  ${problem}`),
  ].join('\n');
