import { randomUUID } from 'node:crypto';

import { StateMachine } from 'aws-local-stepfunctions';

import type { StateMachineSpec } from '../../types.ts';
import { executionArn, type Place, roleArn } from '../arn.ts';
import { AwsError } from '../errors.ts';
import { prepareDefinition } from './definition.ts';
import { type RunningExecution, runExecution } from './execution.ts';
import { type ExecutionStore, openExecutionStore } from './execution-store.ts';
import type { CallIntegration } from './integrations.ts';
import type { StatusChange } from './status-change.ts';
import type { TaskTokens } from './task-tokens.ts';
import { nowSeconds, type Outcome } from './types.ts';

/** A state machine that can be started. */
export interface LocalStateMachine {
  spec: StateMachineSpec;
  roleArn: string;
  creationDate: number;
  store: ExecutionStore;
  /**
   * Starts an execution; its start is on disk when this returns. For the name and input of a running one, returns that one. Throws
   * `ExecutionAlreadyExists` for a used name; names never expire.
   */
  start(name: string | undefined, input: string): { executionArn: string; startDate: number };
  running(name: string): RunningExecution | undefined;
  /** How many executions run. */
  openCount(): number;
  /** Restarts executions that an earlier process left running: first state, same name, input and start date, new history. */
  resume(): void;
  close(): void;
}

/** The services of a machine's tasks. */
export interface MachineServices {
  place: Place;
  /** Holds the executions of all machines. */
  directory: string;
  call: CallIntegration;
  tokens: TaskTokens;
  /** Called when an execution has started or ended, once that is on disk. */
  announce(change: StatusChange): void;
}

/** Whether two JSON texts are equal, spacing aside. */
const isSameJson = (left: string, right: string): boolean =>
  left === right || JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));

/** Opens a state machine and its executions. Throws when the definition cannot run locally. */
export const openStateMachine = (spec: StateMachineSpec, services: MachineServices): LocalStateMachine => {
  const { place, directory, call, tokens, announce } = services;
  const prepared = prepareDefinition(spec.name, spec.definition);
  // The prepared definition is not strict ASL.
  const interpreter = new StateMachine(prepared.definition, { validationOptions: { noValidate: true } });
  const store = openExecutionStore(`${directory}/${spec.name}`);
  const running = new Map<string, RunningExecution>();
  const role = roleArn(place, spec.roleName);
  const arnOf = (name: string) => executionArn(place, spec.name, name);

  const announceChange = (name: string, input: string, startDate: number, outcome?: Outcome) =>
    announce({ executionArn: arnOf(name), stateMachineArn: spec.arn, name, startDate, input, outcome });

  const run = (name: string, input: string, startDate: number) => {
    store.begin(name, input, startDate);
    const execution = runExecution(
      {
        interpreter,
        prepared,
        stateMachine: { arn: spec.arn, name: spec.name, roleArn: role },
        principal: spec.principal,
        region: place.region,
        store,
        call,
        tokens,
      },
      { arn: arnOf(name), name, input, startDate },
      (outcome) => {
        running.delete(name);
        announceChange(name, input, startDate, outcome);
      },
    );
    running.set(name, execution);
  };

  return {
    spec,
    roleArn: role,
    creationDate: nowSeconds(),
    store,
    start(name = randomUUID(), input) {
      const executing = running.get(name);
      if (executing && isSameJson(executing.input, input)) {
        return { executionArn: executing.arn, startDate: executing.startDate };
      }
      if (store.find(name)) {
        throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${arnOf(name)}'`);
      }
      const startDate = nowSeconds();
      run(name, input, startDate);
      announceChange(name, input, startDate);
      return { executionArn: arnOf(name), startDate };
    },
    running: (name) => running.get(name),
    openCount: () => running.size,
    resume() {
      for (const { name, status } of store.list()) {
        if (status !== 'RUNNING' || running.has(name)) continue;
        const stored = store.read(name);
        if (!stored) {
          // Its file is gone; without the input it cannot start again.
          store.end(name, { status: 'FAILED', stopDate: nowSeconds(), error: 'States.Runtime' });
        } else if (stored.outcome) {
          // The process died before it wrote the end to the index, and may not have announced it.
          store.end(name, stored.outcome);
          announceChange(name, stored.input, stored.startDate, stored.outcome);
        } else {
          run(name, stored.input, stored.startDate);
        }
      }
    },
    close() {
      for (const execution of running.values()) execution.leave();
      store.close();
    },
  };
};
