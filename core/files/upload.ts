import { Readable } from 'node:stream';
import { AbortMultipartUploadCommand, type S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { SpooledVideo } from '@generation-service/media/spooled-video';
import type { VideoType } from '@generation-service/media/video-type';
import { requiredEnv } from '../environment.ts';
import { FileUnavailableError } from '../guarded-http/http-files.ts';
import { outputFileName } from '../object-keys.ts';

/** The client of an upload, and the signal that ends the upload. */
export interface UploadWay {
  client: S3Client;
  signal?: AbortSignal;
}

/** A kind of file: how to recognize the kind, its limits, and the messages for other files. */
export interface FileKind<FileType extends { contentType: string }> {
  /** Recognizes a file by its first bytes; undefined when they are too few, or not those of this kind. */
  recognize: (head: Uint8Array) => FileType | undefined;
  /** First bytes that suffice to recognize the file. */
  maxHeadBytes: number;
  maxBytes: number;
  unrecognized: string;
  tooLarge: string;
  /** The check for a whole file; absent for a kind that is measured instead. */
  ends?: WholeFiles<FileType>;
}

/** The check that a file is whole, and the message for a cut-off file. */
interface WholeFiles<FileType> {
  endOf: (fileType: FileType) => {
    take(chunk: Uint8Array): void;
    isWhole(): boolean;
    hasManifest(): boolean;
  };
  /** Whether a file that was not recognized begins as one of this kind does. */
  isBegun: (head: Uint8Array) => boolean;
  cutOff: string;
}

/** Fewer bytes than this are the beginning of a file of any kind. */
const LEAST_BYTES = 12;

/**
 * A client whose calls under way end with `signal`. An aborted `Upload` does not end its own calls, so a file might appear after
 * the copies were removed. Parts are removed in spite of the signal.
 */
const endedBy = (client: S3Client, signal: AbortSignal): S3Client => {
  const send = (command: Parameters<S3Client['send']>[0]) =>
    client.send(command, command instanceof AbortMultipartUploadCommand ? {} : { abortSignal: signal });
  return Object.create(client, { send: { value: send } }) as S3Client;
};

/**
 * Streams a file into the bucket, with a few parts of 5 MiB in memory. The object appears only once it is complete; uploading
 * again replaces it. `keyOf` builds the object key once the file is recognized. Throws `FileUnavailableError` for a file that is
 * of another kind, too large or not whole. Once `signal` aborts, which also has to end `body`, the upload fails and leaves no
 * object and no call under way.
 */
export const uploadFile = async <FileType extends { contentType: string }>(
  body: AsyncIterable<Uint8Array>,
  kind: FileKind<FileType>,
  keyOf: (fileType: FileType) => string,
  { client, signal }: UploadWay,
): Promise<{ fileType: FileType; objectKey: string; sizeBytes: number; hasManifest?: true }> => {
  const chunks = body[Symbol.asyncIterator]();
  try {
    const { head, fileType } = await readHead(chunks, kind);
    const objectKey = keyOf(fileType);
    const end = kind.ends?.endOf(fileType);
    let sizeBytes = 0;
    const all = async function* (): AsyncGenerator<Uint8Array> {
      for (let next: IteratorResult<Uint8Array> = { value: head }; !next.done; next = await chunks.next()) {
        sizeBytes += next.value.byteLength;
        if (sizeBytes > kind.maxBytes) throw new FileUnavailableError(kind.tooLarge, 'final');
        end?.take(next.value);
        yield next.value;
      }
      if (kind.ends && !end?.isWhole()) throw new FileUnavailableError(kind.ends.cutOff, 'cut-off');
    };
    const upload = new Upload({
      client: signal ? endedBy(client, signal) : client,
      params: {
        Bucket: requiredEnv('BUCKET_NAME'),
        Key: objectKey,
        Body: Readable.from(all(), { objectMode: false }),
        ContentType: fileType.contentType,
        ContentDisposition: `inline; filename="${outputFileName(objectKey)}"`,
      },
      queueSize: 2,
    });
    await upload.done();
    return { fileType, objectKey, sizeBytes, ...(end?.hasManifest() && { hasManifest: true }) };
  } finally {
    // An unread rest would keep the connection open until the server times out.
    await chunks.return?.();
  }
};

const readHead = async <FileType extends { contentType: string }>(
  chunks: AsyncIterator<Uint8Array>,
  { recognize, maxHeadBytes, unrecognized, ends }: FileKind<FileType>,
): Promise<{ head: Uint8Array; fileType: FileType }> => {
  let head = new Uint8Array();
  while (head.byteLength <= maxHeadBytes) {
    const { value, done } = await chunks.next();
    if (done) {
      const isCutOff = head.byteLength < LEAST_BYTES || ends?.isBegun(head);
      throw new FileUnavailableError(unrecognized, isCutOff ? 'cut-off' : 'final');
    }
    head = Buffer.concat([head, value]);
    const fileType = recognize(head);
    if (fileType) return { head, fileType };
  }
  throw new FileUnavailableError(unrecognized, 'final');
};

/**
 * Streams a video into the bucket as `uploadFile` does, and has the same bytes measured from this machine's disk before its object
 * appears, so that the measured file is the stored file. Throws what `uploadFile` and `measure` throw, and leaves no object then.
 */
export const uploadVideo = async <Measured>(
  body: AsyncIterable<Uint8Array>,
  kind: FileKind<VideoType>,
  keyOf: (type: VideoType) => string,
  { measure, ...way }: UploadWay & { measure: (video: SpooledVideo) => Promise<Measured> },
): Promise<{ type: VideoType; measured: Measured; objectKey: string; sizeBytes: number }> => {
  const video = new SpooledVideo();
  const results: Measured[] = [];
  const passing = async function* (): AsyncGenerator<Uint8Array> {
    let sizeBytes = 0;
    for await (const chunk of body) {
      sizeBytes += chunk.byteLength;
      await video.write(chunk);
      yield chunk;
    }
    if (sizeBytes < LEAST_BYTES) return;
    results.push(await measure(video));
  };
  try {
    const { fileType, ...stored } = await uploadFile(passing(), kind, keyOf, way);
    const [measured] = results as [Measured];
    return { type: fileType, measured, ...stored };
  } finally {
    await video.close();
  }
};
