import { jest } from '@jest/globals';
import {
  ExecutionError,
  ExecutionTimeoutError,
  StateMachine,
  type StateMachineDefinition,
} from 'aws-local-stepfunctions';
import { NOW } from '../unit/builders/clocks.ts';
import { type Course, type RunEvent, readEvents } from './history.ts';
import { TaskTokens } from './task-tokens.ts';

type Json = Parameters<StateMachine['run']>[0];

/** One invocation of a function: returns its result, throws its error, or never settles. */
export type Behaviour = (payload: Json) => unknown;

/** Schedules events during an execution, in virtual time. */
export interface Surroundings {
  tokens: TaskTokens;
  /** Runs this so many seconds after the start. An error fails the scenario. */
  at(seconds: number, act: () => unknown): void;
  /** Runs this every so many seconds, for the first time after that interval. */
  every(seconds: number, act: () => unknown): void;
}

/** The behaviour of each function, by name: one for each invocation in turn, or one for all. */
export type Script = Record<string, Behaviour | readonly Behaviour[]>;

/** Returns this. */
export const answers =
  (result: unknown): Behaviour =>
  () =>
    result;

/** Fails with an error of this name, as the function or as Lambda. */
export const fails =
  (name: string, message = `${name} happened.`): Behaviour =>
  () => {
    throw Object.assign(new Error(message), { name });
  };

/** Never answers, so that the task times out. */
export const hangs: Behaviour = () => new Promise(() => {});

/** The outcome of an execution. */
export interface Execution extends Course {
  status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT';
  /** The error of a failed execution, as Step Functions reports it. */
  failure: { Error: string; Cause: string } | undefined;
  /** Every payload, in order. */
  invocations: { functionName: string; payload: Json }[];
  /** Its task tokens. */
  tokens: TaskTokens;
}

/** The most timers a scenario may need: an execution still running by then never ends. */
const MAX_TIMERS = 5_000;

/**
 * Runs a workflow from its ASL text in virtual time from `NOW` on. Waits, retries and time limits are those of the
 * file; jitter is at its maximum. The placeholder `${DispatchRequestArn}` stands for the function
 * `dispatch-request`, which behaves as scripted. Throws when a function is invoked that is not in the script, or
 * more often than scripted. A task under a token waits for the events of `around` and for its time limits.
 */
export const runWorkflow = async (
  aslText: string,
  input: Json,
  script: Script,
  around: (surroundings: Surroundings) => void = () => undefined,
): Promise<Execution> => {
  jest.useFakeTimers({
    now: NOW,
    doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'hrtime'],
  });
  const random = jest.spyOn(Math, 'random').mockReturnValue(1 - 1e-9);
  try {
    const { machine, handlers, invocations, scriptErrors, tokens } = prepare(aslText, script);
    around(surroundings(tokens, scriptErrors));
    const run = machine.run(input, {
      overrides: { taskResourceLocalHandlers: handlers },
      context: { Task: taskContext(tokens), State: STATE_CONTEXT, Execution: { Name: 'execution-1' } },
    });
    const ended = Promise.all([endOf(run.result), collect(run.eventLogs)]);
    await passTimeUntil(ended);
    const [end, events] = await ended;
    if (scriptErrors[0]) throw scriptErrors[0];
    return { ...end, ...readEvents(events), invocations, tokens };
  } finally {
    random.mockRestore();
    jest.useRealTimers();
  }
};

/** The context object of a state, as if each retry entered it again. */
const STATE_CONTEXT = {
  RetryCount: 0,
  get EnteredTime() {
    return new Date().toISOString();
  },
};

/** The context object of a task. Its token is made when its parameters are evaluated. */
const taskContext = (tokens: TaskTokens) => ({
  get Token() {
    return tokens.peek();
  },
});

const surroundings = (tokens: TaskTokens, errors: Error[]): Surroundings => {
  const doing = (act: () => unknown) => async () => {
    try {
      await act();
    } catch (error) {
      errors.push(error as Error);
    }
  };
  return {
    tokens,
    at: (seconds, act) => {
      setTimeout(doing(act), seconds * 1000);
    },
    every: (seconds, act) => {
      setInterval(doing(act), seconds * 1000);
    },
  };
};

/** The machines made so far: checking a definition takes longer than running it. */
const machines = new Map<string, { machine: StateMachine; tasks: Record<string, { underToken: boolean }> }>();

/** The longest delay of a timer, in seconds: about 24.8 days. */
const MAX_TIMER_SECONDS = 2_147_483;
const UNDER_TOKEN = 'arn:aws:states:::lambda:invoke.waitForTaskToken';

type Definition = Record<string, unknown> & { States: Record<string, Record<string, unknown>> };

/**
 * The definition in a form the interpreter can run. It does not support tokens, so a task under a token is given its time
 * limit with its parameters and enforces it itself.
 */
