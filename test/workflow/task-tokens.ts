import type { Callbacks } from '@generation-service/local-aws/interpreter';

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
