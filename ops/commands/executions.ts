import { type Command, Option } from 'commander';
import { requiredEnv } from '../../core/environment.ts';
import { stopRunningExecutions } from '../../core/workflow/stop-executions.ts';
import { text } from '../options.ts';
import { formatTable } from '../output.ts';
import { type Perform, UsageError, type Verb } from '../verb.ts';

/** State machines by name, those first that start executions of the others. */
const MACHINES = {
  generation: 'GENERATION_STATE_MACHINE_ARN',
  'webhook-delivery': 'WEBHOOK_DELIVERY_STATE_MACHINE_ARN',
  expiry: 'EXPIRY_STATE_MACHINE_ARN',
  'verify-ledgers': 'VERIFY_LEDGERS_STATE_MACHINE_ARN',
} as const;
type MachineName = keyof typeof MACHINES;

/** What an operator types so that it does not happen by mistake. */
const CONFIRMATION = 'stop-all';

/** How long one command goes on. */
const MAX_MS = 60 * 60_000;

/** `executions stop-all` */
export const addExecutionVerbs = (executions: Command, perform: Perform): void => {
  executions
    .command('stop-all')
    .description('stop every running execution; unfinished requests are then failed and refunded')
    .addOption(
      new Option('--state-machine <name>', 'only of this one').choices(Object.keys(MACHINES)).argParser(text),
    )
    .requiredOption('--confirm <text>', `the text ${CONFIRMATION}`, text)
    .action(perform(stopAll));
};

const stopAll: Verb<{ stateMachine?: string; confirm: string }> = async (
  { stateMachine, confirm },
  connected,
  { say },
) => {
  const names = (Object.keys(MACHINES) as MachineName[]).filter(
    (name) => stateMachine === undefined || name === stateMachine,
  );
  if (names.length === 0) throw new UsageError(`There is no state machine ${stateMachine}.`);
  if (confirm !== CONFIRMATION) {
    throw new UsageError(`This fails all requests under way. Give --confirm ${CONFIRMATION} to do it.`);
  }
  await connected();
  const stopAtMs = Date.now() + MAX_MS;
  const value: { stateMachine: string; stopped: number; areLeft: boolean }[] = [];
  for (const name of names) {
    say(`stopping those of ${name}`);
    const report = await stopRunningExecutions(requiredEnv(MACHINES[name]), () => Date.now() < stopAtMs);
    value.push({ stateMachine: name, ...report });
  }
  return {
    value,
    text: (columns) =>
      formatTable(
        ['state machine', 'stopped', 'still running'],
        value.map((row) => [row.stateMachine, row.stopped, row.areLeft ? 'yes' : 'no']),
        columns,
      ),
    ...(value.some(({ areLeft }) => areLeft) && {
      failure: 'Some executions still run. Repeat the command.',
    }),
  };
};
