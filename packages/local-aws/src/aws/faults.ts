import type { ServerResponse } from 'node:http';
import { matchesPattern } from './authorize.ts';
import { AwsError } from './errors.ts';

/**
 * What becomes of a call: refused as too many (`throttle`), refused with a 500 (`error`), carried out and then not answered, the connection
 * being dropped (`drop`), or the end of the whole process by SIGKILL, right before the call is carried out or right after.
 */
export type FaultEffect = 'throttle' | 'error' | 'drop' | 'kill-before' | 'kill-after';

const EFFECTS: readonly string[] = [
  'throttle',
  'error',
  'drop',
  'kill-before',
  'kill-after',
] satisfies FaultEffect[];

/** A fault, and the calls it waits for. */
export interface Fault {
  /** `service:Operation` as calls are counted, `dynamodb:TransactWriteItems` for one; `*` stands for any run of characters. */
  call: string;
  /** The caller: logical id of a function or state machine, or `operator`, with `*`; a logical id ends in eight characters of its own. Default: any. */
  principal?: string;
  /** Text that the request holds: of an S3 call its path, of any other its body as JSON. Default: any. */
  contains?: string;
  /** So many of these calls pass unharmed first. Default: 0. */
  skip?: number;
  /** So many calls are met. Default: 1. */
  times?: number;
  /** The call waits so long before anything else happens to it. */
  delayMilliseconds?: number;
  /** Default: none, which leaves the delay. */
  effect?: FaultEffect;
}

/** A call that its caller may make. */
export interface AdmittedCall {
  principalName: string;
  /** `service:Operation` */
  name: string;
  /** What `contains` is looked for in. */
  text: string;
}

/** What is left to do to a call once it has been carried out. */
export type Aftermath = 'drop' | 'kill' | undefined;

/**
 * Faults in the calls to the AWS endpoint: none until a test arms some.
 *
 * In the endpoint's own process: `endpoint.faults.arm({ call: 'dynamodb:TransactWriteItems', effect: 'drop' })`. From another one, which is
 * the way for the kills: `armFault(localJson, …)` of `fault-control.ts`. Of several armed faults the first that matches meets the call.
 * Tasks of state machines call past the endpoint, and are met all the same under their machine's logical id; so are the invocations they
 * make (`lambda:Invoke`), whose text is the task's parameters.
 */
export interface Faults {
  /** Throws `ValidationException` for what is no fault. */
  arm(fault: Fault): void;
  /** Forgets every fault. */
  disarm(): void;
  /** How many calls each armed fault can still meet, in the order they were armed. A fault that is used up stays, with 0. */
  left(): number[];
  /** Lets a call happen, as late as a fault says. Throws `AwsError` where a fault refuses it. */
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
  met.text.includes(contains);

/** Ends this process at once, as a power cut would: no handler runs, nothing is written. */
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

/** Does to a call what is left to do once its answer would begin: every service answers when it has carried the call out. */
export const applyAftermath = (response: ServerResponse, aftermath: Aftermath): void => {
  if (aftermath === undefined) return;
  const writeHead = response.writeHead.bind(response) as (...head: unknown[]) => ServerResponse;
  response.writeHead = ((...head: unknown[]) => {
    if (aftermath === 'kill') killProcess();
    response.socket?.destroy();
    return writeHead(...head);
  }) as typeof response.writeHead;
};
