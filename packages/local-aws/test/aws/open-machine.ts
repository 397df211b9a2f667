import { afterAll } from '@jest/globals';
import type { CallIntegration } from '../../src/aws/step-functions/integrations.ts';
import { Callbacks } from '../../src/aws/step-functions/interpreter/callbacks.ts';
import { openStateMachine } from '../../src/aws/step-functions/state-machine.ts';
import {
  ACCOUNT,
  aDirectory,
  allow,
  aMachine,
  eventually,
  machineArn,
  REGION,
  removeDirectory,
} from './support.ts';

const directory = aDirectory();
let machines = 0;
const closers: (() => void)[] = [];
afterAll(() => {
  for (const close of closers.splice(0)) close();
  removeDirectory(directory);
});

type Machine = ReturnType<typeof openStateMachine>;

/** Opens a machine. By default, the machine may start executions of itself, and tasks return their parameters. */
export const open = (
  definition: object,
  call: CallIntegration = async (_principal, parameters) => parameters,
  { name = `machine-${++machines}`, isAllowed = true } = {},
): Machine => {
  const spec = aMachine(name, definition);
  const statements = isAllowed ? [allow(['states:StartExecution'], machineArn(name))] : [];
  const machine = openStateMachine(
    { ...spec, principal: { ...spec.principal, statements } },
    {
      ...{ place: { region: REGION, accountId: ACCOUNT }, directory, callbacks: new Callbacks() },
      ...{ call, announce: () => undefined },
    },
  );
  closers.push(() => machine.close());
  return machine;
};

/** The execution `one` of a machine, once it has ended. Its output is parsed. */
export const endOf = async (machine: Machine) => {
  const stored = await eventually(
    async () => machine.store.read('one'),
    (execution) => execution?.outcome !== undefined,
  );
  const { output, ...outcome } = stored?.outcome ?? {};
  const events = stored?.events ?? [];
  return { ...outcome, output: output && JSON.parse(output), events, types: events.map(({ type }) => type) };
};

/** Runs a machine to its end. */
export const run = (machine: Machine, input: unknown = {}) => {
  machine.start('one', JSON.stringify(input));
  return endOf(machine);
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
/** A state with catchers. `Done` ends the execution with its input. */
export const caught = (state: object, Catch: object[]) => ({
  StartAt: 'Only',
  States: { Only: { ...state, Catch, Next: 'Done' }, Done: { Type: 'Succeed' } },
});
