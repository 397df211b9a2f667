import { Readable } from 'node:stream';
import { Upload } from '@aws-sdk/lib-storage';
import { requiredEnv } from '../environment.ts';
import { FileUnavailableError } from '../outbound/http-files.ts';
import { bucket } from './bucket.ts';

/** What is taken for a file of one sort, and what is said of one that is not. */
export interface FileSort<Facts extends { contentType: string }> {
  /** What the first bytes tell; undefined while they tell too little, or when they are of no such file. */
  recognize: (head: Uint8Array) => Facts | undefined;
  /** Within so many bytes a file of this sort is recognized. */
  maxHeadBytes: number;
  maxBytes: number;
  unrecognized: string;
  tooLarge: string;
}

/**
 * Uploads a file while it arrives, holding a few parts of 5 MiB in memory, never the whole. The object appears
 * under its key only when all of it is there; uploading again replaces it. `keyOf` names it once the first
 * bytes have told what it is. Throws `FileUnavailableError` for a file of another sort or of too many bytes.
 */
export const uploadFile = async <Facts extends { contentType: string }>(
  body: AsyncIterable<Uint8Array>,
  sort: FileSort<Facts>,
  keyOf: (facts: Facts) => string,
): Promise<{ facts: Facts; objectKey: string; sizeBytes: number }> => {
  const chunks = body[Symbol.asyncIterator]();
  try {
    const { head, facts } = await readHead(chunks, sort);
    const objectKey = keyOf(facts);
    let sizeBytes = 0;
    const all = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of concatenate(head, chunks)) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes > sort.maxBytes) throw new FileUnavailableError(sort.tooLarge, false);
        yield chunk;
      }
    };
    await new Upload({
      client: bucket,
      params: {
        Bucket: requiredEnv('BUCKET_NAME'),
        Key: objectKey,
        Body: Readable.from(all(), { objectMode: false }),
        ContentType: facts.contentType,
      },
      queueSize: 2,
    }).done();
    return { facts, objectKey, sizeBytes };
  } finally {
    // Whatever is left unread would hold its connection until the server falls silent.
    await chunks.return?.();
  }
};

const readHead = async <Facts extends { contentType: string }>(
  chunks: AsyncIterator<Uint8Array>,
  { recognize, maxHeadBytes, unrecognized }: FileSort<Facts>,
): Promise<{ head: Uint8Array; facts: Facts }> => {
  let head = new Uint8Array();
  while (head.byteLength <= maxHeadBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
    const facts = recognize(head);
    if (facts) return { head, facts };
  }
  throw new FileUnavailableError(unrecognized, false);
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
