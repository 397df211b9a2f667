import { randomBytes } from 'node:crypto';

import { AwsError } from '../errors.ts';
import { timerSeconds } from './task-limits.ts';
import { TaskError } from './types.ts';

/** What a token belongs to. */
export interface TokenOwner {
  machineName: string;
  executionName: string;
}

/** The task tokens that are waited for. */
export interface TaskTokens {
  /** A token nobody waits for yet. */
  create(owner: TokenOwner): string;
  /** Resolves or rejects with what is handed in for the token; rejects with `States.HeartbeatTimeout` when heartbeats stop. */
  wait(token: string, heartbeatSeconds: number | undefined): Promise<unknown>;
  /** The task is over: from now on the token is refused. */
  forget(token: string): void;
  succeed(token: string, output: unknown): void;
  fail(token: string, error: string, cause: string): void;
  heartbeat(token: string): void;
}

const SEPARATOR = '\n';

/** Whose token this is; undefined when it is not one of ours. */
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

/** No token is waited for yet. Tokens die with the process, as the executions they belong to start again. */
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
      // Settles the promise too, so that its heartbeat timer does not outlive the task.
      waiting.get(token)?.fail(new TaskError('States.Timeout', ''));
    },
    succeed: (token, output) => find(token).succeed(output),
    fail: (token, error, cause) => find(token).fail(new TaskError(error, cause)),
    heartbeat: (token) => find(token).heartbeat(),
  };
};
