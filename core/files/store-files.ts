import { Readable } from 'node:stream';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type ImageMeasurement, measureImage } from '@generation-service/media/measure-image';
import { SpooledVideo } from '@generation-service/media/spooled-video';
import {
  UnreadableVideoError,
  VIDEO_HEAD_BYTES,
  type VideoType,
  videoTypeOf,
} from '@generation-service/media/video-type';
import { clientOptions } from '../aws-clients.ts';
import { requiredEnv } from '../environment.ts';
import { FileUnavailableError } from '../guarded-http/http-files.ts';
import { outputFileName } from '../object-keys.ts';

/** The S3 client of uploads, which take longer. */
const WAY = { client: new S3Client(clientOptions('upload')) };

const IMAGES: FileKind<ImageMeasurement> = {
  recognize: measureImage,
  // JPEG metadata ahead of the size can be long; other headers fit in a few kilobytes.
  maxHeadBytes: 1024 * 1024,
  // About four times a 16-megapixel PNG of noise.
  maxBytes: 256 * 1024 * 1024,
  unrecognized: 'The file is not a PNG, JPEG or WebP image.',
  tooLarge: 'The image file is too large.',
};

const VIDEOS: FileKind<VideoType> = {
  recognize: videoTypeOf,
  maxHeadBytes: VIDEO_HEAD_BYTES,
  // Half a minute at 500 Mbit/s, far above what a provider delivers in 4k.
  maxBytes: 2 * 1024 * 1024 * 1024,
  unrecognized: 'The file is not an MP4, QuickTime or WebM video.',
  tooLarge: 'The video file is too large.',
};

/** A stored image, measured by its own bytes. */
export interface StoredImage extends ImageMeasurement {
  objectKey: string;
  sizeBytes: number;
}

/** A stored video, measured by its own bytes. */
export interface StoredVideo extends VideoType {
  /** Seconds, rounded to milliseconds. */
  durationSec: number;
  width?: number;
  height?: number;
  objectKey: string;
  sizeBytes: number;
}

/**
 * Streams an image into the bucket. `keyOf` builds the object key once the image is measured; storing again
 * replaces it. Throws `FileUnavailableError` when the file is not a supported image, or too large.
 */
export const storeImage = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (image: ImageMeasurement) => string,
): Promise<StoredImage> => {
  const { fileType, ...stored } = await uploadFile(body, IMAGES, keyOf, WAY);
  return { ...fileType, ...stored };
};

/** Measuring 2 GiB takes a few seconds. */
const MEASURE_MS = 60_000;

/**
 * Streams a video into the bucket, as `storeImage` does an image, and measures it. Throws
 * `FileUnavailableError` when the file is not a supported video, is too large, or its duration cannot be
 * determined, and leaves no object then.
 */
export const storeVideo = async (
  body: AsyncIterable<Uint8Array>,
  keyOf: (type: VideoType) => string,
): Promise<StoredVideo> => {
  try {
    const { type, measured, ...stored } = await uploadVideo(body, VIDEOS, keyOf, WAY, (video) =>
      video.measure(AbortSignal.timeout(MEASURE_MS)),
    );
    const { longestSec: _, ...shown } = measured;
    return { ...type, ...shown, ...stored };
  } catch (error) {
    if (!(error instanceof UnreadableVideoError)) throw error;
    throw new FileUnavailableError(`The video ${error.message}.`, false, error);
  }
};

/** With what a file is uploaded, and until when. */
export interface UploadWay {
  client: S3Client;
  signal?: AbortSignal;
}

/** How to recognize files of a kind, their limits, and the messages for other files. */
export interface FileKind<FileType extends { contentType: string }> {
  /** Recognizes a file by its first bytes; undefined when they are too few, or not those of this kind. */
  recognize: (head: Uint8Array) => FileType | undefined;
  /** First bytes that suffice to recognize the file. */
  maxHeadBytes: number;
  maxBytes: number;
  unrecognized: string;
  tooLarge: string;
}

/**
 * Streams a file into the bucket, with a few parts of 5 MiB in memory. The object appears only once it is
 * complete; uploading again replaces it. `keyOf` builds the object key once the file is recognized. Throws
 * `FileUnavailableError` for a file of another kind or a file that is too large. Once `signal` aborts, it
 * fails and leaves no object.
 */
export const uploadFile = async <FileType extends { contentType: string }>(
  body: AsyncIterable<Uint8Array>,
  kind: FileKind<FileType>,
  keyOf: (fileType: FileType) => string,
  { client, signal }: UploadWay,
): Promise<{ fileType: FileType; objectKey: string; sizeBytes: number }> => {
  const chunks = body[Symbol.asyncIterator]();
  try {
    const { head, fileType } = await readHead(chunks, kind);
    const objectKey = keyOf(fileType);
    let sizeBytes = 0;
    const all = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of concatenate(head, chunks)) {
        sizeBytes += chunk.byteLength;
        if (sizeBytes > kind.maxBytes) throw new FileUnavailableError(kind.tooLarge, false);
        yield chunk;
      }
    };
    const upload = new Upload({
      client,
      params: {
        Bucket: requiredEnv('BUCKET_NAME'),
        Key: objectKey,
        Body: Readable.from(all(), { objectMode: false }),
        ContentType: fileType.contentType,
        ContentDisposition: `inline; filename="${outputFileName(objectKey)}"`,
      },
      queueSize: 2,
    });
    signal?.addEventListener('abort', () => void upload.abort(), { once: true });
    await upload.done();
    return { fileType, objectKey, sizeBytes };
  } finally {
    // An unread rest would keep the connection open until the server times out.
    await chunks.return?.();
  }
};

const readHead = async <FileType extends { contentType: string }>(
  chunks: AsyncIterator<Uint8Array>,
  { recognize, maxHeadBytes, unrecognized }: FileKind<FileType>,
): Promise<{ head: Uint8Array; fileType: FileType }> => {
  let head = new Uint8Array();
  while (head.byteLength <= maxHeadBytes) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
    const fileType = recognize(head);
    if (fileType) return { head, fileType };
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

/**
 * Streams a video into the bucket as `uploadFile` does, and has the same bytes measured from this machine's disk before its object
 * appears, so that the measured file is the stored file. Throws what `uploadFile` and `measure` throw, and leaves no object then.
 */
export const uploadVideo = async <Measured>(
  body: AsyncIterable<Uint8Array>,
  kind: FileKind<VideoType>,
  keyOf: (type: VideoType) => string,
  way: UploadWay,
  measure: (video: SpooledVideo) => Promise<Measured>,
): Promise<{ type: VideoType; measured: Measured; objectKey: string; sizeBytes: number }> => {
  const video = new SpooledVideo();
  const results: Measured[] = [];
  const passing = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      await video.write(chunk);
      yield chunk;
    }
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
