import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  ListExecutionsCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { serveCommands } from './serve-commands.ts';

const metadata = { $metadata: {} };

/** An execution as it was started. */
export interface StartedExecution {
  machine: string;
  name: string;
  input: unknown;
  status: ExecutionStatus;
}

/** Receives task tokens outside this fake, such as a simulated workflow. Anything it throws refuses the token. */
interface WaitingTokens {
  succeed(taskToken: string, output: unknown): void;
}

/**
 * Executions in memory behind every Step Functions client; they run no states. A test opens task tokens with `wait` or
 * sets `waitingTokens`; any other token is refused, as if its state had ended.
 */
export class MemoryExecutions {
  readonly client = mockClient(SFNClient);
  readonly started: StartedExecution[] = [];
  /** The task successes sent, in order. */
  readonly woken: { taskToken: string; output: unknown }[] = [];
  /** The most executions on a page of a list. */
  pageSize = 1000;
  waitingTokens: WaitingTokens | undefined;
  private readonly open = new Set<string>();

  constructor() {
    this.serve();
  }

  /** Clears everything for the next test. */
  reset(): void {
    for (const list of [this.started, this.woken]) list.length = 0;
    this.open.clear();
    this.pageSize = 1000;
    this.waitingTokens = undefined;
    this.client.reset();
    this.serve();
  }

  /** Opens a task token: a state waits under it. */
  wait(taskToken: string): void {
    this.open.add(taskToken);
  }

  /** Adds an execution with this status. */
  put(machine: string, name: string, status: ExecutionStatus): void {
    this.started.push({ machine, name, input: {}, status });
  }

  /** The names of a machine's executions, in order of their start. */
  names(machine: string): string[] {
    return this.started.flatMap((one) => (one.machine === machine ? [one.name] : []));
  }

  /** Refuses every start with this error. */
  refuseStarts(error: Error): void {
    this.client.on(StartExecutionCommand).rejects(error);
  }

  private serve(): void {
    serveCommands(this.client, [
      [
        StartExecutionCommand,
        async ({ stateMachineArn, name, input }) => {
          const machine = machineOf(stateMachineArn);
          const known = this.find(machine, name);
          if (known && known.status !== 'RUNNING')
            throw new ExecutionAlreadyExists({ message: name, ...metadata });
          if (!known) this.started.push({ machine, name, input: JSON.parse(input), status: 'RUNNING' });
          return {};
        },
      ],
      [
        DescribeExecutionCommand,
        async ({ executionArn }) => {
          const [machine = '', name = ''] = executionArn.split(':').slice(-2);
          const known = this.find(machine, name);
          if (!executionArn.includes(':execution:') || !known) {
            throw new ExecutionDoesNotExist({ message: executionArn, ...metadata });
          }
          return { status: known.status };
        },
      ],
      [
        ListExecutionsCommand,
        async ({ stateMachineArn, statusFilter, nextToken }) => {
          const machine = machineOf(stateMachineArn);
          const all = this.started.filter((one) => one.machine === machine && one.status === statusFilter);
          const start = Number(nextToken ?? 0);
          const end = start + this.pageSize;
          return {
            executions: all.slice(start, end).map(({ name }) => ({
              name,
              executionArn: stateMachineArn.replace(':stateMachine:', ':execution:').concat(`:${name}`),
            })),
            ...(end < all.length ? { nextToken: String(end) } : {}),
          };
        },
      ],
      [
        SendTaskSuccessCommand,
        async ({ taskToken, output }) => {
          this.deliver(taskToken, JSON.parse(output));
          this.open.delete(taskToken);
          this.woken.push({ taskToken, output: JSON.parse(output) });
          return {};
        },
      ],
    ]);
  }

  private find(machine: string, name: string): StartedExecution | undefined {
    return this.started.find((one) => one.machine === machine && one.name === name);
  }

  private deliver(taskToken: string, output: unknown): void {
    const gone = new TaskTimedOut({ message: 'Provided task does not exist anymore', ...metadata });
    if (!this.waitingTokens && !this.open.has(taskToken)) throw gone;
    try {
      this.waitingTokens?.succeed(taskToken, output);
    } catch {
      throw gone;
    }
  }
}

const machineOf = (stateMachineArn: string): string => stateMachineArn.split(':').at(-1) ?? '';
