import { parseArgs } from 'node:util';
import { loadSimulation } from './start.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    seed: { type: 'string' },
    only: { type: 'string' },
    from: { type: 'string' },
    mutation: { type: 'string' },
    trace: { type: 'boolean', default: false },
    survey: { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
  },
});

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

/**
 * `npm run simulate -- --runs N --seed S`: exit status 1 with the smallest scenario that breaks a rule. `--only N` does
 * the N-th of the runs and no other; `--from INSTANT` lets it begin when it began among the others, on which jitter depends.
 */
const main = async (): Promise<void> => {
  const runs = Number(values.runs);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 0x7fff_ffff) : Number(values.seed);
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1000).toFixed(1);
  const { deployment, simulate, failureText, MUTATIONS } = await loadSimulation();
  const bug = values.mutation;
  if (bug !== undefined && !Object.hasOwn(MUTATIONS, bug)) throw new Error(`There is no mutation ${bug}.`);
  say(`${runs} runs with seed ${seed}; loaded after ${seconds()} s`);

  const result = await simulate(deployment, {
    runs,
    seed,
    only: values.only === undefined ? undefined : Number(values.only),
    startsAt: values.from === undefined ? undefined : Date.parse(values.from),
    mutation: bug === undefined ? undefined : MUTATIONS[bug as keyof typeof MUTATIONS],
    shrinks: !values['no-shrink'],
    survey: values.survey,
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
