import type { StoredItem } from '../table/table.ts';
import type { Instant } from '../time.ts';

/** Counts of what a range of a list holds, as stored. */
export type StoredCounts = Record<string, number | string>;

/**
 * A list of an account, newest first, whose older part can be counted: an index partition. A position is the text of its
 * sort key; several entries may share one.
 */
export interface CountedList<Entry, Counts extends StoredCounts> {
  accountId: string;
  /** Its name among all lists of the account. */
  name: string;
  index: { name: string; partition: string; sort: string };
  /** Its partition of the index. */
  partition: string;
  /** A text before all positions. */
  bottom: string;
  /** A text after all positions. */
  top: string;
  toEntry: (item: StoredItem) => Entry;
  positionOf: (entry: Entry) => string;
  /** Whether the entry changes from now on only by passing of time, or by a change that is noted. */
  isSettled: (entry: Entry) => boolean;
  count: (entries: readonly Entry[]) => Counts;
  /** The kind of lists that it shares noted changes with. */
  kind: string;
  /** The part of the list in which a change at a position is noted. Parts sort as positions do. */
  partOf: (position: string) => string;
}

/** The entries of a list that are wanted. */
export interface ListView<Entry, Counts extends StoredCounts> {
  /** The oldest position wanted. */
  oldest: string;
  /** How many entries to read for one that matches, at a guess; absent when all are expected to. */
  entriesPerMatch?: number;
  matches: (entry: Entry) => boolean;
  /** Number of entries of a range that match; undefined when its counts do not tell. Absent when no counts tell. */
  matching?: (counts: Counts) => number | undefined;
}

/** The counts of the entries from the position `from` on, up to but without the position `before`. */
export interface CountedRange<Counts extends StoredCounts> {
  from: string;
  before: string;
  counts: Counts;
  /** When reading them began. */
  countedAt: Instant;
}
