import { computed, type Signal, signal } from '@preact/signals';
import { GenerationServiceError, NotFoundError } from '../../packages/client/src/index.ts';
import { announce } from './notices.ts';
import { type AnyRecord, isFinished, isVideoId, merge, newestFirst } from './record-rules.ts';
import { requiredClient } from './session.ts';

/** Reads at once: a key has a rate. */
const READS_AT_ONCE = 4;
/** Unfinished requests that are followed, the newest ones. */
const MAX_FOLLOWED = 40;

/** The records of all pages, by request id. Pages share them and never disagree. */
const records = new Map<string, Signal<AnyRecord>>();
/** Counts changes of the set and of statuses. */
const version = signal(0);
/** URLs that the files' host refused. */
const refusedUrls = new Set<string>();

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

/** Takes a request out of every page: it is deleted. */
export const forget = (requestId: string): void => {
  records.delete(requestId);
  version.value += 1;
};

/** Reads a request. Resolves to false when it is not there any more; rejects with the client's errors. */
export const readOne = async (requestId: string): Promise<boolean> => {
  const client = requiredClient();
  try {
    const options = { include: 'input' as const };
    keep(
      isVideoId(requestId)
        ? await client.getVideo(requestId, options)
        : await client.getImage(requestId, options),
    );
    return true;
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    forget(requestId);
    return false;
  }
};

const unfinished = computed(() => {
  version.value;
  return newestFirst([...records].filter(([, record]) => !isFinished(record.peek())).map(([id]) => id)).slice(
    0,
    MAX_FOLLOWED,
  );
});

/** Reads the unfinished requests again that are not among those just read. Rejects with the client's errors. */
export const readUnfinished = async (justRead: ReadonlySet<string>): Promise<void> => {
  const left = unfinished.peek().filter((id) => !justRead.has(id));
  const readNext = async (): Promise<void> => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) await readOne(id);
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, readNext));
};

/** The sentence for people in an error of the client. Throws what is a fault of the console. */
export const messageOf = (error: unknown): string => {
  if (error instanceof GenerationServiceError) return error.message;
  throw error;
};

/** Why a file could not be had anew after its host refused its URL. */
export const fileProblem = signal<string | undefined>(undefined);

/** Reads a request once more after the files' host has refused one of its URLs, and takes the new one. */
export const replaceUrl = (requestId: string, url: string): void => {
  if (refusedUrls.has(url)) return;
  refusedUrls.add(url);
  readOne(requestId).catch((error) => {
    fileProblem.value = messageOf(error);
  });
};