const interpretable = (definition: Definition): Definition => {
  const States = Object.entries(definition.States).map(([name, state]) => {
    if (state.Resource !== UNDER_TOKEN) return [name, state];
    const { TimeoutSecondsPath, Parameters: call, ...rest } = state;
    const Parameters = { call, 'timeoutSeconds.$': TimeoutSecondsPath };
    return [name, { ...rest, TimeoutSeconds: MAX_TIMER_SECONDS, Parameters }];
  });
  const TimeoutSeconds = Math.min(Number(definition.TimeoutSeconds), MAX_TIMER_SECONDS);
  return { ...definition, TimeoutSeconds, States: Object.fromEntries(States) };
};

/** Whether each task waits under a token, by name; those of Maps included. */
const tasksOf = ({ States }: Pick<Definition, 'States'>): [string, { underToken: boolean }][] =>
  Object.entries(States).flatMap(([name, { Type, Resource, ItemProcessor }]) => {
    if (ItemProcessor) return tasksOf(ItemProcessor as Definition);
    return Type === 'Task' ? [[name, { underToken: Resource === UNDER_TOKEN }]] : [];
  });

const machineOf = (aslText: string) => {
  const known = machines.get(aslText);
  if (known) return known;
  const definition: Definition = JSON.parse(
    aslText.replace(/\$\{(\w+)Arn\}/g, (_placeholder, stem: string) => functionArn(kebabCase(stem))),
  );
  const tasks = Object.fromEntries(tasksOf(definition));
  const machine = new StateMachine(interpretable(definition) as unknown as StateMachineDefinition);
  const made = { machine, tasks };
  machines.set(aslText, made);
  return made;
};

const prepare = (aslText: string, script: Script) => {
  const { machine, tasks } = machineOf(aslText);
  const tokens = new TaskTokens();
  const invocations: Execution['invocations'] = [];
  const scriptErrors: Error[] = [];
  const invoke = async (taskInput: Json): Promise<Json> => {
    const { FunctionName, Payload } = taskInput as { FunctionName: string; Payload: Json };
    const functionName = FunctionName.split(':').at(-1) ?? '';
    const earlier = invocations.filter((invocation) => invocation.functionName === functionName).length;
    invocations.push({ functionName, payload: structuredClone(Payload) });
    const behaviours = script[functionName];
    const behaviour = typeof behaviours === 'function' ? behaviours : behaviours?.[earlier];
    if (!behaviour) {
      const error = new Error(`The script has no invocation ${earlier + 1} of ${functionName}.`);
      scriptErrors.push(error);
      throw error;
    }
    return invokeLambda(behaviour, Payload);
  };
  const waitUnderToken = async (envelope: Json): Promise<Json> => {
    const { call, timeoutSeconds } = envelope as unknown as { call: Json; timeoutSeconds: number };
    return (await tokens.wait(() => invoke(call), timeoutSeconds)) as Json;
  };
  const handlers = Object.fromEntries(
    Object.entries(tasks).map(([name, { underToken }]) => [name, underToken ? waitUnderToken : invoke]),
  );
  return { machine, handlers, invocations, scriptErrors, tokens };
};

const functionArn = (name: string): string => `arn:aws:lambda:eu-west-1:123456789012:function:${name}`;

const kebabCase = (pascal: string): string =>
  pascal.replace(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

/** The `lambda:invoke` integration: results and errors in Lambda's form. */
const invokeLambda = async (behaviour: Behaviour, payload: Json): Promise<Json> => {
  try {
    const result = (await behaviour(payload)) ?? null;
    const Payload: Json = JSON.parse(JSON.stringify(result));
    return { ExecutedVersion: '$LATEST', Payload, SdkHttpMetadata: { HttpStatusCode: 200 }, StatusCode: 200 };
  } catch (error) {
    const { name, message } = error as Error;
    const cause = JSON.stringify({ errorType: name, errorMessage: message, trace: [`${name}: ${message}`] });
    throw Object.assign(new Error(cause), { name });
  }
};

const passTimeUntil = async (ended: Promise<unknown>): Promise<void> => {
  let open = true;
  const close = (): void => {
    open = false;
  };
  ended.then(close, close);
  for (let timers = 0; open; timers++) {
    if (timers > MAX_TIMERS) throw new Error('The execution does not end.');
    await jest.advanceTimersToNextTimerAsync();
  }
};

const endOf = async (result: Promise<Json>): Promise<Pick<Execution, 'status' | 'failure'>> => {
  try {
    await result;
    return { status: 'SUCCEEDED', failure: undefined };
  } catch (error) {
    if (error instanceof ExecutionTimeoutError) return { status: 'TIMED_OUT', failure: undefined };
    if (!(error instanceof ExecutionError)) throw error;
    const { name, message } = error.cause as Error;
    return { status: 'FAILED', failure: { Error: name, Cause: message } };
  }
};

const collect = async (events: AsyncIterable<RunEvent>): Promise<RunEvent[]> => {
  const collected: RunEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
};
