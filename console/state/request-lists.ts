import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Page } from '../../packages/client/src/pages.ts';
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

/** Which requests the service is asked for. Empty text asks for all. */
export interface RequestQuery {
  type: string;
  status: string;
  model: string;
  endUserEmail: string;
  /** ISO 8601 instants: strictly newer, and strictly older. */
  createdAfter: string;
  createdBefore: string;
}

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
const EMPTY: KindList = { ids: [], pages: 0, hasMore: false };

/** A list of requests that is read page by page. */
export const createRequestList = (query: RequestQuery): RequestList => {
  const lists = signal<Partial<Record<Kind, KindList>>>({});
  const isLoading = signal(true);
  const problem = signal<string | undefined>(undefined);
  const kinds = KINDS.filter((kind) => query.type === '' || query.type === kind);
  const merged = computed(() => idsUpToHorizon(kinds.map((kind) => lists.value[kind] ?? EMPTY)));
  const { type: _, ...asked } = query;
  const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''));

  const readPage = async (kind: Kind, page: number): Promise<Page<AnyRecord>> => {
    const client = requiredClient();
    const options = { ...given, page, pageSize: PAGE_SIZE };
    const read = await (kind === 'image' ? client.listImages(options) : client.listVideos(options));
    read.items.forEach(keep);
    return read;
  };
  const readFirst = async (kind: Kind): Promise<readonly string[]> => {
    const { items, hasMore } = await readPage(kind, 1);
    const newest = items.map(({ requestId }) => requestId);
    const known = lists.peek()[kind];
    // After a long pause there may be older ones between these and the known ones.
    const isConnected = known?.ids.some((id) => newest.includes(id)) ?? false;
    const list =
      known && known.pages > 0 && (isConnected || !hasMore)
        ? { ...known, ids: newestFirst([...newest, ...known.ids]) }
        : { ids: newest, pages: 1, hasMore };
    lists.value = { ...lists.peek(), [kind]: list };
    return newest;
  };
  const addCreated = (requestId: string): void => {
    const kind = isVideoId(requestId) ? 'video' : 'image';
    const known = lists.peek()[kind] ?? EMPTY;
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
          kinds.map(async (kind) => {
            const known = lists.peek()[kind];
            if (!known?.hasMore || !merged.peek().limitedBy.includes(known)) return;
            const { items, hasMore } = await readPage(kind, known.pages + 1);
            const ids = newestFirst([...known.ids, ...items.map(({ requestId }) => requestId)]);
            lists.value = { ...lists.peek(), [kind]: { ids, pages: known.pages + 1, hasMore } };
          }),
        ),
      ),
  };
};
