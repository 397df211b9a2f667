/** The largest and the default page size of every list. */
export const MAX_PAGE_SIZE = 50;
export const DEFAULT_PAGE_SIZE = 20;

/** A page of a list; `page` counts from 1. */
export interface PageRequest {
  page: number;
  pageSize: number;
}

/** One page of a list, as every list endpoint returns it. */
export interface Page<T> {
  items: T[];
  page: number;
  pageSize: number;
  /** Whether the next page holds at least one item. */
  hasMore: boolean;
}

export const pageOf = <T>(items: T[], { page, pageSize }: PageRequest, hasMore: boolean): Page<T> => ({
  items,
  page,
  pageSize,
  hasMore,
});

export const mapPage = <T, U>(page: Page<T>, render: (item: T) => U): Page<U> => ({
  ...page,
  items: page.items.map(render),
});
