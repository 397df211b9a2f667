import { type DueItem, reschedule } from '../requests/due-items.ts';
import { toInstant } from '../time.ts';
import type { AtProvider } from './look.ts';

/** Most items that a run keeps. The others stay due. */
const MAX_ITEMS = 500;

/** A due item that a run keeps, and the time of its next check, in epoch milliseconds. */
export interface Kept {
  due: DueItem;
  nextMs: number;
  isBeingLookedAt: boolean;
  /** The rest of the last look, if that is all to do. */
  rest?: AtProvider | undefined;
}

const idOf = ({ key }: DueItem): string => `${key.PK} ${key.SK}`;
const placeOf = ({ place }: DueItem): string => `${place.GSI1PK} ${place.GSI1SK}`;

/** The due items that a run keeps in memory: it writes an item back to its list once, when it is done with it. */
export class DueWork {
  private readonly kept = new Map<string, Kept>();
  /** Where items were that the run is done with: the index may still show them there. */
  private readonly left = new Map<string, string>();

  /** Keeps items that the index shows. An item that has moved is checked when it is due at its new place. */
  add(items: readonly DueItem[]): void {
    for (const due of items) {
      const id = idOf(due);
      const known = this.kept.get(id);
      const isKnown = (known && placeOf(known.due) === placeOf(due)) || this.left.get(id) === placeOf(due);
      if (isKnown || known?.isBeingLookedAt || (!known && this.kept.size >= MAX_ITEMS)) continue;
      // An item whose time cannot be read is due at once: the look lists it anew.
      this.kept.set(id, { due, nextMs: Date.parse(due.place.GSI1SK) || 0, isBeingLookedAt: false });
    }
  }

  /** Forgets the items of the `LOOK` list that the index does not show any more: they are closed, or due after this run. */
  keepListed(items: readonly DueItem[]): void {
    const shown = new Set(items.map(idOf));
    for (const [id, { due, isBeingLookedAt }] of this.kept) {
      if (due.list === 'LOOK' && !isBeingLookedAt && !shown.has(id)) this.kept.delete(id);
    }
  }

  /** Forgets everything: another run has it. */
  clear(): void {
    this.kept.clear();
    this.left.clear();
  }

  get size(): number {
    return this.kept.size;
  }

  /** The items that are due by then, longest due first. */
  dueBy(nowMs: number): Kept[] {
    return [...this.kept.values()]
      .filter(({ nextMs, isBeingLookedAt }) => nextMs <= nowMs && !isBeingLookedAt)
      .sort((one, other) => one.nextMs - other.nextMs);
  }

  /** Stops keeping an item that has been closed, or listed for later. */
  leave({ due }: Kept): void {
    this.kept.delete(idOf(due));
    this.left.set(idOf(due), placeOf(due));
  }

  /**
   * Reschedules every kept item to its next check, unless it is being checked now, is listed for then
   * already, or has moved since.
   */
  async writeBack(): Promise<void> {
    const settled = [...this.kept.values()].filter(({ isBeingLookedAt }) => !isBeingLookedAt);
    await Promise.all(
      settled.map(async (kept) => {
        this.kept.delete(idOf(kept.due));
        const dueAt = toInstant(new Date(kept.nextMs));
        if (dueAt !== kept.due.place.GSI1SK) await reschedule(kept.due, kept.due.list, dueAt);
      }),
    );
  }
}
