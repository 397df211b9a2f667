import { nameOf } from '../../errors.ts';
import { Branch } from './branch.ts';
import type { Definition, Fields, Rule, State } from './definition.ts';
import { checkDataSize, matchesError, runtimeError, TaskError } from './errors.ts';
import type { Visit } from './events.ts';
import { evaluate, fill, find, place, type Scope, select } from './expressions.ts';
import type { Host, Running } from './host.ts';
import { type DistributedMap, type ItemExecution, runItems } from './map-run.ts';
import { Retries } from './retries.ts';
import { attemptTask, timeoutOf } from './task.ts';

/** Step Functions runs 40 iterations of an inline Map at once: https://docs.aws.amazon.com/step-functions/latest/dg/state-map-inline.html */
const MAX_ITERATIONS = 40;

/** What follows a visit. */
interface Step {
  output: unknown;
  /** Undefined at the last state. */
  next: string | undefined;
}

/** Runs a definition from its first state. */
export const runDefinition = (definition: Definition, input: unknown, host: Host): Running => {
  const root = new Branch();
  const result = new Promise<unknown>((resolve, reject) => {
    new Interpreter(host).follow(definition, input, root).then(
      (output) => root.isStopped || resolve(output),
      (error: unknown) => root.isStopped || reject(error),
    );
  });
  return { result, stop: () => root.stop() };
};

class Interpreter {
  private readonly host: Host;

  constructor(host: Host) {
    this.host = host;
  }

  /** Runs state by state up to the last, and returns its output. */
  async follow(definition: Definition, input: unknown, branch: Branch): Promise<unknown> {
    let step: Step = { output: input, next: definition.startAt };
    while (step.next !== undefined) {
      const state = definition.states.get(step.next);
      if (!state) throw new Error(`There is no state ${step.next}.`);
      const visit: Visit = { state, branch, enteredAt: this.host.clock.now() };
      this.host.observe({ type: 'StateEntered', visit, input: step.output });
      step = await this.visit(visit, step.output);
      if (branch.isStopped) return new Promise(() => undefined);
      this.host.observe({ type: 'StateExited', visit, output: step.output });
    }
    return step.output;
  }

  private async visit(visit: Visit, raw: unknown): Promise<Step> {
    const { state } = visit;
    const { fields } = state;
    if (state.type === 'Task') return this.withRetries(visit, raw, (scope) => this.task(visit, scope));
    if (state.type === 'Map') return this.withRetries(visit, raw, (scope) => this.map(visit, scope));
    const scope = this.scopeOf(visit, raw);
    switch (state.type) {
      case 'Choice': {
        const next = fields.Choices?.find((rule) => holds(rule, scope))?.Next ?? fields.Default;
        if (next === undefined) throw new TaskError('States.NoChoiceMatched', 'No Choice Rule matched');
        return { output: raw, next };
      }
      case 'Wait':
        await this.pause(millisecondsOf(fields, scope), visit.branch);
        return { output: raw, next: fields.Next };
      case 'Pass':
        return { output: raw, next: fields.Next };
      case 'Succeed':
        return this.leave(state, raw, scope);
      case 'Fail':
        throw new TaskError(
          textOf(fields.ErrorPath, fields.Error, scope),
          textOf(fields.CausePath, fields.Cause, scope),
        );
    }
  }

  /** A state's input and its context object. */
  private scopeOf({ state, enteredAt }: Visit, data: unknown, retries = 0, token?: string): Scope {
    const context = {
      ...this.host.context,
      State: { Name: state.name, EnteredTime: new Date(enteredAt).toISOString(), RetryCount: retries },
      ...(token !== undefined && { Task: { Token: token } }),
    };
    return { data, context };
  }

  private leave({ fields }: State, data: unknown, { context }: Scope): Step {
    return { output: select(fields.OutputPath, { data, context }), next: fields.Next };
  }

  /**
   * Does a state's work, repeats the work after errors named by `Retry`, and continues with the result or with an
   * error named by `Catch`.
   */
  private async withRetries(
    visit: Visit,
    raw: unknown,
    work: (scope: Scope & { token: string | undefined }) => Promise<unknown>,
  ): Promise<Step> {
    const { state, branch } = visit;
    const { fields } = state;
    const retries = new Retries(fields.Retry);
    for (;;) {
      try {
        const token = state.waitsForToken ? this.host.makeToken() : undefined;
        const scope = this.scopeOf(visit, raw, retries.count, token);
        const result = await work({ ...scope, token });
        const { context } = scope;
        const selected =
          fields.ResultSelector === undefined
            ? result
            : fill(fields.ResultSelector, { data: result, context });
        return this.leave(state, place(fields.ResultPath, raw, selected), scope);
      } catch (error) {
        if (!(error instanceof TaskError)) throw error;
        const seconds = retries.next(error.name, this.host.random);
        if (seconds === undefined) {
          const catcher = fields.Catch?.find(({ ErrorEquals }) => matchesError(ErrorEquals, error.name));
          if (!catcher) throw error;
          const caught = { Error: error.name, Cause: error.message };
          return { output: place(catcher.ResultPath, raw, caught), next: catcher.Next };
        }
        await this.pause(seconds * 1_000, branch);
        this.host.observe({ type: 'StateRetried', visit, error: error.name, seconds });
      }
    }
  }

