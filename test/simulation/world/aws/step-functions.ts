import {
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  InvalidToken,
  TaskTimedOut,
} from '@aws-sdk/client-sfn';
import { Callbacks, type Definition, type Host } from '@generation-service/local-aws/interpreter';
import { makeCall } from '../engine/effects.ts';
import { NEWS_FAULTS } from '../engine/faults.ts';
import { invocations, outside } from '../engine/invocation.ts';
import { answerOfNextRelease } from '../next-release.ts';
import { Part } from '../part.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';
import { Execution, executionArn, machineArn } from './execution.ts';
import type { DeployedFunction } from './lambda.ts';

/** How long the news of an execution's end take. */
const NEWS_MS = [20, 2_000] as const;
/** How far the description of an execution is behind. */
const DESCRIBE_DELAY_MS = [0, 500] as const;
/** How long a name stays taken after its execution has ended: 90 days. */
const NAME_KEPT_MS = 90 * 86_400_000;

const meta = { $metadata: {} };

/** A release whose definitions can be deployed. There is no last one before the first release. */
export type Release = 'last' | 'this' | 'next';

/** What the definitions need: their texts, and the functions their placeholders stand for. */
export interface Deployment {
  machines: Readonly<Partial<Record<Release, ReadonlyMap<string, Definition>>>>;
  /** By the name of the function. */
  functions: ReadonlyMap<string, DeployedFunction>;
}

/** The state machines with every execution there ever was, behind the calls of the Step Functions client. */
export class StepFunctions extends Part {
  readonly executions = new Map<string, Execution>();
  /** Receives the event of an execution's end, which can be lost or come twice. */
  onNews: ((execution: Execution) => void) | undefined;
  /** Told, as are the watchers, of each state that an execution enters. */
  onEntered: ((execution: Execution) => void) | undefined;
  readonly watchers: ((execution: Execution) => void)[] = [];
  private readonly callbacks: Callbacks;
  private readonly releaseOf = new WeakMap<Execution, Release>();
  /** Called when an execution next enters a state, by machine and state. */
  private readonly awaited = new Map<string, (execution: Execution) => void>();
  private readonly deployment: Deployment;
  private release: Release = 'this';
  /** The most releases whose definitions executions ran on at once. */
  releasesAtOnce = 0;

  constructor(world: World, deployment: Deployment) {
    super(world);
    this.deployment = deployment;
    this.callbacks = new Callbacks();
  }

  /** Deploys the definitions of a release, for executions that start from now on. */
  define(release: Release): void {
    this.release = release;
    this.world.log(() => `  definitions of the ${release} release`);
  }

  /** Deploys the definitions of the release before or after, as `pick` says where there are both: an upgrade, or a roll-back. */
  redefine(pick: number): void {
    const others = this.releases().filter((release) => release !== 'this');
    this.define(this.release !== 'this' ? 'this' : (others[pick % others.length] ?? 'this'));
  }

  /** The releases that can be deployed, in their order. */
  releases(): Release[] {
    return Object.keys(this.deployment.machines) as Release[];
  }

  /** The executions that run now. */
  running(): Execution[] {
    return [...this.executions.values()].filter(({ status }) => status === 'RUNNING');
  }

  /** The newest execution of a request, if it has had one. */
  executionOf(requestId: string): Execution | undefined {
    return this.executions.get(executionArn('generation', requestId));
  }

  /** What the client's `send` does with a command. */
  send(command: string, input: Record<string, unknown>, limits: ClientLimits): Promise<unknown> {
    const functionName = invocations.getStore()?.functionName ?? '';
    if (this.world.mutation?.drops?.(functionName, command, input)) return Promise.resolve({});
    const name = `${command} ${String(input.name ?? input.executionArn ?? '').slice(-40)}`;
    return makeCall(this.world, {
      name,
      service: 'step-functions',
      ...limits,
      perform: () => this.perform(command, input),
    });
  }

  /** Does something, once, when an execution of a machine enters a state. */
  onNextEntry(machine: string, state: string, act: (execution: Execution) => void): void {
    this.awaited.set(`${machine} ${state}`, act);
  }

  /** Does nothing more when executions enter states. */
  forgetEntries(): void {
    this.awaited.clear();
  }

  /** Starts an execution as a rule of EventBridge does, under a name of its own. */
  begin(machine: string, input: object): Execution {
    const name = `${machine}-${this.executions.size}`;
    const { executionArn: arn } = this.start(machineArn(machine), name, JSON.stringify(input));
    return this.find(arn);
  }

  /** Stops an execution, as an operator does in the console. */
  abort(execution: Execution): void {
    execution.end('ABORTED');
  }

