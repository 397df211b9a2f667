import { computed, effect, type Signal, signal } from '@preact/signals';
import { GenerationServiceError, NotFoundError } from '../../packages/client/src/index.ts';
import { announce } from './notices.ts';
import { type AnyRecord, idsIn, isFinished, isVideoId, merge, newestFirst } from './record-rules.ts';
import { requiredClient } from './session.ts';

const POLL_MILLISECONDS = 5_000;
const PAGE_SIZE = 50;
/** Reads at once: a key has a rate. */
const READS_AT_ONCE = 4;
/** Unfinished requests that are followed, the newest ones. */
const MAX_FOLLOWED = 40;

/** Every record that any page shows, by id, so that no two pages disagree. */
const records = new Map<string, Signal<AnyRecord>>();
/** Counts changes of the set and of statuses. */
const version = signal(0);
/** URLs that the files' host refused. */
const refusedUrls = new Set<string>();

/** The ids that the list shows, newest first. */
export const listed = signal<readonly string[]>([]);
/** Ids that were created elsewhere since the list was read. They are offered, not pushed under the reader. */
export const unseen = signal<readonly string[]>([]);
/** Whether there are older requests than those listed. */
export const hasMore = signal(false);
/** The list is being read for the first time. */
export const isLoading = signal(true);
/** Why the list could not be read. */
export const listProblem = signal<string | undefined>(undefined);
let pagesRead = 0;

/** The record of a request, where it has been read. */
export const recordOf = (requestId: string): AnyRecord | undefined => {
  version.value;
  return records.get(requestId)?.value;
};

/** Keeps a record read from the service. */
export const keep = (read: AnyRecord): void => {
  const held = records.get(read.requestId);
  const before = held?.peek();
  const after = merge(before, read, refusedUrls);
  if (held) held.value = after;
  else records.set(read.requestId, signal(after));
  if (before?.status === after.status) return;
  version.value += 1;
  if (before && isFinished(after)) announce(`${after.requestId} ${after.status}.`);
};

const forget = (requestId: string): void => {
  records.delete(requestId);
  listed.value = listed.value.filter((id) => id !== requestId);
  version.value += 1;
};

/** Shows a request of this page's own on top of the list. */
export const addCreated = (record: AnyRecord): void => {
  keep(record);
  listed.value = newestFirst([record.requestId, ...listed.value]);
};

/** Reads a request. Resolves to false when it is not there any more; rejects with the client's errors. */
export const readOne = async (requestId: string): Promise<boolean> => {
  const client = requiredClient();
  try {
    keep(isVideoId(requestId) ? await client.getVideo(requestId) : await client.getImage(requestId));
    return true;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    forget(requestId);
    return false;
  }
};

const readAll = async (requestIds: readonly string[]): Promise<void> => {
  const left = [...requestIds];
  const readNext = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await readOne(id);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
};

/** Those of the ids that are not known, or may have changed. */
const unreadOf = (ids: readonly string[]): string[] => [
  ...new Set([...ids.filter((id) => !records.has(id)), ...unfinished.peek()]),
];

/** The ids of a page of the history whose requests still exist. Reads those that are not known yet, and all that are unfinished. */
const readPage = async (page: number): Promise<{ ids: string[]; hasMore: boolean }> => {
  const client = requiredClient();
  const [history, images] = await Promise.all([
    client.listBalanceHistory({ page, pageSize: PAGE_SIZE }),
    client.listImages({ page, pageSize: PAGE_SIZE }),
  ]);
  images.items.forEach(keep);
  const ids = idsIn(history.items);
  const justRead = new Set(images.items.map(({ requestId }) => requestId));
  await readAll(unreadOf(ids).filter((id) => !justRead.has(id)));
  return { ids: ids.filter((id) => records.has(id)), hasMore: history.hasMore };
};

/** Reads the newest requests again and shows them all. */
export const refresh = async (): Promise<void> => {
  try {
    const page = await readPage(1);
    listed.value = newestFirst([...page.ids, ...listed.value]);
    if (pagesRead === 0) {
      hasMore.value = page.hasMore;
      pagesRead = 1;
    }
    unseen.value = [];
    listProblem.value = undefined;
  } catch (error) {
    listProblem.value = messageOf(error);
  } finally {
    isLoading.value = false;
  }
};

/** Reads older requests and adds them below. */
export const loadMore = async (): Promise<void> => {
  try {
    const page = await readPage(pagesRead + 1);
    pagesRead += 1;
    hasMore.value = page.hasMore;
    listed.value = newestFirst([...listed.value, ...page.ids]);
    listProblem.value = undefined;
  } catch (error) {
    listProblem.value = messageOf(error);
  }
};

/** The sentence for people in an error of the client. Throws what is a fault of the console. */
export const messageOf = (error: unknown): string => {
  if (error instanceof GenerationServiceError) return error.message;
  throw error;
};

/** Reads a request once more after the files' host has refused one of its URLs, and takes the new one. */
export const replaceUrl = (requestId: string, url: string): void => {
  if (refusedUrls.has(url)) return;
  refusedUrls.add(url);
  readOne(requestId).catch((error) => {
    listProblem.value = messageOf(error);
  });
};

const unfinished = computed(() => {
  version.value;
  return newestFirst([...records].filter(([, record]) => !isFinished(record.peek())).map(([id]) => id)).slice(
    0,
    MAX_FOLLOWED,
  );
});

const poll = async (): Promise<void> => {
  try {
    const { ids } = await readPage(1);
    const shown = new Set(listed.peek());
    unseen.value = ids.filter((id) => !shown.has(id));
    listProblem.value = undefined;
  } catch (error) {
    listProblem.value = messageOf(error);
  }
};

const isVisible = signal(!document.hidden);
document.addEventListener('visibilitychange', () => {
  isVisible.value = !document.hidden;
});

/** Polls while something is unfinished and the tab is seen. Returns what ends it. */
export const follow = (): (() => void) => {
  const isActive = computed(() => isVisible.value && unfinished.value.length > 0);
  return effect(() => {
    if (!isActive.value) return;
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const next = (): void => {
      if (!isOver) timer = setTimeout(() => poll().finally(next), POLL_MILLISECONDS);
    };
    next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  });
};