  private task(visit: Visit, scope: Scope & { token: string | undefined }): Promise<unknown> {
    const { fields } = visit.state;
    const timeoutSeconds = timeoutOf(fields, scope);
    const parameters = fields.Parameters === undefined ? scope.data : fill(fields.Parameters, scope);
    return attemptTask(this.host, visit, { timeoutSeconds, parameters, token: scope.token });
  }

  private async map(visit: Visit, scope: Scope): Promise<unknown> {
    const { fields, processor, distributed } = visit.state;
    const items = fields.ItemsPath === undefined ? scope.data : evaluate(fields.ItemsPath, scope);
    if (!Array.isArray(items)) throw runtimeError('The items of the Map are no list');
    if (!processor) throw new Error(`${visit.state.name} has no states.`);
    if (distributed) return this.distribute(visit, distributed, processor, items);
    return this.iterate(visit, processor, items);
  }

  /** Runs the iterations of an inline Map, so many at once. The first that fails stops the others. */
  private async iterate(visit: Visit, processor: Definition, items: unknown[]): Promise<unknown[]> {
    const { observe } = this.host;
    observe({ type: 'StateStarted', visit, length: items.length });
    const group = visit.branch.open();
    const outputs: unknown[] = [];
    const waiting = items.entries();
    const work = async (): Promise<void> => {
      for (const [index, item] of waiting) {
        const branch = group.open(index);
        observe({ type: 'MapIterationStarted', visit, branch });
        try {
          outputs[index] = await this.follow(processor, item, branch);
        } catch (error) {
          if (!group.isStopped) observe({ type: 'MapIterationFailed', visit, branch });
          throw error;
        }
        observe({ type: 'MapIterationSucceeded', visit, branch });
      }
    };
    const atOnce = Math.min(visit.state.fields.MaxConcurrency || MAX_ITERATIONS, MAX_ITERATIONS);
    try {
      await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
      checkDataSize(outputs, visit.state.name);
    } catch (error) {
      group.stop();
      observe({ type: 'StateFailed', visit });
      throw error;
    }
    observe({ type: 'StateSucceeded', visit });
    return outputs;
  }

  /** Runs the items of a distributed Map. */
  private async distribute(
    visit: Visit,
    map: DistributedMap,
    processor: Definition,
    items: unknown[],
  ): Promise<unknown[]> {
    const { observe } = this.host;
    const group = visit.branch.open();
    observe({ type: 'StateStarted', visit, length: items.length });
    observe({ type: 'MapRunStarted', visit, map });
    try {
      const start = this.host.beginMapRun?.(map) ?? this.startItemsWithin(processor, group);
      const outputs = await runItems(map, items, start, group);
      checkDataSize(outputs, visit.state.name);
      observe({ type: 'MapRunSucceeded', visit });
      observe({ type: 'StateSucceeded', visit });
      return outputs;
    } catch (error) {
      if (!group.isStopped && error instanceof TaskError) {
        observe({ type: 'MapRunFailed', visit, error: nameOf(error), cause: error.message });
        observe({ type: 'StateFailed', visit });
      }
      throw error;
    }
  }

  private startItemsWithin(processor: Definition, group: Branch): (input: string) => ItemExecution {
    let begun = 0;
    return (input) => {
      const branch = group.open(begun++);
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ItemExecution['ended']>>();
      branch.onStop(() => resolve({ status: 'ABORTED' }));
      this.follow(processor, JSON.parse(input), branch).then(
        (output) => resolve({ status: 'SUCCEEDED', output: JSON.stringify(output ?? null) }),
        (error: unknown) => (error instanceof TaskError ? resolve({ status: 'FAILED' }) : reject(error)),
      );
      return { ended: promise, stop: () => branch.stop() };
    };
  }

  /** Lets time pass; never returns once the line was stopped. */
  private pause(milliseconds: number, branch: Branch): Promise<void> {
    return new Promise((resolve) => {
      if (branch.isStopped) return;
      const cancel = this.host.clock.after(milliseconds, () => {
        keep();
        resolve();
      });
      const keep = branch.onStop(cancel);
    });
  }
}

/** Throws `States.Runtime` for a variable that is absent. */
const holds = ({ Variable, StringEquals }: Rule, scope: Scope): boolean => {
  const value = find(Variable, scope);
  if (value !== undefined) return value === StringEquals;
  throw runtimeError(
    `Invalid path '${Variable}': The choice state's condition path references an invalid value.`,
  );
};

/** The error or cause of a Fail state. Throws `States.Runtime` where a path leads to no text. */
const textOf = (path: string | undefined, text: string | undefined, scope: Scope): string => {
  if (path === undefined) return text ?? '';
  const value = evaluate(path, scope);
  if (typeof value === 'string') return value;
  throw runtimeError(`The value at the path '${path}' is not a string`);
};

/** The time of a Wait state. Throws `States.Runtime`. */
const millisecondsOf = ({ Seconds, SecondsPath }: Fields, scope: Scope): number => {
  const seconds = SecondsPath === undefined ? Seconds : evaluate(SecondsPath, scope);
  if (Number.isInteger(seconds) && Number(seconds) >= 0) return Number(seconds) * 1_000;
  throw runtimeError(`A Wait state cannot wait for ${seconds}`);
};
