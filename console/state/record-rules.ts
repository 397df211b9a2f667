import type { GenerationRecord, VideoRecord } from '../../packages/client/src/types.ts';

/** A request of either kind, as the API shows it. */
export type AnyRecord = GenerationRecord | VideoRecord;
/** The status that a record is shown with. */
export type Status = AnyRecord['status'];

/** An output, of either kind. `url` and `error` exclude each other. */
export interface Output {
  readonly id: string;
  readonly expiresAt: string;
  readonly url?: string;
  readonly error?: { readonly code: string };
  /** Of an image: `<width>x<height>`. */
  readonly size?: string;
  /** Of a video: seconds. */
  readonly duration?: number;
  readonly resolution?: string;
}

/** Whether an id is that of a request for a video. */
export const isVideoId = (requestId: string): boolean => requestId.startsWith('vid_');

/** The outputs of a record; none unless it succeeded. */
export const outputsOf = (record: AnyRecord): readonly Output[] => {
  if ('images' in record) return record.images;
  return 'videos' in record ? record.videos : [];
};

const FINISHED: readonly string[] = ['succeeded', 'failed', 'expired'] satisfies Status[];

/** Whether a record changes no more, but for its expiry. A status that is not known counts as unfinished. */
export const isFinished = ({ status }: { status: string }): boolean => FINISHED.includes(status);

/** The status of a record at `now`: files expire without a read. */
export const statusAt = (record: AnyRecord, now: Date): Status => {
  const outputs = outputsOf(record);
  const isExpired =
    outputs.length > 0 && outputs.every(({ expiresAt }) => Date.parse(expiresAt) <= now.getTime());
  return record.status === 'succeeded' && isExpired ? 'expired' : record.status;
};

/**
 * Merges another read of a request into the known record. An output keeps its first URL, unless `refused` holds that
 * URL: each read signs a new URL, and the browser would download the file again. An answer that comes late does not
 * reopen a finished request.
 */
export const merge = (
  known: AnyRecord | undefined,
  read: AnyRecord,
  refused: ReadonlySet<string> = new Set(),
): AnyRecord => {
  if (!known) return read;
  if (isFinished(known) && !isFinished(read)) return known;
  const urls = new Map(outputsOf(known).map(({ id, url }) => [id, url]));
  const keep = <Item extends Output>(item: Item): Item => {
    const first = urls.get(item.id);
    return item.url === undefined || first === undefined || refused.has(first)
      ? item
      : { ...item, url: first };
  };
  if ('images' in read) return { ...read, images: read.images.map(keep) };
  if ('videos' in read) return { ...read, videos: read.videos.map(keep) };
  return read;
};

/** Ids of requests of both kinds, each once, newest first: they are a prefix and a ULID, which sorts by time. */
export const newestFirst = (ids: Iterable<string>): string[] =>
  [...new Set(ids)].sort((a, b) => (ulidOf(a) < ulidOf(b) ? 1 : -1));

const ulidOf = (requestId: string): string => requestId.slice(requestId.indexOf('_') + 1);

/** What has been read of the requests of one kind. */
export interface KindList {
  /** Newest first. */
  readonly ids: readonly string[];
  /** Whether there are older ones. */
  readonly hasMore: boolean;
}

/**
 * The ids of several lists in one order, down to where each of them has been read. Older ones are left out, since others may lie between.
 * `limitedBy` are the lists to read on for more.
 */
export const idsUpToHorizon = <List extends KindList>(
  lists: readonly List[],
): { ids: string[]; hasMore: boolean; limitedBy: List[] } => {
  // A list without ids has been read down to nowhere: `~` is after every id.
  const endOf = ({ ids }: KindList): string => ulidOf(ids.at(-1) ?? '~');
  const unread = lists.filter(({ hasMore }) => hasMore);
  const horizon = unread.map(endOf).sort().at(-1);
  const all = newestFirst(lists.flatMap(({ ids }) => ids));
  return {
    ids: horizon === undefined ? all : all.filter((id) => ulidOf(id) >= horizon),
    hasMore: unread.length > 0,
    limitedBy: unread.filter((list) => endOf(list) === horizon),
  };
};

/** How many outputs were asked for; undefined where the model decided, and where it is not known. */
const askedOutputs = ({ input }: AnyRecord): number | undefined =>
  input && 'n' in input && input.sequential === undefined ? input.n : undefined;

/** How many outputs a request has where one was lost, such as `2 of 3`. Undefined where none was. */
export const lossText = (record: AnyRecord): string | undefined => {
  const outputs = outputsOf(record);
  const stored = outputs.filter(({ error }) => error === undefined).length;
  const all = Math.max(askedOutputs(record) ?? 0, outputs.length);
  return outputs.length === 0 || stored === all ? undefined : `${stored} of ${all}`;
};