  private perform(command: string, input: Record<string, unknown>): unknown {
    const text = (name: string): string => String(input[name]);
    switch (command) {
      case 'StartExecutionCommand':
        return this.start(text('stateMachineArn'), text('name'), String(input.input ?? '{}'));
      case 'DescribeExecutionCommand':
        return this.describe(text('executionArn'));
      case 'SendTaskSuccessCommand':
        return this.succeed(text('taskToken'), JSON.parse(text('output')));
      default:
        throw new Error(`Step Functions does not know ${command}.`);
    }
  }

  /** A description is behind too, and does not know an execution that has just been started. */
  private describe(arn: string) {
    const asOf = this.world.scheduler.now - this.world.random.whole(...DESCRIBE_DELAY_MS);
    const { status, input, startedAt, stoppedAt } = this.find(arn);
    if (startedAt > asOf) throw doesNotExist(arn);
    const isShownRunning = stoppedAt !== undefined && stoppedAt > asOf;
    return { executionArn: arn, status: isShownRunning ? 'RUNNING' : status, input };
  }

  private succeed(token: string, output: unknown) {
    const task = this.callbacks.find(token);
    if (!token.startsWith('token ')) throw new InvalidToken({ message: 'Invalid token', ...meta });
    if (!task) throw new TaskTimedOut({ message: 'Task Timed Out', ...meta });
    task.succeed(output);
    return {};
  }

  private find(arn: string): Execution {
    const execution = this.executions.get(arn);
    if (!execution) throw doesNotExist(arn);
    return execution;
  }

  /** Starts an execution; again with the same name and input while it runs, it is the same one. */
  private start(stateMachineArn: string, name: string, input: string) {
    const machine = stateMachineArn.split(':').at(-1) ?? '';
    const { release } = this;
    const definition = this.deployment.machines[release]?.get(machine);
    if (!definition || stateMachineArn !== machineArn(machine))
      throw new Error(`There is no ${stateMachineArn}.`);
    const arn = executionArn(machine, name);
    const known = this.executions.get(arn);
    const { now } = this.world.scheduler;
    if (known?.status === 'RUNNING' && known.input === input) return { executionArn: arn };
    if (known && now - (known.stoppedAt ?? now) < NAME_KEPT_MS) {
      throw new ExecutionAlreadyExists({ message: `Execution Already Exists: '${arn}'`, ...meta });
    }
    const execution = new Execution(machine, name, input, definition, {
      world: this.world,
      callbacks: this.callbacks,
      call: this.call,
      entered: (entered) => this.enter(entered),
      ended: (ended) => this.reportEnd(ended),
    });
    this.executions.set(arn, execution);
    this.releaseOf.set(execution, release);
    const atOnce = new Set(this.running().map((one) => this.releaseOf.get(one))).size;
    this.releasesAtOnce = Math.max(this.releasesAtOnce, atOnce);
    this.world.log(() => `${machine} ${name} started`);
    outside(() => execution.run()).catch((error: unknown) => this.world.break(error));
    return { executionArn: arn };
  }

  private readonly call: Host['call'] = async (parameters) => {
    const { FunctionName, Payload } = parameters as Record<string, unknown>;
    await this.world.scheduler.sleep(this.world.random.whole(1, 30));
    const fn = this.world.functionNamed(functionOf(String(FunctionName)));
    const { release } = this;
    const answer = await this.world.lambda.invoke(fn, Payload);
    return { Payload: release === 'next' ? answerOfNextRelease(answer, Payload) : answer, StatusCode: 200 };
  };

  private enter(execution: Execution): void {
    this.onEntered?.(execution);
    for (const watch of this.watchers) watch(execution);
    const key = `${execution.machine} ${execution.state}`;
    const act = this.awaited.get(key);
    this.awaited.delete(key);
    act?.(execution);
  }

  private reportEnd(execution: Execution): void {
    const { faults, random, scheduler } = this.world;
    // Nobody is told of the end of others.
    const fault = execution.machine === 'generation' ? faults.meet(NEWS_FAULTS) : undefined;
    if (fault) this.world.log(() => `  fault ${fault} at the end of ${execution.name}`);
    if (fault === 'news-lost') {
      this.world.evidence.unreported.add(execution.name);
      return;
    }
    const times = fault === 'news-twice' ? 2 : 1;
    for (let time = 0; time < times; time++) {
      scheduler.after(random.whole(...NEWS_MS), () => this.onNews?.(execution));
    }
  }
}

const doesNotExist = (arn: string): Error =>
  new ExecutionDoesNotExist({ message: `Execution Does Not Exist: ${arn}`, ...meta });

/** `${DispatchRequestArn}` stands for `dispatch-request`. */
const functionOf = (placeholder: string): string =>
  placeholder
    .replace(/^\$\{(\w+)Arn\}$/, '$1')
    .replace(/\B[A-Z]/g, (letter) => `-${letter}`)
    .toLowerCase();
