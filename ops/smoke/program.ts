import { setTimeout as wait } from 'node:timers/promises';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { hintFor } from '../hints.ts';
import { seconds, text } from '../options.ts';
import { formatTable } from '../output.ts';
import { plainCommand } from '../plain-command.ts';
import { createProgress } from '../progress.ts';
import type { StoppableStreams } from '../stoppable-program.ts';
import {
  connect,
  DEFAULT_DATA_DIRECTORY,
  DEFAULT_STACK,
  type Target,
  TargetError,
  type TargetOptions,
} from '../target.ts';
import { createAwsAccount } from './aws-account.ts';
import type { CheckResult } from './check.ts';
import { createCaller } from './http.ts';
import { createOperator } from './operator.ts';
import { runSmoke } from './run-smoke.ts';
import type { SmokeOptions } from './smoke.ts';

interface GivenOptions extends TargetOptions {
  webhookUrl?: string;
  minConcurrency: number;
  patience: number;
  metricPatience: number;
}

const httpsUrl = (value: string): string => {
  if (URL.parse(value)?.protocol === 'https:') return value;
  throw new InvalidArgumentError('It must be an https URL.');
};

const wholeNumber = (value: string): number => {
  if (/^\d{1,6}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('It must be a whole number.');
};

const createCommand = ({ out, err }: StoppableStreams): Command =>
  plainCommand(
    'smoke',
    'Proves that a deployed stack, or the local run, works: an image and a video through the whole service.',
    { writeOut: out, writeErr: err },
  )
    .option('--data-dir <path>', `data directory of the local run (default: ${DEFAULT_DATA_DIRECTORY})`, text)
    .option(
      '--stack <name>',
      `the deployed stack, by the usual AWS credentials (default: ${DEFAULT_STACK}, when no local run is up)`,
      text,
    )
    .option('--region <name>', 'the region of the stack (default: that of the AWS settings)', text)
    .option(
      '--webhook-url <url>',
      'where the webhook goes; answers it with 2xx (default: the sandbox, where there is one)',
      httpsUrl,
    )
    .option('--min-concurrency <number>', 'smallest quota of Lambda that is enough', wholeNumber, 100)
    .option(
      '--patience <time>',
      'longest wait for the image and for the video, each: 90s, 10m',
      seconds,
      20 * 60,
    )
    .option('--metric-patience <time>', "longest wait for the alarms' metric", seconds, 15 * 60)
    .exitOverride();

/** Runs the smoke test and returns its exit status: 0, 1 when a check failed, 2 on bad usage. Never rejects. */
export const main = async (args: readonly string[], streams: StoppableStreams): Promise<0 | 1 | 2> => {
  try {
    const command = createCommand(streams).parse(args, { from: 'user' });
    const { dataDir, stack, region, ...options } = command.opts<GivenOptions>();
    const target = await connect({
      ...(dataDir !== undefined && { dataDir }),
      ...(stack !== undefined && { stack }),
      ...(region !== undefined && { region }),
    });
    return await smokeTest(target, options, streams);
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const isExpected = error instanceof TargetError;
    streams.err(isExpected ? `${error.message}\n${hintFor(error)}\n` : `${error}\n`);
    return 1;
  }
};

const smokeTest = async (
  target: Target,
  given: Omit<GivenOptions, keyof TargetOptions>,
  { out, err, signal, columns }: StoppableStreams,
): Promise<0 | 1> => {
  const { BaseUrl: baseUrl, AlarmTopicArn: topicArn } = target.outputs;
  if (baseUrl === undefined) throw new TargetError('The service has no output BaseUrl.');
  const isDeployed = target.stackName !== undefined;
  if (isDeployed && !baseUrl.startsWith('https:')) throw new TargetError(`${baseUrl} is no https URL.`);
  if (isDeployed && topicArn === undefined) {
    throw new TargetError(
      `Stack ${target.stackName} has no output AlarmTopicArn: deploy this version first.`,
    );
  }
  const receiver = target.sandboxUrl && `${target.sandboxUrl}/sandbox/webhooks`;
  const options: SmokeOptions = {
    webhookUrl: given.webhookUrl ?? receiver,
    minConcurrency: given.minConcurrency,
    waitingInAll: Number(target.outputs.OpenaiWaitingInAll) || undefined,
    patienceSeconds: given.patience,
    metricPatienceSeconds: given.metricPatience,
  };
  const progress = createProgress((line) => err(`${line}\n`));
  const results = await runSmoke(
    {
      caller: createCaller(baseUrl, signal),
      operator: createOperator(),
      aws: isDeployed && topicArn !== undefined ? createAwsAccount(topicArn) : undefined,
      options,
      made: {},
      signal,
      say: () => undefined,
      pause: (milliseconds) => wait(milliseconds, undefined, { signal }),
    },
    progress,
  );
  progress.stop();
  out(`${reportOf(results, columns)}\n`);
  return results.some(({ result }) => result === 'failed') ? 1 : 0;
};

/** The table of all checks, then a sentence for each that failed. */
export const reportOf = (results: readonly CheckResult[], columns?: number): string => {
  const rows = results.map(({ name, result, detail, seconds }) => [name, result, seconds, detail]);
  const table = formatTable(['check', 'result', 'seconds', 'detail'], rows, columns);
  const failed = results.filter(({ result }) => result === 'failed');
  const skipped = results.filter(({ result }) => result === 'skipped').length;
  const passed = results.length - failed.length - skipped;
  const sum = `${passed} passed, ${failed.length} failed, ${skipped} skipped.`;
  return [table, sum, ...failed.map(({ name, detail }) => `FAILED ${name}: ${detail}`)].join('\n\n');
};
