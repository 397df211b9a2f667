const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The error of Step Functions for a token no task waits under. */
const gone = (): Error => named('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");

/** The task tokens of one execution, for `SendTaskSuccess`, in virtual time. A token is valid from when its task is scheduled until the task ends. */
export class TaskTokens {
  /** Every token, in the order issued. */
  readonly issued: string[] = [];
  private readonly open = new Map<string, (output: unknown) => void>();
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

  /** Waits for the first of: a result for the token, a failed invocation, the time limit. */
  async wait(call: () => Promise<unknown>, timeoutSeconds: number): Promise<unknown> {
    const token = this.take();
    if (!Number.isInteger(timeoutSeconds) || timeoutSeconds <= 0)
      throw named('States.Runtime', `${timeoutSeconds} is no time limit.`);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timeout = setTimeout(() => reject(named('States.Timeout', '')), timeoutSeconds * 1000);
    this.open.set(token, resolve);
    call().catch(reject);
    try {
      return await promise;
    } finally {
      clearTimeout(timeout);
      this.open.delete(token);
    }
  }

  /** `SendTaskSuccess`. Throws `TaskTimedOut` for a token no task waits under. */
  succeed(token: string, output: unknown): void {
    const succeed = this.open.get(token);
    if (!succeed) throw gone();
    succeed(structuredClone(output));
  }
}
