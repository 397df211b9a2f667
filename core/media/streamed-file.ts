import type { RandomAccessFile } from './video-bytes.ts';

interface Wanted {
  start: number;
  end: number;
  bytes: PromiseWithResolvers<Uint8Array>;
}

/**
 * A file that arrives in chunks, for a reader that moves forward: bytes before a read are dropped. Never
 * holds more than one read, one byte before it and one chunk.
 */
export class StreamedFile implements RandomAccessFile {
  private chunks: Uint8Array[] = [];
  private heldFrom = 0;
  private received = 0;
  private hasEnded = false;
  private failure: { error: unknown } | undefined;
  private wanted: Wanted | undefined;
  private isReleased = false;
  private hungry = Promise.withResolvers<void>();

  /** Known once the file has ended. */
  sizeBytes(): number | undefined {
    return this.hasEnded ? this.received : undefined;
  }

  /** One read at a time, each from where the last one began or behind it, at most one byte before it. */
  async read(start: number, end: number): Promise<Uint8Array> {
    if (this.failure) throw this.failure.error;
    this.dropBefore(start - 1);
    const wanted = { start, end, bytes: Promise.withResolvers<Uint8Array>() };
    this.wanted = wanted;
    this.serve();
    if (this.wanted) this.hungry.resolve();
    return wanted.bytes.promise;
  }

  /** Adds the next bytes. Resolves when the reader needs more, or has been released. */
  async push(chunk: Uint8Array): Promise<void> {
    this.received += chunk.byteLength;
    if (this.isReleased) return;
    this.chunks.push(chunk);
    if (this.wanted) this.dropBefore(this.wanted.start - 1);
    this.hungry = Promise.withResolvers();
    this.serve();
    if (this.wanted) return;
    await this.hungry.promise;
  }

  /** Says that no more bytes come. */
  end(): void {
    this.hasEnded = true;
    this.serve();
  }

  /** Fails the waiting read and all later ones. */
  fail(error: unknown): void {
    this.failure ??= { error };
    this.wanted?.bytes.reject(error);
    this.wanted = undefined;
  }

  /** Says that nothing more is read: bytes are only counted from now on. */
  release(): void {
    this.isReleased = true;
    this.chunks = [];
    this.hungry.resolve();
  }

  private serve(): void {
    const { wanted } = this;
    if (!wanted || (this.received < wanted.end && !this.hasEnded)) return;
    this.wanted = undefined;
    const held = Buffer.concat(this.chunks);
    this.chunks = [held];
    const from = Math.max(0, wanted.start - this.heldFrom);
    wanted.bytes.resolve(held.subarray(from, Math.max(from, wanted.end - this.heldFrom)));
  }

  private dropBefore(position: number): void {
    for (let first = this.chunks[0]; first; first = this.chunks[0]) {
      const excess = Math.min(position - this.heldFrom, first.byteLength);
      if (excess <= 0) return;
      this.heldFrom += excess;
      if (excess < first.byteLength) this.chunks[0] = first.subarray(excess);
      else this.chunks.shift();
    }
  }
}
