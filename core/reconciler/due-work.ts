import { allEnded } from '../concurrency/in-parallel.ts';
import type { Provider } from '../provider-calls/providers.ts';
import { type DueItem, listDue, reschedule } from '../requests/due-items.ts';
import { toInstant } from '../time.ts';
import type { ProviderQuery } from './check.ts';

/** Most items that a run keeps. The others stay due. */
const MAX_ITEMS = 1_000;
/** Most items of a partition that are read at once. */
const ITEMS_PER_PARTITION = 250;

/** A due item that a run keeps, and the time of its next check, in epoch milliseconds. */
export interface Kept {
  due: DueItem;
  nextMs: number;
  isBeingChecked: boolean;
  /** The rest of the last check, if that is all to do. */
  rest?: ProviderQuery | undefined;
}

const itemText = ({ key }: DueItem): string => `${key.PK} ${key.SK}`;
const dueKeyOf = ({ dueKey }: DueItem): string => `${dueKey.GSI1PK} ${dueKey.GSI1SK}`;

/** Lists the items due by an instant, at most about `MAX_ITEMS`. `next` has the positions from which the rest of the list is read. */
export const listDueWork = async (list: 'START' | 'CHECK', until: Date) => {
  const { items, next } = await listDue(list, toInstant(until), ITEMS_PER_PARTITION);
  let rest = next;
  while (rest.length > 0 && items.length < MAX_ITEMS) {
    const page = await listDue(list, toInstant(until), ITEMS_PER_PARTITION, rest);
    items.push(...page.items);
    rest = page.next;
  }
  return { items, next: rest };
};

/** The due items that a run keeps in memory. An item is written back to its list only once, at the end of its work. */
export class DueWork {
  private readonly kept = new Map<string, Kept>();
  /**
   * The due keys of items that the run has finished: the eventually consistent index may still show an item under its old due
   * key.
   */
  private readonly left = new Map<string, string>();

  /** Adds items that the index shows. A moved item is checked when it is due under its new due key. */
  add(items: readonly DueItem[]): void {
    for (const due of items) {
      const id = itemText(due);
      const known = this.kept.get(id);
      const isKnown = (known && dueKeyOf(known.due) === dueKeyOf(due)) || this.left.get(id) === dueKeyOf(due);
      if (isKnown || known?.isBeingChecked || (!known && this.kept.size >= MAX_ITEMS)) continue;
      // An item whose time cannot be read is due at once: the check lists it anew.
      this.kept.set(id, { due, nextMs: Date.parse(due.dueKey.GSI1SK) || 0, isBeingChecked: false });
    }
  }

  /** Forgets the items of the `CHECK` list that the index does not show any more: they are closed, or due after this run. */
  keepListed(items: readonly DueItem[]): void {
    const shown = new Set(items.map(itemText));
    for (const [id, { due, isBeingChecked }] of this.kept) {
      if (due.list === 'CHECK' && !isBeingChecked && !shown.has(id)) this.kept.delete(id);
    }
  }

  /** Forgets everything: another run has it. */
  clear(): void {
    this.kept.clear();
    this.left.clear();
  }

  /** The items whose tasks this provider account can list, without the items under check. */
  listedAt({ id, baseUrl }: Pick<Provider, 'id' | 'baseUrl'>): Kept[] {
    return [...this.kept.values()].filter(({ rest, isBeingChecked }) => {
      const provider = rest?.listed?.provider;
      return !isBeingChecked && provider?.id === id && provider.baseUrl === baseUrl;
    });
  }

  get size(): number {
    return this.kept.size;
  }

  /** The items that are due by then, longest due first. */
  dueBy(nowMs: number): Kept[] {
    return [...this.kept.values()]
      .filter(({ nextMs, isBeingChecked }) => nextMs <= nowMs && !isBeingChecked)
      .sort((one, other) => one.nextMs - other.nextMs);
  }

  /** Stops keeping an item that has been closed, or listed for later. */
  leave({ due }: Kept): void {
    this.kept.delete(itemText(due));
    this.left.set(itemText(due), dueKeyOf(due));
  }

  /**
   * Reschedules every kept item to its next check, unless it is being checked now, is listed for then
   * already, or has moved since. Rejects once all are written that can be.
   */
  async writeBack(): Promise<void> {
    const settled = [...this.kept.values()].filter(({ isBeingChecked }) => !isBeingChecked);
    await allEnded(
      settled.map(async (kept) => {
        this.kept.delete(itemText(kept.due));
        const dueAt = toInstant(new Date(kept.nextMs));
        if (dueAt !== kept.due.dueKey.GSI1SK) await reschedule(kept.due, kept.due.list, dueAt);
      }),
    );
  }
}
