/** A task that waits under a token. */
export interface Callback {
  succeed(output: unknown): void;
}

/** The tasks that wait under tokens. */
export class Callbacks {
  private readonly waiting = new Map<string, Callback>();

  /** The task that waits under a token; undefined once it has ended. */
  find(token: string): Callback | undefined {
    return this.waiting.get(token);
  }

  /** Waits for what is sent for a token, which is then unknown. So it is once the returned function was called. */
  wait(token: string, succeed: (output: unknown) => void): () => void {
    const forget = () => {
      this.waiting.delete(token);
    };
    this.waiting.set(token, {
      succeed: (output) => {
        forget();
        succeed(output);
      },
    });
    return forget;
  }
}
