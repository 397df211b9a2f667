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

/** An opened state machine, or the machine of a distributed Map in it. */
class Machine implements LocalStateMachine {
  readonly spec: StateMachineSpec;
  private readonly definition: Definition;
  private readonly services: MachineServices;
  readonly maps: ReadonlyMap<string, LocalStateMachine>;
  readonly store: ExecutionStore;
  private readonly executions = new Map<string, RunningExecution>();
  private readonly endListeners = new Map<string, (outcome: Outcome) => void>();
  private readonly role: string;
  readonly creationDate: number;

  constructor(spec: StateMachineSpec, definition: Definition, services: MachineServices) {
    this.spec = spec;
    this.definition = definition;
    this.services = services;
    this.maps = new Map(
      statesOf(definition).flatMap(({ distributed, processor }) => {
        if (!distributed || !processor) return [];
        const { label } = distributed;
        const own = { ...spec, arn: `${spec.arn}/${label}`, name: `${spec.name}/${label}` };
        return [[label, new Machine(own, processor, services)] as const];
      }),
    );
    this.store = openExecutionStore(`${services.directory}/${spec.name}`);
    this.role = roleArn(services.place, spec.roleName);
    this.creationDate = nowSeconds();
  }

  start(name: string | undefined = randomUUID(), input: string): { executionArn: string; startDate: number } {
    const executing = this.executions.get(name);
    if (executing && isSameJson(executing.input, input)) {
      return { executionArn: executing.arn, startDate: executing.startDate };
    }
    if (this.store.find(name)) {
      throw new AwsError('ExecutionAlreadyExists', `Execution Already Exists: '${this.arnOf(name)}'`);
    }
    const startDate = nowSeconds();
    this.run(name, input, startDate);
    this.announceChange(name, input, startDate);
    return { executionArn: this.arnOf(name), startDate };
  }

  begin(input: string): ItemExecution {
    const name = randomUUID();
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.endListeners.set(name, resolve);
    const startDate = nowSeconds();
    this.run(name, input, startDate);
    this.announceChange(name, input, startDate);
    return { ended: promise, stop: () => void this.executions.get(name)?.stop('ABORTED') };
  }

  running(name: string): RunningExecution | undefined {
    return this.executions.get(name);
  }

  openCount(): number {
    return this.executions.size;
  }

  abortLeft(): void {
    for (const { name, status } of this.store.list()) {
      if (status === 'RUNNING') this.store.end(name, { status: 'ABORTED', stopDate: nowSeconds() });
    }
    for (const machine of this.maps.values()) machine.abortLeft();
  }

  resume(): void {
    for (const machine of this.maps.values()) machine.abortLeft();
    for (const { name, status } of this.store.list()) {
      if (status !== 'RUNNING' || this.executions.has(name)) continue;
      const stored = this.store.read(name);
      if (!stored) {
        // Its file is gone; without the input it cannot start again.
        this.store.end(name, { status: 'FAILED', stopDate: nowSeconds(), error: 'States.Runtime' });
      } else if (stored.outcome) {
        // The process died before it wrote the end to the index, and may not have announced it.
        this.store.end(name, stored.outcome);
        this.announceChange(name, stored.input, stored.startDate, stored.outcome);
      } else {
        this.run(name, stored.input, stored.startDate);
      }
    }
  }

  close(): void {
    for (const execution of this.executions.values()) execution.leave();
    for (const machine of this.maps.values()) machine.close();
    this.store.close();
  }

  private arnOf(name: string) {
    return executionArn(this.services.place, this.spec.name, name);
  }

  private announceChange(name: string, input: string, startDate: number, outcome?: Outcome) {
    return this.services.announce({
      executionArn: this.arnOf(name),
      stateMachineArn: this.spec.arn,
      name,
      startDate,
      input,
      outcome,
    });
  }

  private run(name: string, input: string, startDate: number) {
    this.store.begin(name, input, startDate);
    const execution = runExecution(
      {
        definition: this.definition,
        stateMachine: { arn: this.spec.arn, name: this.spec.name, roleArn: this.role },
        principal: this.spec.principal,
        region: this.services.place.region,
        store: this.store,
        call: this.services.call,
        clock: systemClock,
        callbacks: this.services.callbacks,
        startItem: (label, item) => {
          const machine = this.maps.get(label);
          if (!machine) throw new Error(`State machine ${this.spec.name} has no Map ${label}`);
          return machine.begin(item);
        },
      },
      { arn: this.arnOf(name), name, input, startDate },
      (outcome) => {
        this.executions.delete(name);
        this.announceChange(name, input, startDate, outcome);
        this.endListeners.get(name)?.(outcome);
        this.endListeners.delete(name);
      },
    );
    this.executions.set(name, execution);
  }
}

/** Opens a state machine and its executions. Throws when the definition cannot run locally. */
export const openStateMachine = (spec: StateMachineSpec, services: MachineServices): LocalStateMachine =>
  new Machine(spec, readDefinition(spec.name, spec.definition), services);
