import { randomUUID } from 'node:crypto';

import type { StateMachineSpec } from '../../types.ts';
import { executionArn, type Place, roleArn } from '../arn.ts';
import { AwsError } from '../errors.ts';
import { type RunningExecution, runExecution } from './execution.ts';
import { type ExecutionStore, openExecutionStore } from './execution-store.ts';
import type { CallIntegration } from './integrations.ts';
import type { Callbacks } from './interpreter/callbacks.ts';
import { systemClock } from './interpreter/clock.ts';
import { type Definition, readDefinition, statesOf } from './interpreter/definition.ts';
import type { ItemExecution } from './interpreter/map-run.ts';
import type { StatusChange } from './status-change.ts';
import { nowSeconds, type Outcome } from './types.ts';

/** A state machine that can be started. */
export interface LocalStateMachine {
  spec: StateMachineSpec;
  creationDate: number;
  store: ExecutionStore;
  /**
   * Starts an execution; its start is on disk when this returns. For the name and input of a running one, returns that one. Throws
   * `ExecutionAlreadyExists` for a used name; names never expire.
   */
  start(name: string | undefined, input: string): { executionArn: string; startDate: number };
  running(name: string): RunningExecution | undefined;
  /** Starts an execution with a new name. */
  begin(input: string): ItemExecution;
  /** The machines of its distributed Maps, by label. Their executions are its own. */
  maps: ReadonlyMap<string, LocalStateMachine>;
  /** How many executions run, those of items aside. */
  openCount(): number;
  /**
   * Restarts executions that an earlier process left running: first state, same name, input and start date, new history. Those of
   * items are aborted: the execution that started them begins again.
   */
  resume(): void;
  /** Aborts executions that an earlier process left running. */
  abortLeft(): void;
  close(): void;
}

/** The services of a machine's tasks. */
export interface MachineServices {
  place: Place;
  /** Holds the executions of all machines. */
  directory: string;
  call: CallIntegration;
  callbacks: Callbacks;
  /** Called when an execution has started or ended, once that is on disk. */
  announce(change: StatusChange): void;
}

/** Whether two JSON texts are equal, spacing aside. */
const isSameJson = (left: string, right: string): boolean =>
  left === right || JSON.stringify(JSON.parse(left)) === JSON.stringify(JSON.parse(right));

/** Opens a state machine and its executions. Throws when the definition cannot run locally. */
export const openStateMachine = (spec: StateMachineSpec, services: MachineServices): LocalStateMachine =>
  openDefinition(spec, readDefinition(spec.name, spec.definition), services);

const openDefinition = (
  spec: StateMachineSpec,
  definition: Definition,
  services: MachineServices,
): LocalStateMachine => {
  const { place, directory, call, callbacks, announce } = services;
  const maps = new Map(
    statesOf(definition).flatMap(({ distributed, processor }) => {
      if (!distributed || !processor) return [];
      const { label } = distributed;
      const own = { ...spec, arn: `${spec.arn}/${label}`, name: `${spec.name}/${label}` };
      return [[label, openDefinition(own, processor, services)] as const];
    }),
  );
  const store = openExecutionStore(`${directory}/${spec.name}`);
  const running = new Map<string, RunningExecution>();
  const ended = new Map<string, (outcome: Outcome) => void>();
  const role = roleArn(place, spec.roleName);
  const arnOf = (name: string) => executionArn(place, spec.name, name);

  const announceChange = (name: string, input: string, startDate: number, outcome?: Outcome) =>
    announce({ executionArn: arnOf(name), stateMachineArn: spec.arn, name, startDate, input, outcome });

  const run = (name: string, input: string, startDate: number) => {
    store.begin(name, input, startDate);
    const execution = runExecution(
      {
        definition,
        stateMachine: { arn: spec.arn, name: spec.name, roleArn: role },
        principal: spec.principal,
        region: place.region,
        store,
        call,
        clock: systemClock,
        callbacks,
        startItem: (label, item) => {
          const machine = maps.get(label);
          if (!machine) throw new Error(`State machine ${spec.name} has no Map ${label}`);
          return machine.begin(item);
        },
      },
      { arn: arnOf(name), name, input, startDate },
      (outcome) => {
        running.delete(name);
        announceChange(name, input, startDate, outcome);
        ended.get(name)?.(outcome);
        ended.delete(name);
      },
    );
    running.set(name, execution);
  };

  return {
    spec,
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
    begin(input) {
      const name = randomUUID();
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      ended.set(name, resolve);
      const startDate = nowSeconds();
      run(name, input, startDate);
      announceChange(name, input, startDate);
      return { ended: promise, stop: () => void running.get(name)?.stop('ABORTED') };
    },
    maps,
    running: (name) => running.get(name),
    openCount: () => running.size,
    abortLeft() {
      for (const { name, status } of store.list()) {
        if (status === 'RUNNING') store.end(name, { status: 'ABORTED', stopDate: nowSeconds() });
      }
      for (const machine of maps.values()) machine.abortLeft();
    },
    resume() {
      for (const machine of maps.values()) machine.abortLeft();
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
      for (const machine of maps.values()) machine.close();
      store.close();
    },
  };
};
