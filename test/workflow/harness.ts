import {
  Callbacks,
  type Clock,
  type Definition,
  type Host,
  readDefinition,
  runDefinition,
  TaskError,
} from '@generation-service/local-aws/interpreter';
import { jest } from '@jest/globals';
import { NOW } from '../unit/builders/clocks.ts';
import { type Course, readEvents, type TimedEvent } from './history.ts';

/** One invocation of a function: returns its result, throws its error, or never settles. */
export type Behaviour = (payload: unknown) => unknown;

/** Schedules events during an execution, in virtual time. */
export interface Surroundings {
  tokens: TaskTokens;
  /** Runs this so many seconds after the start. An error fails the scenario. */
  at(seconds: number, act: () => unknown): void;
  /** Runs this every so many seconds, for the first time after that interval. */
  every(seconds: number, act: () => unknown): void;
}

/** The task tokens of one execution, for `SendTaskSuccess`. A token is valid from when its task is scheduled until the task ends. */
export class TaskTokens {
  /** Every token, in the order issued. */
  readonly issued: string[] = [];
  private readonly callbacks: Callbacks;

  constructor(callbacks: Callbacks) {
    this.callbacks = callbacks;
  }

  /** A new token. */
  issue(): string {
    const token = `token-${this.issued.length + 1}`;
    this.issued.push(token);
    return token;
  }

  /** `SendTaskSuccess`. Throws `TaskTimedOut` for a token no task waits under. */
  succeed(token: string, output: unknown): void {
    const task = this.callbacks.find(token);
    if (!task) {
      const gone = new Error("Task Timed Out: 'Provided task does not exist anymore'");
      throw Object.assign(gone, { name: 'TaskTimedOut' });
    }
    task.succeed(structuredClone(output));
  }
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
  invocations: { functionName: string; payload: unknown }[];
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
  input: unknown,
  script: Script,
  around: (surroundings: Surroundings) => void = () => undefined,
): Promise<Execution> => {
  jest.useFakeTimers({
    now: NOW,
    doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'hrtime'],
  });
  try {
    const callbacks = new Callbacks();
    const tokens = new TaskTokens(callbacks);
    const scriptErrors: Error[] = [];
    const invocations: Execution['invocations'] = [];
    const invoke = scripted(script, invocations, scriptErrors);
    around(surroundings(tokens, scriptErrors));
    const { end, events } = execute(definitionOf(aslText), input, {
      clock: CLOCK,
      random: () => 1,
      context: { Execution: { Name: 'execution-1' } },
      callbacks,
      makeToken: () => tokens.issue(),
      call: (parameters) => invoke(parameters),
    });
    await passTimeUntil(end);
    const { endedAt, ...ended } = await end;
    if (scriptErrors[0]) throw scriptErrors[0];
    return { ...ended, ...readEvents(events, NOW.getTime(), endedAt), invocations, tokens };
  } finally {
    jest.useRealTimers();
  }
};

/** The virtual time of Jest's timers. */
const CLOCK: Clock = {
  now: () => Date.now(),
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
};

type End = Pick<Execution, 'status' | 'failure'> & { endedAt: number };

/** Runs a definition to its end, or to its time limit. */
const execute = (
  definition: Definition,
  input: unknown,
  host: Omit<Host, 'observe'>,
): { end: Promise<End>; events: TimedEvent[] } => {
  const events: TimedEvent[] = [];
  const observe: Host['observe'] = (event) => {
    events.push({ ...event, at: host.clock.now() });
  };
  const { promise, resolve, reject } = Promise.withResolvers<End>();
  const end = (status: Execution['status'], failure?: Execution['failure']) =>
    resolve({ status, failure, endedAt: host.clock.now() });
  const running = runDefinition(definition, input, { ...host, observe });
  const limitMs = (definition.timeoutSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const cancel = host.clock.after(Math.min(limitMs, MAX_TIMER_MS), () => {
    running.stop();
    end('TIMED_OUT');
  });
  running.result.finally(cancel).then(
    () => end('SUCCEEDED'),
    (error: unknown) =>
      error instanceof TaskError ? end('FAILED', { Error: error.name, Cause: error.message }) : reject(error),
  );
  return { end: promise, events };
};

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

/** The longest delay of a timer, about 24.8 days: no scenario lasts longer. */
const MAX_TIMER_MS = 2_147_483_647;

/** The definitions read so far. */
const definitions = new Map<string, Definition>();

const definitionOf = (aslText: string): Definition => {
  const known = definitions.get(aslText);
  if (known) return known;
  const text = aslText.replace(/\$\{(\w+)Arn\}/g, (_placeholder, stem: string) =>
    functionArn(kebabCase(stem)),
  );
  const definition = readDefinition('scenario', text);
  definitions.set(aslText, definition);
  return definition;
};

/** The functions of a script. */
const scripted =
  (script: Script, invocations: Execution['invocations'], errors: Error[]) =>
  async (parameters: unknown): Promise<unknown> => {
    const { FunctionName, Payload } = parameters as { FunctionName: string; Payload: unknown };
    const functionName = FunctionName.split(':').at(-1) ?? '';
    const earlier = invocations.filter((invocation) => invocation.functionName === functionName).length;
    invocations.push({ functionName, payload: structuredClone(Payload) });
    const behaviours = script[functionName];
    const behaviour = typeof behaviours === 'function' ? behaviours : behaviours?.[earlier];
    if (!behaviour) {
      const error = new Error(`The script has no invocation ${earlier + 1} of ${functionName}.`);
      errors.push(error);
      throw error;
    }
    return invokeLambda(behaviour, Payload);
  };

const functionArn = (name: string): string => `arn:aws:lambda:eu-west-1:123456789012:function:${name}`;

const kebabCase = (pascal: string): string =>
  pascal.replace(/\B[A-Z]/g, (letter) => `-${letter}`).toLowerCase();

/** The `lambda:invoke` integration: results and errors in Lambda's form. */
const invokeLambda = async (behaviour: Behaviour, payload: unknown): Promise<unknown> => {
  try {
    const result = (await behaviour(payload)) ?? null;
    const Payload: unknown = JSON.parse(JSON.stringify(result));
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
