import { countMetric, logger, METRIC } from './observability.ts';

/**
 * Each item as `read` returns it, in their order. An item that `read` throws for is left out, logged by `idOf` and counted, so that
 * it does not break the rest of its page: another version may have written it.
 */
export const readable = <Item, T>(
  items: readonly Item[],
  read: (item: Item) => T,
  idOf: (item: Item) => string,
): T[] =>
  items.flatMap((item) => {
    try {
      return [read(item)];
    } catch (error) {
      reportUnreadable(idOf(item), error as Error);
      return [];
    }
  });

/** Logs and counts an item that cannot be read. */
export const reportUnreadable = (item: string, error?: Error): void => {
  logger.error('an item could not be read', { item, ...(error && { error }) });
  countMetric(METRIC.itemUnreadable, {});
};

/** The key of a stored item. */
type Keyed = { PK?: unknown; SK?: unknown };

/** As `readable`, logged by key. Not for items with an address in their key. */
export const readableItems = <Item extends Keyed, T>(items: readonly Item[], read: (item: Item) => T): T[] =>
  readable(items, read, ({ PK, SK }) => `${PK} ${SK}`);
