import type { CountedList, StoredCounts } from './counted-list.ts';

/**
 * What a walk through a list reads without a gap, to be counted. Entries come newest first. A range has `size` entries or more,
 * fewer than twice as many but for those that share a position.
 */
export class UncountedRun<Entry, Counts extends StoredCounts> {
  /** The ranges counted so far. */
  readonly counted: { from: string; before: string; counts: Counts }[] = [];
  private readonly list: CountedList<Entry, Counts>;
  private readonly size: number;
  private before: string | undefined;
  private entries: Entry[] = [];

  constructor(list: CountedList<Entry, Counts>, size: number) {
    this.list = list;
    this.size = size;
  }

  /** Takes the next entry. The first one, and one that is not settled, only tells where a range may begin. */
  add(entry: Entry): void {
    const position = this.list.positionOf(entry);
    if (this.before === undefined || !this.list.isSettled(entry)) {
      this.stop();
      this.before = position;
    } else if (position !== this.before) {
      this.entries.push(entry);
      if (this.entries.length >= 2 * this.size) this.cut();
    }
  }

  /** Everything down to this position has been read, itself included. */
  complete(position: string): void {
    if (this.entries.length >= this.size) this.emit(this.entries, position);
    this.restart(position);
  }

  /** Goes on below this position. */
  restart(position: string): void {
    this.before = position;
    this.entries = [];
  }

  /** Nothing is read directly below the last entry. Others may share its position, so it is left out. */
  stop(): void {
    const last = this.entries.at(-1);
    const whole = this.entries.filter((entry) => this.positionAt(entry) !== this.positionAt(last));
    if (whole.length >= this.size) this.emit(whole, this.positionAt(whole.at(-1)));
    this.before = undefined;
    this.entries = [];
  }

  private cut(): void {
    let end = this.size;
    while (this.positionAt(this.entries[end]) === this.positionAt(this.entries[end - 1])) end++;
    if (end >= this.entries.length) return;
    const from = this.positionAt(this.entries[end - 1]);
    this.emit(this.entries.slice(0, end), from);
    this.entries = this.entries.slice(end);
    this.before = from;
  }

  private positionAt(entry: Entry | undefined): string {
    return entry === undefined ? '' : this.list.positionOf(entry);
  }

  private emit(entries: readonly Entry[], from: string): void {
    if (this.before === undefined) return;
    this.counted.push({ from, before: this.before, counts: this.list.count(entries) });
  }
}
