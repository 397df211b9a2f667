/** A line of states: those of the execution, or of an iteration of a Map. It ends with the line around it. */
export class Branch {
  readonly outer: Branch | undefined;
  /** The item of a Map, counted from 0. */
  readonly index: number | undefined;
  isStopped = false;
  private readonly cleanups = new Set<() => void>();

  constructor(outer?: Branch, index?: number) {
    this.outer = outer;
    this.index = index;
    this.isStopped = outer?.isStopped ?? false;
  }

  /** A line within this one. */
  open(index?: number): Branch {
    const inner = new Branch(this, index);
    this.onStop(() => inner.stop());
    return inner;
  }

  /** Calls `cleanup` if it is stopped. The returned function withdraws that. */
  onStop(cleanup: () => void): () => void {
    this.cleanups.add(cleanup);
    return () => this.cleanups.delete(cleanup);
  }

  /** Ends it: no further state begins, timers are cancelled, and what it waits for never comes. */
  stop(): void {
    if (this.isStopped) return;
    this.isStopped = true;
    for (const cleanup of this.cleanups) cleanup();
    this.cleanups.clear();
  }
}
