import { type Command, Option } from 'commander';
import { requiredEnv } from '../../core/environment.ts';
import { stopRunningExecutions, waitForExecutions } from '../../core/executions/stop-executions.ts';
import { type FailedRequests, failUnfinishedRequests } from '../fail-by-operator.ts';
import { text } from '../options.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** State machines by name, those first that start executions of the others. */
const MACHINES = {
  generation: 'GENERATION_STATE_MACHINE_ARN',
  expiry: 'EXPIRY_STATE_MACHINE_ARN',
  'verify-ledgers': 'VERIFY_LEDGERS_STATE_MACHINE_ARN',
  'webhook-delivery': 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN',
} as const;
type MachineName = keyof typeof MACHINES;

/** How long one command goes on. */
const MAX_MS = 60 * 60_000;

/** How long deliveries of webhooks that this command started go on: one attempt takes up to 15 s. */
const DELIVERY_SECONDS = 30;

/** `executions stop-all` */
export const addExecutionVerbs = (executions: Command, perform: Perform): void => {
  executions
    .command('stop-all')
    .description(
      'fail and refund every unfinished request, then stop every execution. Prints the number of executions that it stopped',
    )
    .addOption(
      new Option('--state-machine <name>', 'stop only those of this one; requests are failed for generation')
        .choices(Object.keys(MACHINES))
        .argParser(text),
    )
    .option('--yes', 'do it')
    .action(perform(stopAll));
};

const stopAll: Verb<{ stateMachine?: string; yes?: true }> = async (
  { stateMachine, yes },
  connected,
  { say, recorder },
) => {
  const names = (Object.keys(MACHINES) as MachineName[]).filter(
    (name) => stateMachine === undefined || name === stateMachine,
  );
  if (names.length === 0) throw new UsageError(`There is no state machine ${stateMachine}.`);
  if (!yes) throw new UsageError(`${intentionOf(stateMachine)} Give --yes to do it.`);
  await connected();
  const { write, put } = await recorder();
  const stopAtMs = Date.now() + MAX_MS;
  const isTime = (): boolean => Date.now() < stopAtMs;

  const { failed, problems }: FailedRequests = names.includes('generation')
    ? await failUnfinishedRequests(isTime, write, (count) => say(`${count} requests failed and refunded`))
    : { failed: 0, problems: [] };
  let stopped = 0;
  const running: string[] = [];
  for (const name of names) {
    say(`stopping executions of ${name}`);
    const stateMachineArn = requiredEnv(MACHINES[name]);
    if (name === 'webhook-delivery' && failed > 0) await waitForExecutions(stateMachineArn, DELIVERY_SECONDS);
    const report = await stopRunningExecutions(stateMachineArn, isTime);
    stopped += report.stopped;
    if (report.areLeft) running.push(name);
  }

  await put({ detail: `${counted(failed, 'request')} failed, ${counted(stopped, 'execution')} stopped` });
  const left = [
    ...problems
      .slice(0, 1)
      .map(
        ({ requestId, reason }) =>
          `${counted(problems.length, 'request')} could not be failed, ${requestId} first: ${reason.message}`,
      ),
    ...(running.length > 0 ? [`Executions still run: ${running.join(', ')}.`] : []),
  ];
  return {
    value: { stopped },
    text: `Failed and refunded: ${counted(failed, 'request')}. Stopped: ${counted(stopped, 'execution')}.`,
    ...(left.length > 0 && { failure: [...left, 'Repeat the command.'].join(' ') }),
  };
};

const intentionOf = (stateMachine: string | undefined): string => {
  const executions = `every execution${stateMachine === undefined ? '' : ` of the state machine ${stateMachine}`}`;
  return stateMachine === undefined || stateMachine === 'generation'
    ? `This fails and refunds every unfinished request, then stops ${executions}.`
    : `This stops ${executions}.`;
};

const counted = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
