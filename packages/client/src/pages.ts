/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pageSize: number;
  /** Whether the next page holds at least one item. */
  readonly hasMore: boolean;
  /** Where a search for a model stopped; iterating goes on from there. */
  readonly nextCreatedBefore?: string | undefined;
}

/** Filters of the pages after a search that stopped, in place of those given. */
interface Next {
  createdBefore: string;
}

/**
 * A list of the service. Awaiting the list gives its first page; iterating gives every item once, newest first. Items
 * created while iterating move others to later pages; items already returned are skipped. Deleting while iterating
 * moves items to pages that were read: collect first, then delete.
 */
export class PageList<Item> implements AsyncIterable<Item>, PromiseLike<Page<Item>> {
  readonly #fetchPage: (page: number, next?: Next) => Promise<Page<Item>>;
  readonly #idField: keyof Item;
  readonly #firstPage: number;

  constructor(
    fetchPage: (page: number, next?: Next) => Promise<Page<Item>>,
    idField: keyof Item,
    firstPage: number,
  ) {
    this.#fetchPage = fetchPage;
    this.#idField = idField;
    this.#firstPage = firstPage;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is meant to be awaited
  then<Result = Page<Item>, Rejected = never>(
    onFulfilled?: ((page: Page<Item>) => Result | PromiseLike<Result>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Result | Rejected> {
    return this.#fetchPage(this.#firstPage).then(onFulfilled, onRejected);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const given = new Set<unknown>();
    let next: Next | undefined;
    for (let number = this.#firstPage; ; number += 1) {
      const { items, hasMore, nextCreatedBefore } = await this.#fetchPage(number, next);
      for (const item of items) {
        const id = item[this.#idField];
        if (given.has(id)) continue;
        given.add(id);
        yield item;
      }
      if (!hasMore) return;
      if (nextCreatedBefore) {
        number = 0;
        next = { createdBefore: nextCreatedBefore };
      }
    }
  }

  /** The first items, at most `limit`. */
  async toArray({ limit }: { limit: number }): Promise<Item[]> {
    const items: Item[] = [];
    if (limit <= 0) return items;
    for await (const item of this) if (items.push(item) >= limit) break;
    return items;
  }
}
