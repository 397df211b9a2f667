import type { World } from '../world.ts';
import {
  type Catcher,
  type Definition,
  fill,
  holds,
  place,
  type Retrier,
  resolve,
  type State,
  StateError,
  valueAt,
} from './asl.ts';
import { makeContext } from './context-object.ts';

export type ExecutionStatus = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** One task that waits for whoever has its token. */
interface Callback {
  succeed: (output: unknown) => void;
  fail: (error: StateError) => void;
  beat: () => void;
}

/** What an execution needs of the world around it. */
export interface Surroundings {
  world: World;
  callbacks: Map<string, Callback>;
  /** Does what a resource other than waiting stands for. */
  work: (resource: string, parameters: Record<string, unknown>) => Promise<unknown>;
  entered: (execution: Execution) => void;
  ended: (execution: Execution) => void;
}

class Stopped extends Error {}

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
  /** The last token it waited under. It is worth nothing once the execution has ended. */
  private waitsUnder = '';
  private readonly around: Surroundings;
  private readonly definition: Definition;
  private tokens = 0;

  constructor(machine: string, name: string, input: string, definition: Definition, around: Surroundings) {
    this.machine = machine;
    this.name = name;
    this.input = input;
    this.definition = definition;
    this.around = around;
    this.startedAt = around.world.scheduler.now;
    const limit = definition.TimeoutSeconds;
    if (limit !== undefined) around.world.scheduler.after(limit * 1000, () => this.end('TIMED_OUT'));
  }

  /** Runs it to its end. */
  async run(): Promise<void> {
    try {
      await this.follow(this.definition, JSON.parse(this.input));
      this.end('SUCCEEDED');
    } catch (error) {
      if (error instanceof StateError) this.end('FAILED', `${error.name}: ${error.message}`);
      else if (!(error instanceof Stopped)) throw error;
    }
  }

  /** Ends it, if it has not ended. */
  end(status: Exclude<ExecutionStatus, 'RUNNING'>, detail = ''): void {
    if (this.status !== 'RUNNING') return;
    this.status = status;
    this.stoppedAt = this.around.world.scheduler.now;
    this.around.world.note(() => `${this.machine} ${this.name} ${status} in ${this.state} ${detail}`);
    this.around.callbacks.delete(this.waitsUnder);
    this.around.ended(this);
  }

  /** Runs state by state up to the last, and returns its output. */
  private async follow({ StartAt, States }: Definition, input: unknown): Promise<unknown> {
    let data = input;
    let name: string | undefined = StartAt;
    while (name !== undefined) {
      this.state = name;
      this.enteredAt = this.around.world.scheduler.now;
      this.around.entered(this);
      const state: State | undefined = States[name];
      if (!state) throw new Error(`There is no state ${name}.`);
      [data, name] = await this.visit(name, state, data);
    }
    return data;
  }

  /** The states of a Map for each of its items, no more than so many of them at once. A failure that it tolerates has no result. */
  private async forEach(state: State, items: readonly unknown[]): Promise<unknown[]> {
    const { ItemProcessor, MaxConcurrency = items.length, ToleratedFailurePercentage } = state;
    if (!ItemProcessor) throw new Error('A Map without states is not understood.');
    const results: unknown[] = [];
    const queue = items.entries();
    const worker = async (): Promise<void> => {
      for (const [index, item] of queue) {
        try {
          results[index] = await this.follow(ItemProcessor, item);
        } catch (error) {
          if (ToleratedFailurePercentage !== 100 || !(error instanceof StateError)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: MaxConcurrency }, worker));
    return results.filter((result) => result !== undefined);
  }

  private async wait(milliseconds: number): Promise<void> {
    await this.around.world.scheduler.sleep(milliseconds);
    this.check();
  }

  private check(): void {
    if (this.status !== 'RUNNING') throw new Stopped();
  }

  private async visit(name: string, state: State, data: unknown): Promise<[unknown, string | undefined]> {
    const context = makeContext(this, name);
    switch (state.Type) {
      case 'Succeed':
        return [outputOf(state, data, context), undefined];
      case 'Fail':
        throw new StateError(state.Error ?? 'Failed', state.Cause ?? '');
      case 'Pass':
        return [
          place(state.ResultPath, data, state.Result ?? fill(state.Parameters ?? data, data, context)),
          state.Next,
        ];
      case 'Wait':
        await this.wait(this.waitOf(state, data, context));
        return [data, state.Next];
      case 'Choice': {
        const rule = state.Choices?.find((choice) => holds(choice, data, context));
        const next = rule?.Next ?? state.Default;
        if (next === undefined) throw new StateError('States.NoChoiceMatched', `No choice of ${name} holds.`);
        return [data, next];
      }
      case 'Task':
        return this.task(name, state, data);
      case 'Map': {
        const items = resolve(state.ItemsPath ?? '$', data, context) as unknown[];
        const results = await this.forEach(state, items);
        return [place(state.ResultPath, data, results), state.End ? undefined : state.Next];
      }
      default:
        throw new Error(`States of type ${state.Type} are not understood.`);
    }
  }

  private waitOf(state: State, data: unknown, context: unknown): number {
    const { now } = this.around.world.scheduler;
    const { Seconds, SecondsPath, Timestamp, TimestampPath } = state;
    if (SecondsPath !== undefined) return Number(resolve(SecondsPath, data, context)) * 1000;
    if (TimestampPath !== undefined) return Date.parse(String(resolve(TimestampPath, data, context))) - now;
    if (Timestamp !== undefined) return Date.parse(Timestamp) - now;
    return (Seconds ?? 0) * 1000;
  }

  private async task(name: string, state: State, data: unknown): Promise<[unknown, string | undefined]> {
    const retried = new Map<Retrier, number>();
    for (;;) {
      this.begunAt = this.around.world.scheduler.now;
      try {
        const token = `token ${this.machine} ${this.name} ${this.tokens++}`;
        const retries = [...retried.values()].reduce((sum, times) => sum + times, 0);
        const context = makeContext(this, name, token, retries);
        const result = await this.attempt(state, data, context);
        const selected = state.ResultSelector ? fill(state.ResultSelector, result, context) : result;
        const output = outputOf(state, place(state.ResultPath, data, selected), context);
        return [output, state.End ? undefined : state.Next];
      } catch (error) {
        if (!(error instanceof StateError)) throw error;
        const retrier = state.Retry?.find((candidate) => matches(candidate.ErrorEquals, error));
        const attempts = retrier ? (retried.get(retrier) ?? 0) : 0;
        if (retrier && attempts < (retrier.MaxAttempts ?? 3)) {
          retried.set(retrier, attempts + 1);
          await this.wait(this.pauseOf(retrier, attempts));
          continue;
        }
        const catcher: Catcher | undefined = state.Catch?.find(({ ErrorEquals }) =>
          matches(ErrorEquals, error),
        );
        if (!catcher) throw error;
        const caught = { Error: error.name, Cause: error.message };
        return [place(catcher.ResultPath, data, caught), catcher.Next];
      }
    }
  }

  private pauseOf(retrier: Retrier, attempts: number): number {
    const { IntervalSeconds = 1, BackoffRate = 2, MaxDelaySeconds = Number.POSITIVE_INFINITY } = retrier;
    const seconds = Math.min(MaxDelaySeconds, IntervalSeconds * BackoffRate ** attempts);
    return seconds * 1000 * (retrier.JitterStrategy === 'FULL' ? this.around.world.random.next() : 1);
  }

  /** One try of a task, ended by its own time limits. */
  private async attempt(
    state: State,
    data: unknown,
    context: ReturnType<typeof makeContext>,
  ): Promise<unknown> {
    const { scheduler } = this.around.world;
    const seconds = (fixed: number | undefined, path: string | undefined): number | undefined =>
      path === undefined ? fixed : Number(valueAt(path, data, context));
    const limit = seconds(state.TimeoutSeconds, state.TimeoutSecondsPath);
    const silence = seconds(state.HeartbeatSeconds, state.HeartbeatSecondsPath);
    const result = await new Promise<unknown>((settle, reject) => {
      const fail = (error: StateError): void => reject(error);
      if (limit !== undefined) {
        scheduler.after(limit * 1000, () => fail(new StateError('States.Timeout', 'The task timed out.')));
      }
      const [resource = '', waits] = (state.Resource ?? '').split('.waitForTaskToken');
      const parameters = fill(state.Parameters ?? {}, data, context) as Record<string, unknown>;
      const work = this.around.work(resource, parameters);
      if (waits === undefined) {
        work.then(settle, (error: Error) => fail(new StateError(error.name, error.message)));
        return;
      }
      const timedOut = (): void => fail(new StateError('States.HeartbeatTimeout', 'No heartbeat came.'));
      let watch = silence === undefined ? undefined : scheduler.after(silence * 1000, timedOut);
      this.waitsUnder = context.Task.Token;
      this.around.callbacks.set(context.Task.Token, {
        succeed: settle,
        fail,
        beat: () => {
          if (watch) scheduler.cancel(watch);
          if (silence !== undefined) watch = scheduler.after(silence * 1000, timedOut);
        },
      });
      work.catch((error: Error) => fail(new StateError(error.name, error.message)));
    }).finally(() => this.around.callbacks.delete(context.Task.Token));
    this.check();
    return result;
  }
}

/** What a state hands on. */
const outputOf = ({ OutputPath = '$' }: State, data: unknown, context: unknown): unknown =>
  OutputPath === '$' ? data : resolve(OutputPath, data, context);

/** Errors that no wildcard takes in. */
const UNCATCHABLE = new Set(['States.DataLimitExceeded', 'States.Runtime']);

const matches = (names: readonly string[], { name }: StateError): boolean =>
  names.some((wanted) => {
    if (wanted === name) return true;
    if (wanted === 'States.Timeout') return name === 'States.HeartbeatTimeout';
    if (wanted === 'States.TaskFailed') return name !== 'States.Timeout' && !UNCATCHABLE.has(name);
    return wanted === 'States.ALL' && !UNCATCHABLE.has(name);
  });
