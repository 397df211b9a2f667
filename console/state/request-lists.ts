import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Page } from '../../packages/client/src/pages.ts';
import type { RequestQuery } from '../requests/search-rules.ts';
import { now } from './clock.ts';
import {
  type AnyRecord,
  idsUpToHorizon,
  isVideoId,
  type KindList,
  newestFirst,
  statusAt,
} from './record-rules.ts';
import { keep, messageOf, readUnfinished, recordOf } from './records.ts';
import { requiredClient } from './session.ts';

const PAGE_SIZE = 50;

/** The query that asks for everything. */
export const EVERYTHING: RequestQuery = {
  ...{ type: '', status: '', model: '', endUserEmail: '', createdAfter: '', createdBefore: '' },
};

/** Requests that answer a query, newest first, both kinds in one order. Nothing rejects: `problem` says what went wrong. */
export interface RequestList {
  readonly ids: ReadonlySignal<readonly string[]>;
  readonly hasMore: ReadonlySignal<boolean>;
  readonly isLoading: ReadonlySignal<boolean>;
  readonly problem: ReadonlySignal<string | undefined>;
  /** Reads the newest ones again, and those that are unfinished. */
  refresh(): Promise<void>;
  /** Reads older ones. */
  loadMore(): Promise<void>;
  /** Adds a request that was just created here, before it is read in a list. */
  addCreated(requestId: string): void;
}

type Kind = 'image' | 'video';
const KINDS: readonly Kind[] = ['image', 'video'];

/** A list with where to read on. */
interface ReadList extends KindList {
  isRead: boolean;
  next: { page: number; createdBefore?: string };
}

const UNREAD: ReadList = { ids: [], hasMore: false, isRead: false, next: { page: 1 } };

/** The query parameters of a search: what is asked beside the kind of request. */
const parametersOf = ({ type: _, ...asked }: RequestQuery): Record<string, string> =>
  Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''));

/** The list of `createRequestList`: what was read of each kind, and what is shown of it. */
class PagedRequestList implements RequestList {
  private readonly lists = signal<Partial<Record<Kind, ReadList>>>({});
  readonly isLoading = signal(true);
  readonly problem = signal<string | undefined>(undefined);
  private readonly kinds: readonly Kind[];
  private readonly merged: ReadonlySignal<ReturnType<typeof idsUpToHorizon<ReadList>>>;
  private readonly given: Record<string, string>;
  readonly ids: RequestList['ids'];
  readonly hasMore: RequestList['hasMore'];

  constructor(query: RequestQuery) {
    this.kinds = KINDS.filter((kind) => query.type === '' || query.type === kind);
    this.merged = computed(() => idsUpToHorizon(this.kinds.map((kind) => this.lists.value[kind] ?? UNREAD)));
    this.given = parametersOf(query);
    this.ids = computed(() =>
      this.merged.value.ids.filter((id) => {
        const record = recordOf(id);
        return record && (query.status === '' || statusAt(record, now.value) === query.status);
      }),
    );
    this.hasMore = computed(() => this.merged.value.hasMore);
  }

  readonly refresh = (): Promise<void> =>
    this.attempt(async () => {
      const justRead = await Promise.all(this.kinds.map(this.readFirst));
      await readUnfinished(new Set(justRead.flat()));
    });

  readonly loadMore = (): Promise<void> =>
    this.attempt(() => Promise.all(this.merged.peek().limitedBy.map((known) => this.readMore(known))));

  private async readMore(known: ReadList): Promise<void> {
    const kind = this.kinds.find((one) => this.lists.peek()[one] === known);
    if (!kind) return;
    const read = await this.readPage(kind, known.next);
    const ids = newestFirst([...known.ids, ...read.ids]);
    this.lists.value = { ...this.lists.peek(), [kind]: { ...read, ids, isRead: true } };
  }

  private async readPage(kind: Kind, at: ReadList['next']) {
    const client = requiredClient();
    const options = { ...this.given, ...at, pageSize: PAGE_SIZE, include: 'input' as const };
    const page: Page<AnyRecord> = await (kind === 'image'
      ? client.listImages(options)
      : client.listVideos(options));
    page.items.forEach(keep);
    const { hasMore, nextCreatedBefore } = page;
    // A search for a model stops after a number of requests, and goes on from there.
    const next =
      nextCreatedBefore === undefined
        ? { ...at, page: at.page + 1 }
        : { page: 1, createdBefore: nextCreatedBefore };
    return { ids: page.items.map(({ requestId }) => requestId), hasMore, next };
  }

  private readonly readFirst = async (kind: Kind): Promise<readonly string[]> => {
    const read = await this.readPage(kind, { page: 1 });
    const known = this.lists.peek()[kind] ?? UNREAD;
    // After a long pause, unread requests may lie between this page and the known list.
    const isConnected = read.ids.length === 0 || known.ids.some((id) => read.ids.includes(id));
    const list =
      known.isRead && (isConnected || !read.hasMore)
        ? { ...known, ids: newestFirst([...read.ids, ...known.ids]) }
        : { ...read, isRead: true };
    this.lists.value = { ...this.lists.peek(), [kind]: list };
    return read.ids;
  };

  addCreated(requestId: string): void {
    const kind = isVideoId(requestId) ? 'video' : 'image';
    const known = this.lists.peek()[kind] ?? UNREAD;
    this.lists.value = {
      ...this.lists.peek(),
      [kind]: { ...known, ids: newestFirst([requestId, ...known.ids]) },
    };
  }

  private async attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      this.problem.value = undefined;
    } catch (error) {
      this.problem.value = messageOf(error);
    } finally {
      this.isLoading.value = false;
    }
  }
}

/** A list of requests that is read page by page. */
export const createRequestList = (query: RequestQuery): RequestList => new PagedRequestList(query);
