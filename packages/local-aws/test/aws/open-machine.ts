import type { CallIntegration } from '../../src/aws/step-functions/integrations.ts';
import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import { systemClock } from '../../src/aws/step-functions/interpreter/clock.ts';
import { openStateMachine } from '../../src/aws/step-functions/state-machine.ts';
import type { HistoryEvent, Outcome } from '../../src/aws/step-functions/types.ts';
import { ACCOUNT, aDirectory, aMachine, eventually, REGION, removeDirectory } from './support.ts';

const directory = aDirectory();
let machines = 0;
const closers: (() => void)[] = [];

/** Opens a machine. By default its tasks return their parameters. */
export const open = (
  definition: object,
  call: CallIntegration = async (_principal, _resource, parameters) => parameters,
) => {
  machines += 1;
  const machine = openStateMachine(aMachine(`machine-${machines}`, definition), {
    place: { region: REGION, accountId: ACCOUNT },
    directory,
    callbacks: new Callbacks(systemClock),
    call,
    announce: () => undefined,
  });
  closers.push(machine.close);
  return machine;
};

/** Runs a definition to its end. */
export const run = async (definition: object, input: unknown = {}) => {
  const machine = open(definition);
  machine.start('one', JSON.stringify(input));
  const stored = await eventually(
    async () => machine.store.read('one'),
    (execution) => execution?.outcome !== undefined,
  );
  const outcome = stored?.outcome as Outcome;
  return {
    ...outcome,
    output: outcome.output === undefined ? undefined : (JSON.parse(outcome.output) as unknown),
    events: (stored?.events ?? []) as HistoryEvent[],
  };
};

/** A definition of one state. */
export const single = (state: object) => ({ StartAt: 'Only', States: { Only: { End: true, ...state } } });
/** A task with these parameters. */
export const task = (Parameters: object, rest: object = {}) => ({
  Type: 'Task',
  Resource: 'arn:aws:states:::lambda:invoke',
  Parameters,
  ...rest,
});

/** Closes every open machine and removes its files. */
export const closeMachines = (): void => {
  for (const close of closers.splice(0)) close();
  removeDirectory(directory);
};
