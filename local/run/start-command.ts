import { InvalidArgumentError, Option } from 'commander';
import { plainCommand } from '../../ops/plain-command.ts';
import { onStopSignals } from '../../ops/stop-signals.ts';
import type { LocalRun } from '../run.ts';
import type { Context } from './synthesize.ts';

const port = (text: string): number => {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new InvalidArgumentError('A port is 0 to 65535.');
  return value;
};

const concurrency = (text: string): number => {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new InvalidArgumentError('It is a whole number, at least 1.');
  return Number(text);
};

const addContext = (text: string, context: Context): Context => {
  const separator = text.indexOf('=');
  if (separator < 1) throw new InvalidArgumentError('Context is given as key=value.');
  return { ...context, [text.slice(0, separator)]: text.slice(separator + 1) };
};

interface Options {
  port: number;
  dataDir: string;
  reset: boolean;
  context: Context;
  maxConcurrency?: number;
  plainImages: boolean;
  verbose: boolean;
}

const firstCurl = ({ baseUrl, apiKey }: LocalRun) =>
  [
    `curl -s ${baseUrl}/v1/generations \\`,
    `  -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' \\`,
    `  -d '{"model":"xSD4.5","prompt":"A lighthouse at dawn","endUserEmail":"you@example.com"}'`,
  ].join('\n');

const start = async (options: Options) => {
  const stopping = new AbortController();
  let run: LocalRun | undefined;
  const stop = async () => {
    stopping.abort();
    // Until it is ready, the aborted start stops everything itself.
    if (!run) return;
    try {
      await run.close();
      process.exit(0);
    } catch (error) {
      console.error(error);
      process.exit(1);
    }
  };
  onStopSignals(stop, () => process.exit(1));

  try {
    // Loaded here: help and wrong options need none of the run.
    const { startLocalRun } = await import('../run.ts');
    run = await startLocalRun({
      ...options,
      signal: stopping.signal,
      ...(options.verbose && {
        progress: (step, milliseconds) => console.error(`${step}: ${milliseconds} ms`),
      }),
    });
  } catch (error) {
    if (stopping.signal.aborted) process.exit(0);
    console.error(`The local run did not start: ${error instanceof Error ? error.message : error}`);
    process.exit(1);
  }
  console.log(`Base URL   ${run.baseUrl}\nConsole    ${run.consoleUrl}\nReference  ${run.baseUrl}/docs`);
  console.log(`API key    ${run.apiKey}\n\n${firstCurl(run)}\n`);
  console.log(`ready ${run.baseUrl}`);
};

/** `npm start`. */
export const startCommand = async (): Promise<void> => {
  await plainCommand('start', 'Runs the whole service on this machine, from the stack that deploys.')
    .addOption(new Option('--port <port>', 'port on 127.0.0.1, 0 for any').default(3000).argParser(port))
    .option('--data-dir <folder>', 'where everything is kept', '.local')
    .option('--reset', 'begin with an empty data directory', false)
    .addOption(
      new Option('-c, --context <key=value>', 'CDK context, as for `cdk deploy`')
        .default({})
        .argParser(addContext),
    )
    .addOption(
      new Option('--max-concurrency <number>', 'functions that run at once, as the quota on AWS').argParser(
        concurrency,
      ),
    )
    .option('--plain-images', 'let the sandbox draw images without writing, which is faster', false)
    .option('--verbose', 'say how long each step takes', false)
    .action(start)
    .parseAsync();
};
