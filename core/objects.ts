import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { requiredEnv } from './environment.ts';
import { FileUnavailableError } from './http-files.ts';
import { type ImageFacts, readImageFacts } from './images.ts';

const objects = new S3Client({ maxAttempts: 4 });

/** An image's header lies within its first kilobytes; JPEG metadata before it can be long. */
const MAX_HEAD_BYTES = 1024 * 1024;
/** Largest image file that is stored: about four times a 16-megapixel PNG of noise. */
const MAX_IMAGE_BYTES = 256 * 1024 * 1024;

/** A stored image, described by its own bytes. */
export interface StoredImage extends ImageFacts {
  objectKey: string;
  sizeBytes: number;
}

/**
 * Stores an image while it arrives, holding a few parts of 5 MiB in memory, never the whole. The object
 * appears under its key only when all of it is there; storing again replaces it. `keyOf` names it once the
 * first bytes have told its type. Throws `FileUnavailableError` when the bytes are no image or too many.
 */
export const storeImage = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (facts: ImageFacts) => string,
): Promise<StoredImage> => {
  const chunks = body[Symbol.asyncIterator]();
  try {
    const { head, facts } = await readHead(chunks);
    const objectKey = keyOf(facts);
    let sizeBytes = 0;
    const all = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of concatenate(head, chunks)) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes > MAX_IMAGE_BYTES)
          throw new FileUnavailableError('The image file is too large.', false);
        yield chunk;
      }
    };
    await new Upload({
      client: objects,
      params: {
        Bucket: requiredEnv('BUCKET_NAME'),
        Key: objectKey,
        Body: Readable.from(all(), { objectMode: false }),
        ContentType: facts.contentType,
      },
      queueSize: 2,
    }).done();
    return { ...facts, objectKey, sizeBytes };
  } finally {
    // Whatever is left unread would hold its connection until the server falls silent.
    await chunks.return?.();
  }
};

const readHead = async (
  chunks: AsyncIterator<Uint8Array>,
): Promise<{ head: Uint8Array; facts: ImageFacts }> => {
  let head = new Uint8Array();
  while (head.byteLength <= MAX_HEAD_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
    const facts = readImageFacts(head);
    if (facts) return { head, facts };
  }
  throw new FileUnavailableError('The file is not a PNG, JPEG or WebP image.', false);
};

const concatenate = async function* (
  head: Uint8Array,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield head;
  for (;;) {
    const { value, done } = await rest.next();
    if (done) return;
    yield value;
  }
};
