import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { DescribeExecutionCommand, type ExecutionStatus, paginateListExecutions } from '@aws-sdk/client-sfn';
import { type Command, CommanderError, InvalidArgumentError } from 'commander';
import { claimForRemoval } from '../../core/end-users/removals.ts';
import { requiredEnv } from '../../core/environment.ts';
import { SETTLED_ERRORS } from '../../core/executions/execution-statuses.ts';
import { stepFunctions } from '../../core/executions/executions.ts';
import { listModelRoutes, routesOf } from '../../core/provider-calls/model-routes.ts';
import { callbackUrl } from '../../core/provider-calls/provider-urls.ts';
import { findRequest } from '../../core/requests/requests.ts';
import { seconds, text } from '../options.ts';
import { plainCommand } from '../plain-command.ts';
import { createProgress } from '../progress.ts';
import { describeFailure } from '../smoke/check.ts';
import { createCaller } from '../smoke/http.ts';
import { createOperator } from '../smoke/operator.ts';
import { reportOf } from '../smoke/program.ts';
import type { StoppableStreams } from '../stoppable-program.ts';
import { connect, stackExists, TargetError } from '../target.ts';
import { pickModels } from './models.ts';
import { type RehearsalStage, rehearse } from './rehearse.ts';
import { releaseCommit } from './release-commits.ts';
import { createReleases, type RehearsalContext } from './releases.ts';
import { MAX_RUNNING } from './work.ts';

interface GivenOptions {
  from: string;
  endpoint?: string;
  stack: string;
  work: number;
  patience: number;
}

const httpUrl = (value: string): string => {
  if (['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')) return value;
  throw new InvalidArgumentError('It must be a URL.');
};

/** Longest that the deployed sandbox holds a call. */
const MAX_WORK_SECONDS = 270;
const workSeconds = (value: string): number => {
  const number = seconds(value);
  if (number >= 5 && number <= MAX_WORK_SECONDS) return number;
  throw new InvalidArgumentError(`It must be 5s to ${MAX_WORK_SECONDS}s.`);
};

const createCommand = ({ out, err }: StoppableStreams): Command =>
  plainCommand(
    'rehearse:upgrade',
    'Deploys a release with stand-ins for the providers as a stack of its own, starts requests of each kind, deploys these sources over it, goes back, and destroys the stack.',
    { writeOut: out, writeErr: err },
  )
    .requiredOption('--from <release>', 'the version, tag or commit to upgrade from', text)
    .option('--endpoint <url>', "address of all AWS services, in place of AWS's own", httpUrl)
    .option('--stack <name>', 'name of the stack, which must not exist', text, 'UpgradeRehearsal')
    .option(
      '--work <time>',
      'how long slow requests last: longer than a deployment takes',
      workSeconds,
      MAX_WORK_SECONDS,
    )
    .option('--patience <time>', 'longest wait for one thing: 90s, 10m', seconds, 20 * 60)
    .exitOverride();

/** Runs the rehearsal and returns its exit status: 0, 1 when something was lost or failed, 2 on bad usage. Never rejects. */
export const main = async (args: readonly string[], streams: StoppableStreams): Promise<0 | 1 | 2> => {
  try {
    const given = createCommand(streams).parse(args, { from: 'user' }).opts<GivenOptions>();
    return await rehearsal(given, streams);
  } catch (error) {
    // Commander has already printed the error or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    streams.err(`${error instanceof TargetError ? error.message : describeFailure(error)}\n`);
    return 1;
  }
};

/**
 * Work is held back so that the deployment finds it: a route takes two videos, a provider that calls back is not queried, and a refused
 * webhook is sent again every half minute.
 */
const contextFor = (stackName: string): RehearsalContext => ({
  stackName,
  providers: 'sandbox',
  removalPolicy: 'destroy',
  maxRunning: String(MAX_RUNNING),
  callbackWaitSeconds: '3600',
  webhookRetrySeconds: Array.from({ length: 20 }, () => '30').join(','),
});

