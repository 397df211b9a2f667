/** Timers that end together. None of them keeps the process alive. */
export class Timers {
  readonly #running = new Set<NodeJS.Timeout>();
  #isClosed = false;

  /** Whether `close` was called. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls `work` once, after so many milliseconds, unless closed by then. */
  after(milliseconds: number, work: () => void): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#running.delete(timer);
      work();
    }, milliseconds).unref();
    this.#running.add(timer);
  }

  /** Stops every timer, for good. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#running) clearTimeout(timer);
    this.#running.clear();
  }
}
