import { randomBytes } from 'node:crypto';

import { AwsError } from '../errors.ts';
import { timerSeconds } from './task-limits.ts';
import { TaskError } from './types.ts';

/** The execution of a token. */
export interface TokenOwner {
  machineName: string;
  executionName: string;
}

/** The task tokens of waiting tasks. */
export interface TaskTokens {
  /** A new token; no task waits for it yet. */
  create(owner: TokenOwner): string;
  /** Settles with the result sent for the token; rejects with `States.HeartbeatTimeout` when heartbeats stop. */
  wait(token: string, heartbeatSeconds: number | undefined): Promise<unknown>;
  /** The task has ended: refuses the token from now on. */
  forget(token: string): void;
  succeed(token: string, output: unknown): void;
  fail(token: string, error: string, cause: string): void;
  heartbeat(token: string): void;
}

const SEPARATOR = '\n';

/** The owner of a token; undefined when it is malformed. */
export const readToken = (token: string): TokenOwner | undefined => {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  const [mark, machineName, executionName, nonce] = text.split(SEPARATOR);
  return mark === 'task' && machineName && executionName && nonce
    ? { machineName, executionName }
    : undefined;
};

interface Waiting {
  succeed(output: unknown): void;
  fail(error: Error): void;
  heartbeat(): void;
}

/** Tokens without waiting tasks. Tokens die with the process: their executions start again. */
export const createTaskTokens = (): TaskTokens => {
  const waiting = new Map<string, Waiting>();

  const find = (token: string): Waiting => {
    const found = waiting.get(token);
    if (!found) throw new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
    return found;
  };

  return {
    create: ({ machineName, executionName }) =>
      Buffer.from(
        ['task', machineName, executionName, randomBytes(18).toString('base64url')].join(SEPARATOR),
      ).toString('base64url'),
    wait: (token, heartbeatSeconds) =>
      new Promise((resolve, reject) => {
        let timer: NodeJS.Timeout | undefined;
        const settle = () => {
          clearTimeout(timer);
          waiting.delete(token);
        };
        const expect = () => {
          if (heartbeatSeconds === undefined) return;
          clearTimeout(timer);
          timer = setTimeout(() => {
            settle();
            reject(new TaskError('States.HeartbeatTimeout', ''));
          }, timerSeconds(heartbeatSeconds) * 1_000);
        };
        waiting.set(token, {
          succeed(output) {
            settle();
            resolve(output);
          },
          fail(error) {
            settle();
            reject(error);
          },
          heartbeat: expect,
        });
        expect();
      }),
    forget(token) {
      // Settles the promise, which clears its heartbeat timer.
      waiting.get(token)?.fail(new TaskError('States.Timeout', ''));
    },
    succeed: (token, output) => find(token).succeed(output),
    fail: (token, error, cause) => find(token).fail(new TaskError(error, cause)),
    heartbeat: (token) => find(token).heartbeat(),
  };
};
