import { InvalidArgumentError } from 'commander';
import { keepCompiledCode } from '../../ops/compiled-code.ts';
import { plainCommand, positiveNumber, wholeNumber } from '../../ops/plain-command.ts';
import { loadSimulation } from './start.ts';

interface Options {
  runs: number;
  seed?: number;
  only?: number;
  from?: number;
  mutation?: string;
  trace?: true;
  survey?: true;
  shrink: boolean;
}

const instant = (value: string): number => {
  const milliseconds = Date.parse(value);
  if (Number.isFinite(milliseconds)) return milliseconds;
  throw new InvalidArgumentError('It must be a time like 2026-11-23T22:15:00Z.');
};

keepCompiledCode();
// Read before the simulation replaces clock, timers and randomness of this process.
const values = plainCommand('simulate', 'Plays random scenarios of the service in virtual time, with faults.')
  .option('--runs <number>', 'how many scenarios', positiveNumber, 2000)
  .option('--seed <number>', 'of the scenarios; any without', wholeNumber)
  .option('--only <number>', 'only this run of them', wholeNumber)
  .option('--from <time>', 'when that run began among the others, on which jitter depends', instant)
  .option('--mutation <name>', 'with this bug planted')
  .option('--trace', 'print everything that happened in a failing scenario')
  .option('--survey', 'go on after a failure, and count each broken rule')
  .option('--no-shrink', 'leave a failing scenario as it is')
  .parse()
  .opts<Options>();

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/** `npm run simulate`: exit status 1 with the smallest scenario that breaks a rule. */
const main = async (): Promise<void> => {
  const { runs, seed = Math.floor(Math.random() * 0x7fff_ffff) } = values;
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
  const { deployment, simulate, failureText, MUTATIONS } = await loadSimulation();
  const bug = values.mutation;
  if (bug !== undefined && !Object.hasOwn(MUTATIONS, bug)) {
    console.error(`error: there is no mutation ${bug}: ${Object.keys(MUTATIONS).join(', ')}`);
    process.exitCode = 1;
    return;
  }
  say(`${runs} runs with seed ${seed}; loaded after ${seconds()} s`);

  const result = await simulate(deployment, {
    runs,
    seed,
    only: values.only,
    startsAt: values.from,
    mutation: bug === undefined ? undefined : MUTATIONS[bug as keyof typeof MUTATIONS],
    shrinks: values.shrink,
    survey: values.survey === true,
    progress: (done) => {
      if (done % 500 === 0) say(`${done} runs after ${seconds()} s`);
    },
  });
  const { requests, faultsMet, outagesMet, ofSeveralReleases } = result.totals;
  say(
    `${result.runs} runs, ${requests} requests, ${faultsMet} faults met, ${outagesMet} calls in an outage, ${ofSeveralReleases} runs with definitions of several releases at once, ${seconds()} s`,
  );
  for (const [rule, { runs: times, example }] of result.totals.broken) {
    say(`${times} runs broke [${rule}].${values.survey ? ` The first:\n${example}\n` : ''}`);
  }
  if (!result.failure) return;
  say(failureText(result.failure));
  if (values.trace) say(result.failure.trace.join('\n'));
  const { run, startsAt } = result.failure;
  const again = `--seed ${seed} --only ${run} --from ${new Date(startsAt).toISOString()}`;
  say(`Again: npm run simulate -- ${again} --no-shrink, with --trace for everything that happened.`);
  process.exitCode = 1;
};

await main();
