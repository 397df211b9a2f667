import { randomUUID } from 'node:crypto';
import type { Padding } from './mp4-padding.ts';

/** A result file an upstream would keep for its caller. */
export type OutputSource = {
  contentType: string;
  /** Of the file name, without the dot. */
  extension: string;
  /** Makes the bytes: called when they are first fetched, and again when they have left memory since. Always gives the same. */
  produce: () => Promise<Buffer>;
  /** What is sent after so many bytes; nothing when absent. */
  padding?: (fileBytes: number) => Padding;
};

/** An output as it is served. */
export type StoredOutput = { contentType: string; etag: string; read: () => Promise<OutputContent> };

/** The bytes of an output, in the pieces they are sent in. */
export type OutputContent = { sizeBytes: number; chunks(): Iterable<Buffer> };

export type Outputs = {
  /**
   * Keeps an output and answers its URL, which works until `lifetimeSeconds` after `madeAt` (epoch milliseconds, default
   * now). The URL of a broken one answers 404 from the start.
   */
  add(source: OutputSource, options?: { isBroken?: boolean; madeAt?: number }): string;
  /** By file name (`<id>.<extension>`); undefined when there is none or its link has ended. */
  find(fileName: string): StoredOutput | undefined;
};

/** Both upstreams end their links after 24 hours. */
const LIFETIME_SECONDS = 24 * 60 * 60;

/** How much of what was made stays in memory for the next fetch. */
const KEPT_BYTES = 32 * 1024 * 1024;

/** Keeps the newest results up to a number of bytes; callers that ask at the same time share one making. */
const createByteCache = (capacityBytes: number) => {
  const making = new Map<string, Promise<Buffer>>();
  const kept = new Map<string, Buffer>();
  let keptBytes = 0;

  const keep = (key: string, bytes: Buffer) => {
    kept.set(key, bytes);
    keptBytes += bytes.length;
    for (const [oldest, { length }] of kept) {
      if (keptBytes <= capacityBytes) break;
      kept.delete(oldest);
      keptBytes -= length;
    }
  };

  return async (key: string, produce: () => Promise<Buffer>): Promise<Buffer> => {
    const found = kept.get(key) ?? making.get(key);
    if (found) return found;
    const made = produce();
    making.set(key, made);
    try {
      const bytes = await made;
      keep(key, bytes);
      return bytes;
    } finally {
      making.delete(key);
    }
  };
};

/** The store of result files. `now` is in epoch milliseconds; `baseUrl` is what every file's URL begins with. */
export const createOutputs = ({ baseUrl, now }: { baseUrl: string; now: () => number }): Outputs => {
  const outputs = new Map<string, OutputSource & { endsAt: number }>();
  const bytesOf = createByteCache(KEPT_BYTES);

  // Outputs are kept in the order they were added, which is close to the order their links end in.
  const forgetEnded = () => {
    for (const [fileName, { endsAt }] of outputs) {
      if (endsAt > now()) return;
      outputs.delete(fileName);
    }
  };

  return {
    add(source, { isBroken = false, madeAt = now() } = {}) {
      forgetEnded();
      const fileName = `${randomUUID()}.${source.extension}`;
      if (!isBroken) outputs.set(fileName, { ...source, endsAt: madeAt + LIFETIME_SECONDS * 1000 });
      return `${baseUrl}/${fileName}`;
    },

    find(fileName) {
      const output = outputs.get(fileName);
      if (!output || output.endsAt <= now()) return undefined;
      return {
        contentType: output.contentType,
        // A file name stands for one content for good, so it names the version too.
        etag: `"${fileName}"`,
        read: async () => {
          const bytes = await bytesOf(fileName, output.produce);
          const padding = output.padding?.(bytes.length);
          return {
            sizeBytes: bytes.length + (padding?.sizeBytes ?? 0),
            *chunks() {
              yield bytes;
              if (padding) yield* padding.chunks();
            },
          };
        },
      };
    },
  };
};
