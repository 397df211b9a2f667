import type { AwsEvent, InvokeFunction, Principal, StateMachineSpec } from '../../types.ts';
import { parseExecutionArn, stateMachineArn } from '../arn.ts';
import { findRefusal } from '../authorize.ts';
import { AwsError } from '../errors.ts';
import { stepFunctionsPermissions } from '../permissions/step-functions.ts';
import { createIntegration, type IntegrationServices } from './integrations.ts';
import { Callbacks } from './interpreter/callbacks.ts';
import { describeExecution, getExecutionHistory, listExecutions } from './queries.ts';
import { executionName, jsonText, optionalText, requiredText, takePage } from './requests.ts';
import { type LocalStateMachine, type MachineServices, openStateMachine } from './state-machine.ts';
import { statusChangeEvent } from './status-change.ts';
import { readToken } from './task-tokens.ts';

type Json = Record<string, unknown>;

/** The local Step Functions. */
export interface StepFunctions {
  /** Checks a call's permissions; the returned function makes the call. Both throw the service's errors as `AwsError`. */
  authorize(principal: Principal, operation: string, body: Json): () => Json;
  /**
   * Opens the machines, then restarts executions that an earlier process left running. `publish` receives an event for every execution that
   * starts or ends. Throws when a definition cannot run locally.
   */
  start(specs: StateMachineSpec[], invoke: InvokeFunction, publish: (event: AwsEvent) => void): void;
  /** Abandons running executions; the next process starts them again. */
  close(): void;
}

/** What Step Functions works with. */
export interface StepFunctionsServices extends Omit<IntegrationServices, 'invoke'> {
  /** Holds the executions, in a directory per machine. */
  directory: string;
  /** Executions that run at once, in all machines. */
  maxOpenExecutions: number;
}

const INVALID_INPUT = { code: 'InvalidExecutionInput', label: 'Invalid State Machine Execution Input' };
const INVALID_OUTPUT = { code: 'InvalidOutput', label: 'Invalid Output' };

/** The Step Functions of `createStepFunctions`: its machines, and a method for each operation. */
class LocalStepFunctions implements StepFunctions {
  private readonly services: StepFunctionsServices;
  private readonly machines = new Map<string, LocalStateMachine>();
  private readonly callbacks = new Callbacks();
  private readonly operations: Record<string, (body: Json) => Json>;

  constructor(services: StepFunctionsServices) {
    this.services = services;
    this.operations = {
      StartExecution: this.startExecution,
      StopExecution: this.stopExecution,
      DescribeExecution: (body) => describeExecution(this.findExecution(body)),
      GetExecutionHistory: (body) => getExecutionHistory(this.findExecution(body), body),
      ListExecutions: (body) =>
        listExecutions(this.services.place, this.findMachine(requiredText(body, 'stateMachineArn')), body),
      ListStateMachines: (body) => {
        const { page, nextToken } = takePage(body, [...this.machines.values()]);
        const stateMachines = page.map(({ spec: { arn, name }, creationDate }) => ({
          ...{ stateMachineArn: arn, name, type: 'STANDARD', creationDate },
        }));
        return { stateMachines, nextToken };
      },
      SendTaskSuccess: (body) => {
        const output = jsonText(body, 'output', INVALID_OUTPUT);
        const task = this.callbacks.find(requiredText(body, 'taskToken'));
        if (!task)
          throw new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
        task.succeed(JSON.parse(output));
        return {};
      },
    };
  }

  authorize(principal: Principal, operation: string, body: Json): () => Json {
    const perform = this.operations[operation];
    if (!perform) {
      throw new AwsError('UnknownOperationException', `The local Step Functions has no ${operation}`);
    }
    const tokenMachineArn = operation === 'SendTaskSuccess' ? this.tokenMachine(body) : undefined;
    const refused = findRefusal(principal, stepFunctionsPermissions(operation, body, tokenMachineArn));
    if (refused) throw new AwsError('AccessDeniedException', refused);
    return () => perform(body);
  }

  start(specs: StateMachineSpec[], invoke: InvokeFunction, publish: (event: AwsEvent) => void): void {
    const machineServices: MachineServices = {
      place: this.services.place,
      directory: this.services.directory,
      call: createIntegration({ ...this.services, invoke }),
      callbacks: this.callbacks,
      announce: (change) => publish(statusChangeEvent(this.services.place, change)),
    };
    const opened = specs.map((spec) => openStateMachine(spec, machineServices));
    for (const machine of opened) this.machines.set(machine.spec.arn, machine);
    for (const machine of opened) machine.resume();
  }

  close(): void {
    for (const machine of this.machines.values()) machine.close();
  }

  private findMachine(arn: string): LocalStateMachine {
    const machine = this.machines.get(arn);
    if (!machine) throw new AwsError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
    return machine;
  }

  /** The machine of executions: of a distributed Map, its ARN ends with a slash and the label. */
  private ownerOf(arn: string): LocalStateMachine | undefined {
    const [machineArn = '', ...labels] = arn.split('/');
    return labels.reduce((machine, label) => machine?.maps.get(label), this.machines.get(machineArn));
  }

  private findExecution(body: Json) {
    const arn = requiredText(body, 'executionArn');
    const parsed = parseExecutionArn(arn);
    if (!parsed) throw new AwsError('InvalidArn', `Invalid Arn: 'Invalid ARN: ${arn}'`);
    const machine = this.ownerOf(stateMachineArn(this.services.place, parsed.machineName));
    if (!machine?.store.find(parsed.name)) {
      throw new AwsError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
    }
    return { arn, machine, name: parsed.name };
  }

  private readonly startExecution = (body: Json) => {
    const name = executionName(body);
    const input = jsonText(body, 'input', INVALID_INPUT);
    const machine = this.findMachine(requiredText(body, 'stateMachineArn'));
    const open = [...this.machines.values()].reduce((sum, machine) => sum + machine.openCount(), 0);
    // A repeated start of a running execution opens none.
    if (open >= this.services.maxOpenExecutions && (name === undefined || !machine.running(name))) {
      throw new AwsError(
        'ExecutionLimitExceeded',
        `Execution Limit Exceeded: '${this.services.maxOpenExecutions} executions are running'`,
      );
    }
    return machine.start(name, input);
  };

  private readonly stopExecution = (body: Json) => {
    const { machine, name } = this.findExecution(body);
    const { stopDate } =
      machine.running(name)?.stop('ABORTED', optionalText(body, 'error'), optionalText(body, 'cause')) ??
      machine.store.find(name) ??
      {};
    return { stopDate };
  };

  /** The state machine of a token. Throws `InvalidToken`, or `TaskDoesNotExist` when its execution is unknown. */
  private tokenMachine(body: Json): string {
    const owner = readToken(requiredText(body, 'taskToken'));
    if (!owner) throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
    const arn = stateMachineArn(this.services.place, owner.machineName);
    if (!this.ownerOf(arn)?.store.find(owner.executionName)) {
      throw new AwsError('TaskDoesNotExist', "Task Does Not Exist: 'Provided task does not exist'");
    }
    return arn;
  }
}

/** A Step Functions without machines. */
export const createStepFunctions = (services: StepFunctionsServices): StepFunctions =>
  new LocalStepFunctions(services);
