import type { Clock } from './clock.ts';
import { TaskError } from './errors.ts';

/** A task that waits under a token. */
export interface Callback {
  succeed(output: unknown): void;
  fail(error: string, cause: string): void;
  heartbeat(): void;
}

/** The tasks that wait under tokens. */
export class Callbacks {
  private readonly waiting = new Map<string, Callback>();
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The task that waits under a token; undefined once it has ended. */
  find(token: string): Callback | undefined {
    return this.waiting.get(token);
  }

  /**
   * Waits for what is sent for a token, and fails with `States.HeartbeatTimeout` after so many seconds without a heartbeat. The
   * returned function ends that: from then on the token is unknown.
   */
  wait(
    token: string,
    heartbeatSeconds: number | undefined,
    settle: { succeed: (output: unknown) => void; fail: (error: TaskError) => void },
  ): () => void {
    let cancel = (): void => undefined;
    const forget = () => {
      cancel();
      this.waiting.delete(token);
    };
    const fail = (error: string, cause: string) => {
      forget();
      settle.fail(new TaskError(error, cause));
    };
    const heartbeat = () => {
      if (heartbeatSeconds === undefined) return;
      cancel();
      cancel = this.clock.after(heartbeatSeconds * 1_000, () => fail('States.HeartbeatTimeout', ''));
    };
    const succeed = (output: unknown) => {
      forget();
      settle.succeed(output);
    };
    this.waiting.set(token, { succeed, fail, heartbeat });
    heartbeat();
    return forget;
  }
}
