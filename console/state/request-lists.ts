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

/** A list of requests that is read page by page. */
export const createRequestList = (query: RequestQuery): RequestList => {
  const lists = signal<Partial<Record<Kind, ReadList>>>({});
  const isLoading = signal(true);
  const problem = signal<string | undefined>(undefined);
  const kinds = KINDS.filter((kind) => query.type === '' || query.type === kind);
  const merged = computed(() => idsUpToHorizon(kinds.map((kind) => lists.value[kind] ?? UNREAD)));
  const { type: _, ...asked } = query;
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''));

  const readPage = async (kind: Kind, at: ReadList['next']) => {
    const client = requiredClient();
    const options = { ...given, ...at, pageSize: PAGE_SIZE, include: 'input' as const };
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
  };
  const readFirst = async (kind: Kind): Promise<readonly string[]> => {
    const read = await readPage(kind, { page: 1 });
    const known = lists.peek()[kind] ?? UNREAD;
    // After a long pause, unread requests may lie between this page and the known list.
    const isConnected = read.ids.length === 0 || known.ids.some((id) => read.ids.includes(id));
    const list =
      known.isRead && (isConnected || !read.hasMore)
        ? { ...known, ids: newestFirst([...read.ids, ...known.ids]) }
        : { ...read, isRead: true };
    lists.value = { ...lists.peek(), [kind]: list };
    return read.ids;
  };
  const addCreated = (requestId: string): void => {
    const kind = isVideoId(requestId) ? 'video' : 'image';
    const known = lists.peek()[kind] ?? UNREAD;
    lists.value = { ...lists.peek(), [kind]: { ...known, ids: newestFirst([requestId, ...known.ids]) } };
  };
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work();
      problem.value = undefined;
    } catch (error) {
      problem.value = messageOf(error);
    } finally {
      isLoading.value = false;
    }
  };

  return {
    ids: computed(() =>
      merged.value.ids.filter((id) => {
        const record = recordOf(id);
        return record && (query.status === '' || statusAt(record, now.value) === query.status);
      }),
    ),
    hasMore: computed(() => merged.value.hasMore),
    isLoading,
    problem,
    addCreated,
    refresh: () =>
      attempt(async () => {
        const justRead = await Promise.all(kinds.map(readFirst));
        await readUnfinished(new Set(justRead.flat()));
      }),
    loadMore: () =>
      attempt(() =>
        Promise.all(
          merged.peek().limitedBy.map(async (known) => {
            const kind = kinds.find((one) => lists.peek()[one] === known);
            if (!kind) return;
            const read = await readPage(kind, known.next);
            const ids = newestFirst([...known.ids, ...read.ids]);
            lists.value = { ...lists.peek(), [kind]: { ...read, ids, isRead: true } };
          }),
        ),
      ),
  };
};
