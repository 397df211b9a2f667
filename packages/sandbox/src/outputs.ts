import { randomUUID } from 'node:crypto';
import type { FileFault } from './directives.ts';
import type { Media } from './media/media.ts';
import type { Padding } from './media/mp4-padding.ts';

/** An output file and how to produce it. */
export type OutputSource = {
  contentType: string;
  /** File name extension, without the dot. */
  extension: string;
  /** Produces the bytes, always the same ones. Called on the first fetch, and again after they left the cache. */
  produce: () => Promise<Buffer>;
  /** Bytes to send after the file, given its size; none when absent. */
  padding?: (fileBytes: number) => Padding;
};

/** An output that its URL does not give: not yet, or no more. */
export type AbsentOutput = { status: 404 | 410 };

/** An output that can be served. */
export type StoredOutput = { contentType: string; etag: string; read: () => Promise<OutputContent> };

/** The bytes of an output, in chunks. */
export type OutputContent = { sizeBytes: number; chunks(): Iterable<Buffer> };

/** The store of output files. */
export type Outputs = {
  /** Makes the files. */
  media: Media;
  /**
   * Adds an output and returns its URL, which is valid for 24 hours from `madeAt` (epoch milliseconds, default now).
   * `fault` is what is wrong with its file; nothing by default.
   */
  add(source: OutputSource, options?: { fault?: FileFault; madeAt?: number }): string;
  /** Finds an output by file name (`<id>.<extension>`). */
  find(fileName: string): StoredOutput | AbsentOutput;
};

const NO_FAULT: FileFault = { isBroken: false, isHalf: false, lateSeconds: 0 };

/** Result URLs of both upstreams expire after 24 hours. */
const LIFETIME_SECONDS = 24 * 60 * 60;

/** Capacity of the cache of produced files. */
const CACHE_BYTES = 32 * 1024 * 1024;

/** Caches the newest results up to `capacityBytes`. Concurrent callers of one key share one `produce` call. */
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

/** What `createOutputs` works with. */
interface OutputsOptions {
  baseUrl: string;
  now: () => number;
  media: Media;
  newName?: () => string;
  /** How long a URL is valid. Default: the 24 hours of both upstreams. */
  lifetimeSeconds?: number | undefined;
}

/** The store of `createOutputs`. */
class OutputStore implements Outputs {
  readonly media: Media;
  private readonly options: OutputsOptions;
  private readonly newName: () => string;
  private readonly lifetimeSeconds: number;
  private readonly outputs = new Map<
    string,
    OutputSource & { expiresAt: number; madeAt: number; fault: FileFault }
  >();
  private readonly bytesOf = createByteCache(CACHE_BYTES);

  constructor(options: OutputsOptions) {
    this.options = options;
    this.media = options.media;
    this.newName = options.newName ?? randomUUID;
    this.lifetimeSeconds = options.lifetimeSeconds ?? LIFETIME_SECONDS;
  }

  add(
    source: OutputSource,
    { fault = NO_FAULT, madeAt = this.options.now() }: { fault?: FileFault; madeAt?: number } = {},
  ): string {
    this.deleteExpired();
    const fileName = `${this.newName()}.${source.extension}`;
    this.outputs.set(fileName, { ...source, fault, madeAt, expiresAt: madeAt + this.lifetimeSeconds * 1000 });
    return `${this.options.baseUrl}/${fileName}`;
  }

  find(fileName: string): StoredOutput | AbsentOutput {
    const output = this.outputs.get(fileName);
    if (!output || output.expiresAt <= this.options.now()) return { status: 404 };
    const { isBroken, isHalf, lateSeconds } = output.fault;
    if (isBroken) return { status: 410 };
    if (this.options.now() < output.madeAt + lateSeconds * 1000) return { status: 404 };
    return {
      contentType: output.contentType,
      // The content behind a file name never changes.
      etag: `"${fileName}"`,
      read: async () => {
        const whole = await this.bytesOf(fileName, output.produce);
        const bytes = isHalf ? whole.subarray(0, whole.length >> 1) : whole;
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
  }

  // The order of insertion is close enough to the order of expiry.
  private deleteExpired() {
    for (const [fileName, { expiresAt }] of this.outputs) {
      if (expiresAt > this.options.now()) return;
      this.outputs.delete(fileName);
    }
  }
}

/**
 * Creates an empty store. Every URL is `baseUrl`, a slash and the file name. `now` returns epoch milliseconds; `newName`
 * returns a file name without its extension.
 */
export const createOutputs = (options: OutputsOptions): Outputs => new OutputStore(options);
