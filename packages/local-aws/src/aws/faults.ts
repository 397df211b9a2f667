import type { ServerResponse } from 'node:http';
import { matchesPattern } from './authorize.ts';
import { AwsError } from './errors.ts';

/**
 * The effect of a fault on a call. `throttle` throttles it, and `error` refuses it with a 500. `drop` carries it out,
 * but drops the connection before the answer. `hang` accepts it, but neither carries it out nor answers.
 * `kill-before` and `kill-after` kill the whole process by SIGKILL just before or after the call is carried out.
 */
export type FaultEffect = 'throttle' | 'error' | 'drop' | 'hang' | 'kill-before' | 'kill-after';

const EFFECTS: readonly string[] = [
  'throttle',
  'error',
  'drop',
  'hang',
  'kill-before',
  'kill-after',
] satisfies FaultEffect[];

/** A fault, and the calls it applies to. */
export interface Fault {
  /** `service:Operation`, for example `dynamodb:TransactWriteItems`. `*` matches any run of characters. */
  call: string;
  /** The caller: logical id of a function or state machine, or `operator`; may hold `*`. Logical ids end in an eight-character hash. Default: any. */
  principal?: string;
  /** Text in the request: in the path of an S3 call, else in the JSON body. Default: any. */
  contains?: string;
  /** Number of matching calls to let pass first. Default: 0. */
  skip?: number;
  /** Number of calls to affect. Default: 1. */
  times?: number;
  /** Delay before the call and any other effect. */
  delayMilliseconds?: number;
  /** Default: the delay only. */
  effect?: FaultEffect;
}

/** A call that was allowed. */
export interface AdmittedCall {
  principalName: string;
  /** `service:Operation` */
  name: string;
  /** The text that `contains` is matched against. Only read where a fault is armed. */
  text: () => string;
}

/** What to do once the call was carried out. */
export type Aftermath = 'drop' | 'kill' | undefined;

/**
 * Faults in calls to the AWS endpoint; none until a test arms some.
 *
 * In the endpoint's process: `endpoint.faults.arm({ call: 'dynamodb:TransactWriteItems', effect: 'drop' })`. From another process, which
 * kills need: `armFault` of `fault-control.ts`. The first armed fault that matches applies. Tasks of state machines do not go through the
 * endpoint, but faults apply to them too, under the machine's logical id; the text of `lambda:Invoke` is the task's parameters.
 */
export interface Faults {
  /** Throws `ValidationException` for an invalid fault. */
  arm(fault: Fault): void;
  /** Removes every fault. Calls that hang stay so. */
  disarm(): void;
  /** How many calls each armed fault has left, in the order they were armed. A used-up fault stays, with 0. */
  left(): number[];
  /** Applies the first matching fault before a call: waits, kills, or throws `AwsError`. Returns what to do after the call. */
  meet(call: AdmittedCall): Promise<Aftermath>;
}

const THROTTLES: Record<string, [code: string, status: number]> = {
  s3: ['SlowDown', 503],
  bedrock: ['ThrottlingException', 429],
  lambda: ['TooManyRequestsException', 429],
};

const SERVER_ERRORS: Record<string, string> = {
  s3: 'InternalError',
  secretsmanager: 'InternalServiceError',
  lambda: 'ServiceException',
};

const serviceOf = (call: string): string => call.split(':')[0] ?? '';

const throttleOf = (call: string): AwsError => {
  const [code, status] = THROTTLES[serviceOf(call)] ?? ['ThrottlingException', 400];
  return new AwsError(code, 'Rate exceeded (a fault that a test armed)', status);
};

const serverErrorOf = (call: string): AwsError =>
  new AwsError(
    SERVER_ERRORS[serviceOf(call)] ?? 'InternalServerError',
    'Internal error (a fault that a test armed)',
    500,
  );

const FIELDS: Record<keyof Fault, (value: unknown) => boolean> = {
  call: (value) => typeof value === 'string' && value !== '',
  principal: (value) => typeof value === 'string',
  contains: (value) => typeof value === 'string',
  skip: (value) => Number.isInteger(value) && Number(value) >= 0,
  times: (value) => Number.isInteger(value) && Number(value) >= 1,
  delayMilliseconds: (value) => Number.isInteger(value) && Number(value) >= 0,
  effect: (value) => EFFECTS.includes(String(value)),
};

/** Throws `ValidationException`, naming the field. */
const check = (fault: Fault): void => {
  const wrong = Object.entries(fault)
    .filter(([, value]) => value !== undefined)
    .find(([field, value]) => FIELDS[field as keyof Fault]?.(value) !== true)?.[0];
  const missing = fault.call === undefined ? 'call' : undefined;
  const field = wrong ?? missing;
  if (field !== undefined) throw new AwsError('ValidationException', `No fault has such a ${field}`);
  if (fault.effect === undefined && fault.delayMilliseconds === undefined) {
    throw new AwsError('ValidationException', 'A fault needs an effect or delayMilliseconds');
  }
};

const matches = ({ call, principal = '*', contains = '' }: Fault, met: AdmittedCall): boolean =>
  matchesPattern(call, met.name) &&
  matchesPattern(principal, met.principalName) &&
  (contains === '' || met.text().includes(contains));

/** Kills this process: no handler runs, nothing is flushed. */
export const killProcess = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** No faults yet. */
export const createFaults = (): Faults => {
  let armed: { fault: Fault; skip: number; left: number }[] = [];

  const take = (call: AdmittedCall): Fault | undefined => {
    const found = armed.find(({ fault, left }) => left > 0 && matches(fault, call));
    if (!found) return undefined;
    if (found.skip > 0) {
      found.skip -= 1;
      return undefined;
    }
    found.left -= 1;
    return found.fault;
  };

  return {
    arm(fault) {
      check(fault);
      armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
    },
    disarm() {
      armed = [];
    },
    left: () => armed.map(({ left }) => left),
    async meet(call) {
      const fault = take(call);
      if (!fault) return undefined;
      if (fault.delayMilliseconds) await pause(fault.delayMilliseconds);
      switch (fault.effect) {
        case 'throttle':
          throw throttleOf(call.name);
        case 'error':
          throw serverErrorOf(call.name);
        case 'hang':
          return new Promise(() => undefined);
        case 'kill-before':
          killProcess();
          return undefined;
        case 'kill-after':
          return 'kill';
        default:
          return fault.effect;
      }
    },
  };
};

/** Applies an aftermath when the answer begins: every service answers after it has carried out the call. */
export const applyAftermath = (response: ServerResponse, aftermath: Aftermath): void => {
  if (aftermath === undefined) return;
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = ((...head: unknown[]) => {
    if (aftermath === 'kill') killProcess();
    response.socket?.destroy();
    return writeHead(...head);
  }) as typeof response.writeHead;
};