const rehearsal = async (given: GivenOptions, { out, err, signal, columns }: StoppableStreams) => {
  if (given.endpoint !== undefined) process.env.AWS_ENDPOINT_URL = given.endpoint;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  if (await stackExists(given.stack)) {
    throw new TargetError(`Stack ${given.stack} exists. The rehearsal makes its own, and destroys it.`);
  }
  const commit = releaseCommit(root, given.from);
  const folder = await mkdtemp(join(tmpdir(), 'upgrade-'));
  err(`What the tools print is in ${join(folder, 'log.txt')}.\n`);
  const results = await rehearse({
    releases: createReleases(root, folder, contextFor(given.stack)),
    tag: commit,
    open: () => openStage(given, signal),
    progress: createProgress((line) => err(`${line}\n`)),
    now: () => new Date(),
  });
  out(`${reportOf(results, columns)}\n`);
  return results.some(({ result }) => result === 'failed') ? 1 : 0;
};

/** Far more than the work costs, and calls enough for it. */
const MONEY_THOUSANDTHS = 10_000_000;
const LIMITS = { requestsPerSecond: 100, burst: 200 };

const openStage = async (given: GivenOptions, signal: AbortSignal): Promise<RehearsalStage> => {
  const { outputs, sandboxUrl } = await connect({ stack: given.stack });
  const { BaseUrl: baseUrl, CallbackSecretName: callbackSecret } = outputs;
  if (baseUrl === undefined || callbackSecret === undefined || sandboxUrl === undefined) {
    throw new TargetError(`Stack ${given.stack} lacks an output.`);
  }
  process.env.CALLBACK_SECRET_ARN = callbackSecret;
  const models = pickModels(listModelRoutes());
  const operator = createOperator();
  const accountId = await operator.createAccount();
  const key = await operator.createKey(accountId, LIMITS);
  await operator.topUp(accountId, MONEY_THOUSANDTHS);
  return {
    caller: createCaller(baseUrl, signal),
    key,
    sandboxUrl,
    models,
    workSeconds: given.work,
    patienceSeconds: given.patience,
    pause: (milliseconds) => wait(milliseconds, undefined, { signal }),
    async stored(requestId) {
      const request = await findRequest(requestId);
      return (
        request && { status: request.status, webhookAttempts: await operator.webhookAttempts(requestId) }
      );
    },
    async beginDeletion(email) {
      const removal = await claimForRemoval({ accountId, email }, new Date());
      if (!removal) throw new Error(`${email} has unfinished requests.`);
    },
    async callbackPath(requestId) {
      const [{ provider } = {}] = routesOf(models.calledBackVideo);
      if (provider === undefined) throw new Error(`There is no route to ${models.calledBackVideo}.`);
      return (await callbackUrl(provider, requestId)).slice(baseUrl.length);
    },
    async ledgerProblems() {
      const { problems } = await operator.verifyLedger(accountId);
      return problems.map((problem) => JSON.stringify(problem));
    },
    failedExecutions: () =>
      executionsThatEnded(
        ['GENERATION_STATE_MACHINE_ARN', 'EXPIRY_STATE_MACHINE_ARN'],
        ['FAILED', 'TIMED_OUT', 'ABORTED'],
      ),
  };
};

const executionsThatEnded = async (
  machines: readonly ('GENERATION_STATE_MACHINE_ARN' | 'EXPIRY_STATE_MACHINE_ARN')[],
  statuses: readonly ExecutionStatus[],
): Promise<string[]> => {
  const found: string[] = [];
  for (const machine of machines) {
    for (const statusFilter of statuses) {
      const query = { stateMachineArn: requiredEnv(machine), statusFilter };
      for await (const { executions = [] } of paginateListExecutions({ client: stepFunctions }, query)) {
        for (const { name, status, executionArn } of executions) {
          const { error = '' } = await stepFunctions.send(new DescribeExecutionCommand({ executionArn }));
          // The execution of a refused request fails with the request.
          if (!SETTLED_ERRORS.includes(error)) found.push(`${name} ${status}.`);
        }
      }
    }
  }
  return found;
};
