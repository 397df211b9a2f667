import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  type ExecutionStatus,
  ListExecutionsCommand,
  SendTaskHeartbeatCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StartExecutionCommand,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';

const metadata = { $metadata: {} };

/** An execution as it was started. */
export interface StartedExecution {
  machine: string;
  name: string;
  input: unknown;
  status: ExecutionStatus;
}

/** Whoever waits under tokens elsewhere. What they throw for a token that is not good is taken for that. */
interface Waiters {
  succeed(taskToken: string, output: unknown): void;
  heartbeat(taskToken: string): void;
}

/**
 * Executions in memory behind every Step Functions client: they do nothing by themselves. A test opens the
 * tokens somebody waits under, or names the `waiters`; what is sent for any other is refused, as for a state that
 * was left.
 */
export class MemoryExecutions {
  readonly client = mockClient(SFNClient);
  readonly started: StartedExecution[] = [];
  /** What woke an execution, by token, and under which tokens it was told to go on waiting. */
  readonly woken: { taskToken: string; output: unknown }[] = [];
  readonly heartbeats: string[] = [];
  /** How many executions one page lists. */
  pageSize = 1000;
  waiters: Waiters | undefined;
  private readonly open = new Set<string>();

  constructor() {
    this.serve();
  }

  /** Forgets everything, for the next test. */
  reset(): void {
    for (const list of [this.started, this.woken, this.heartbeats]) list.length = 0;
    this.open.clear();
    this.pageSize = 1000;
    this.waiters = undefined;
    this.client.reset();
    this.serve();
  }

  /** Somebody waits under this token. */
  wait(taskToken: string): void {
    this.open.add(taskToken);
  }

  /** An execution that was started before, in this status now. */
  put(machine: string, name: string, status: ExecutionStatus): void {
    this.started.push({ machine, name, input: {}, status });
  }

  /** The names of the executions started of a machine. */
  names(machine: string): string[] {
    return this.started.flatMap((one) => (one.machine === machine ? [one.name] : []));
  }

  /** Refuses every start with this error. */
  refuseStarts(error: Error): void {
    this.client.on(StartExecutionCommand).rejects(error);
  }

  private serve(): void {
    this.client.on(StartExecutionCommand).callsFake(async ({ stateMachineArn, name, input }) => {
      const machine = machineOf(stateMachineArn);
      const known = this.find(machine, name);
      if (known && known.status !== 'RUNNING')
        throw new ExecutionAlreadyExists({ message: name, ...metadata });
      if (!known) this.started.push({ machine, name, input: JSON.parse(input), status: 'RUNNING' });
      return {};
    });
    this.client.on(DescribeExecutionCommand).callsFake(async ({ executionArn }) => {
      const [machine = '', name = ''] = executionArn.split(':').slice(-2);
      const known = this.find(machine, name);
      if (!executionArn.includes(':execution:') || !known) {
        throw new ExecutionDoesNotExist({ message: executionArn, ...metadata });
      }
      return { status: known.status };
    });
    this.client.on(ListExecutionsCommand).callsFake(async ({ stateMachineArn, statusFilter, nextToken }) => {
      const machine = machineOf(stateMachineArn);
      const all = this.started.filter((one) => one.machine === machine && one.status === statusFilter);
      const start = Number(nextToken ?? 0);
      const end = start + this.pageSize;
      return {
        executions: all.slice(start, end).map(({ name }) => ({ name })),
        ...(end < all.length ? { nextToken: String(end) } : {}),
      };
    });
    this.client.on(SendTaskSuccessCommand).callsFake(async ({ taskToken, output }) => {
      this.tell(taskToken, (waiters) => waiters.succeed(taskToken, JSON.parse(output)));
      this.open.delete(taskToken);
      this.woken.push({ taskToken, output: JSON.parse(output) });
      return {};
    });
    this.client.on(SendTaskHeartbeatCommand).callsFake(async ({ taskToken }) => {
      this.tell(taskToken, (waiters) => waiters.heartbeat(taskToken));
      this.heartbeats.push(taskToken);
      return {};
    });
  }

  private find(machine: string, name: string): StartedExecution | undefined {
    return this.started.find((one) => one.machine === machine && one.name === name);
  }

  private tell(taskToken: string, tellWaiters: (waiters: Waiters) => void): void {
    const gone = new TaskTimedOut({ message: 'Provided task does not exist anymore', ...metadata });
    if (!this.waiters && !this.open.has(taskToken)) throw gone;
    try {
      if (this.waiters) tellWaiters(this.waiters);
    } catch {
      throw gone;
    }
  }
}

const machineOf = (stateMachineArn: string): string => stateMachineArn.split(':').at(-1) ?? '';
