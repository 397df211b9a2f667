import {
  type Callbacks,
  type Definition,
  type Host,
  type RunEvent,
  type Running,
  runDefinition,
  TaskError,
} from '@generation-service/local-aws/interpreter';
import type { World } from '../world.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** What an execution needs of the world around it. */
export interface Surroundings {
  world: World;
  callbacks: Callbacks;
  /** Makes the call of a task. */
  call: Host['call'];
  entered: (execution: Execution) => void;
  ended: (execution: Execution) => void;
}

/** One execution of a state machine, in virtual time, by its definition. */
export class Execution {
  readonly machine: string;
  readonly name: string;
  readonly input: string;
  readonly startedAt: number;
  status: ExecutionStatus = 'RUNNING';
  /** The state it is in, for whoever watches. */
  state = '';
  /** When it entered that state, in epoch milliseconds. */
  enteredAt = 0;
  /** When it last began its newest task, for the first time or again after an error, in epoch milliseconds. */
  begunAt = 0;
  stoppedAt: number | undefined;
  /** The error with which it failed. */
  error: string | undefined;
  private readonly around: Surroundings;
  private readonly definition: Definition;
  private running: Running | undefined;
  private cancelLimit = (): void => undefined;
  private tokens = 0;

  constructor(machine: string, name: string, input: string, definition: Definition, around: Surroundings) {
    this.machine = machine;
    this.name = name;
    this.input = input;
    this.definition = definition;
    this.around = around;
    const { scheduler } = around.world;
    this.startedAt = scheduler.now;
    const { timeoutSeconds } = definition;
    if (timeoutSeconds === undefined) return;
    this.cancelLimit = scheduler.clock.after(timeoutSeconds * 1000, () => this.end('TIMED_OUT'));
  }

  /** Runs it to its end. */
  async run(): Promise<void> {
    const { world, callbacks, call } = this.around;
    this.running = runDefinition(this.definition, JSON.parse(this.input), {
      clock: world.scheduler.clock,
      random: () => world.random.next(),
      context: contextOf(this),
      callbacks,
      makeToken: () => `token ${this.machine} ${this.name} ${this.tokens++}`,
      call,
      observe: (event) => this.observe(event),
    });
    try {
      await this.running.result;
      this.end('SUCCEEDED');
    } catch (error) {
      if (!(error instanceof TaskError)) throw error;
      this.error = error.name;
      this.end('FAILED', `${error.name}: ${error.message}`);
    }
  }

  /** Ends it, if it has not ended. */
  end(status: Exclude<ExecutionStatus, 'RUNNING'>, detail = ''): void {
    if (this.status !== 'RUNNING') return;
    this.status = status;
    this.stoppedAt = this.around.world.scheduler.now;
    this.around.world.log(() => `${this.machine} ${this.name} ${status} in ${this.state} ${detail}`);
    this.cancelLimit();
    this.running?.stop();
    this.around.ended(this);
  }

  private observe({ type, visit }: RunEvent): void {
    if (type === 'TaskScheduled') this.begunAt = this.around.world.scheduler.now;
    if (type !== 'StateEntered') return;
    this.state = visit.state.name;
    this.enteredAt = visit.enteredAt;
    this.around.entered(this);
  }
}

/** What `$$` stands for in every state of an execution. */
const contextOf = ({ machine, name, input, startedAt }: Execution) => ({
  Execution: {
    Id: executionArn(machine, name),
    Name: name,
    Input: JSON.parse(input) as unknown,
    StartTime: new Date(startedAt).toISOString(),
  },
  StateMachine: { Id: machineArn(machine), Name: machine },
});

const ARN = 'arn:aws:states:us-east-1:111122223333';

export const machineArn = (machine: string): string => `${ARN}:stateMachine:${machine}`;
export const executionArn = (machine: string, name: string): string => `${ARN}:execution:${machine}:${name}`;
