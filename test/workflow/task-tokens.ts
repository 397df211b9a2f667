import { NOW } from '../unit/builders/clocks.ts';

/** How long a task under a token may take in all, and between two heartbeats if it needs any, in seconds. */
export interface TokenLimits {
  timeoutSeconds: number;
  heartbeatSeconds?: number;
}

interface OpenTask {
  succeed(output: unknown): void;
  heartbeat(): void;
}

const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The error of Step Functions for a token no task waits under. */
const gone = (): Error => named('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");

/**
 * The task tokens of one execution, for `SendTaskSuccess` and `SendTaskHeartbeat`, in virtual time. A token is
 * valid from when its task is scheduled until the task ends.
 */
export class TaskTokens {
  /** Every token, in the order issued. */
  readonly issued: string[] = [];
  /** When each heartbeat came, in seconds from `NOW`. */
  readonly heartbeats: number[] = [];
  private readonly open = new Map<string, OpenTask>();
  private next: string | undefined;

  /** The token of the task whose parameters are being evaluated. */
  peek(): string {
    this.next ??= `token-${this.issued.length + 1}`;
    return this.next;
  }

  /** The token of the task being started. */
  private take(): string {
    const token = this.peek();
    this.next = undefined;
    this.issued.push(token);
    return token;
  }

  /** Waits for the first of: a result for the token, a failed invocation, a time limit. */
  async wait(call: () => Promise<unknown>, limits: TokenLimits): Promise<unknown> {
    const token = this.take();
    checkLimits(limits);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timeout = setTimeout(() => reject(named('States.Timeout', '')), limits.timeoutSeconds * 1000);
    const silence = () =>
      limits.heartbeatSeconds === undefined
        ? undefined
        : setTimeout(() => reject(named('States.HeartbeatTimeout', '')), limits.heartbeatSeconds * 1000);
    let timer = silence();
    this.open.set(token, {
      succeed: resolve,
      heartbeat: () => {
        clearTimeout(timer);
        timer = silence();
      },
    });
    call().catch(reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timeout);
      clearTimeout(timer);
      this.open.delete(token);
    }
  }

  /** `SendTaskSuccess`. Throws `TaskTimedOut` for a token no task waits under. */
  succeed(token: string, output: unknown): void {
    this.find(token).succeed(structuredClone(output));
  }

  /** `SendTaskHeartbeat`. Throws `TaskTimedOut` for a token no task waits under. */
  heartbeat(token: string): void {
    this.find(token).heartbeat();
    this.heartbeats.push((Date.now() - NOW.getTime()) / 1000);
  }

  private find(token: string): OpenTask {
    const task = this.open.get(token);
    if (!task) throw gone();
    return task;
  }
}

/** Step Functions accepts whole, positive limits only, and a heartbeat shorter than the time limit. */
const checkLimits = ({ timeoutSeconds, heartbeatSeconds }: TokenLimits): void => {
  for (const limit of [timeoutSeconds, heartbeatSeconds ?? 1]) {
    if (!Number.isInteger(limit) || limit <= 0) throw named('States.Runtime', `${limit} is no time limit.`);
  }
  if (heartbeatSeconds !== undefined && heartbeatSeconds >= timeoutSeconds) {
    throw named(
      'States.Runtime',
      `A heartbeat of ${heartbeatSeconds} s never fails within ${timeoutSeconds} s.`,
    );
  }
};
