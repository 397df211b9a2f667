import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeStream } from 'node:stream/web';
import type { Download } from './download.ts';

/**
 * Writes a download to a file, which appears once it is complete: until then the bytes lie beside it, under its name with
 * `.part`. Nothing is left of one that fails. Throws what the download throws.
 */
export const saveTo = async (path: string, download: Download): Promise<void> => {
  const part = `${path}.part`;
  try {
    await pipeline(Readable.fromWeb(download.stream as NodeStream<Uint8Array>), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};
