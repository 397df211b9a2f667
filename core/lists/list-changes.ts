import { type Clock, systemClock } from '../clock.ts';
import { noteListChange } from './counted-ranges.ts';

/** A note covers the changes of its part that begin within this time: a fraction of what it takes them to be visible. */
const NOTE_SECONDS = 60;

/** The changes that one call makes in lists, noted once for many in the same part. */
export class ListChanges {
  private readonly notes = new Map<string, { atMs: number; done: Promise<void> }>();
  private readonly clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.clock = clock;
  }

  /** Like `noteListChange`. */
  async note(accountId: string, kind: string, part: string): Promise<void> {
    const key = JSON.stringify([accountId, kind, part]);
    const atMs = this.clock.now().getTime();
    let note = this.notes.get(key);
    if (!note || atMs - note.atMs >= NOTE_SECONDS * 1_000) {
      note = { atMs, done: noteListChange(accountId, kind, part, this.clock) };
      this.notes.set(key, note);
    }
    try {
      await note.done;
    } catch (error) {
      this.notes.delete(key);
      throw error;
    }
  }
}
