import { PRIMARY_KEY } from '../../../../core/table/keys.ts';
import type { Item } from '../../../unit/fakes/expressions.ts';

/** An attribute that puts an item into an index. */
const INDEX_PARTITION = /^GSI\d+PK$/;

interface Pending {
  at: number;
  key: string;
  item: Item | undefined;
}

/** A partition of an index: its attribute and its value. */
const partitionText = (attribute: string, value: unknown): string => `${attribute}=${String(value)}`;

const partitionsOf = (item: Item | undefined): string[] =>
  Object.entries(item ?? {})
    .filter(([name]) => INDEX_PARTITION.test(name))
    .map(([name, value]) => partitionText(name, value));

/**
 * The items as the global secondary indexes show them: each write arrives there a little later, those of one
 * item in their order.
 */
export class Indexes {
  private readonly shown = new Map<string, Item>();
  private readonly partitions = new Map<string, Set<string>>();
  private readonly pending: Pending[] = [];
  private readonly lastAt = new Map<string, number>();
  private readonly firstAt = new Map<string, number>();

  /** An item is this from now on, and is shown so from `at` on at the earliest. Says since when; undefined when it is in no index. */
  write(key: string, item: Item | undefined, at: number): number | undefined {
    const isListed = Object.keys(item ?? {}).some((name) => INDEX_PARTITION.test(name));
    if (!isListed && !this.lastAt.has(key)) return undefined;
    const due = Math.max(at, this.lastAt.get(key) ?? 0);
    if (!this.firstAt.has(key)) this.firstAt.set(key, due);
    this.lastAt.set(key, due);
    this.pending.push({ at: due, key, item });
    return due;
  }

  /** From when on an item was shown at all, in epoch milliseconds; undefined when it is in no index. */
  shownFrom(key: string): number | undefined {
    return this.firstAt.get(key);
  }

  /** The items an index shows in one partition at a time, in no order. */
  partition(attribute: string, value: unknown, now: number): Item[] {
    this.catchUp(now);
    const keys = this.partitions.get(partitionText(attribute, value)) ?? [];
    return [...keys].map((key) => this.shown.get(key)).filter((item): item is Item => item !== undefined);
  }

  private catchUp(now: number): void {
    if (!this.pending.some(({ at }) => at <= now)) return;
    const due = this.pending.filter(({ at }) => at <= now).toSorted((a, b) => a.at - b.at);
    const later = this.pending.filter(({ at }) => at > now);
    this.pending.splice(0, this.pending.length, ...later);
    for (const { key, item } of due) this.show(key, item);
  }

  private show(key: string, item: Item | undefined): void {
    for (const partition of partitionsOf(this.shown.get(key))) this.partitions.get(partition)?.delete(key);
    if (!item) {
      this.shown.delete(key);
      return;
    }
    this.shown.set(key, item);
    for (const partition of partitionsOf(item)) {
      const keys = this.partitions.get(partition) ?? new Set();
      this.partitions.set(partition, keys.add(key));
    }
  }
}

/** What names an item within the table. */
export const keyText = (item: Item): string => `${item[PRIMARY_KEY.partition]}|${item[PRIMARY_KEY.sort]}`;
