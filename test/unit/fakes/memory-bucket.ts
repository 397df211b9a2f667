import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { serveCommands } from './serve-commands.ts';

/** An object in the bucket. */
export interface StoredObject {
  bucket: string;
  bytes: Buffer;
  contentType: string;
  contentDisposition: string | undefined;
  /** The sizes of its uploaded parts, in bytes. */
  parts: number[];
}

/** The `LastModified` of every object in listings. */
const STORED_AT = new Date('2026-11-20T09:00:00.000Z');

const bytesOf = (body: unknown): Buffer => {
  if (!(body instanceof Uint8Array)) throw new Error('An object is uploaded in buffers of known size.');
  return Buffer.from(body);
};

/** A bucket in memory behind every S3 client. An object exists once its upload is complete. */
export class MemoryBucket {
  readonly client = mockClient(S3Client);
  readonly objects = new Map<string, StoredObject>();
  readonly abortedUploads: string[] = [];
  private readonly uploads = new Map<
    string,
    Omit<StoredObject, 'bucket' | 'bytes' | 'parts'> & { parts: Map<number, Buffer> }
  >();

  constructor() {
    this.serve();
  }

  /** Clears everything for the next test. */
  reset(): void {
    this.objects.clear();
    this.uploads.clear();
    this.abortedUploads.length = 0;
    this.client.reset();
    this.serve();
  }

  /** Stores an object whose content is its key. */
  put(key: string): void {
    const bytes = Buffer.from(key);
    const kept = { contentType: 'image/png', contentDisposition: undefined };
    this.objects.set(key, { bucket: 'bucket', bytes, ...kept, parts: [bytes.byteLength] });
  }

  private serve(): void {
    serveCommands(this.client, [
      [
        DeleteObjectsCommand,
        async ({ Delete }) => {
          const keys: { Key: string }[] = Delete.Objects;
          if (keys.length === 0 || keys.length > 1000) throw new Error('One call names 1 to 1000 objects.');
          for (const { Key } of keys) this.objects.delete(Key);
          return {};
        },
      ],
      [
        ListObjectsV2Command,
        async ({ Prefix }) => {
          const keys = [...this.objects.keys()].filter((key) => key.startsWith(Prefix)).sort();
          return {
            Contents: keys.map((Key) => ({
              Key,
              Size: this.objects.get(Key)?.bytes.byteLength,
              LastModified: STORED_AT,
            })),
          };
        },
      ],
      [
        GetObjectCommand,
        async ({ Key, Range }) => {
          const object = this.objects.get(Key);
          if (!object) throw Object.assign(new Error('There is no such object.'), { name: 'NoSuchKey' });
          const [, start = '', end = ''] = /^bytes=(\d+)-(\d+)$/.exec(Range ?? '') ?? [];
          if (Number(start) >= object.bytes.byteLength) throw new Error('The range lies behind the object.');
          const part =
            Range === undefined ? object.bytes : object.bytes.subarray(Number(start), Number(end) + 1);
          return { Body: { transformToByteArray: async () => new Uint8Array(part) } };
        },
      ],
      [
        PutObjectCommand,
        async ({ Bucket, Key, Body, ContentType, ContentDisposition }) => {
          const bytes = bytesOf(Body);
          const kept = { contentType: ContentType, contentDisposition: ContentDisposition };
          const object = { bucket: Bucket, bytes, ...kept, parts: [bytes.byteLength] };
          this.objects.set(Key, object);
          return {};
        },
      ],
      [
        CreateMultipartUploadCommand,
        async ({ Key, ContentType, ContentDisposition }) => {
          const kept = { contentType: ContentType, contentDisposition: ContentDisposition };
          this.uploads.set(Key, { ...kept, parts: new Map() });
          return { UploadId: `upload of ${Key}` };
        },
      ],
      [
        UploadPartCommand,
        async ({ Key, PartNumber, Body }) => {
          this.uploads.get(Key)?.parts.set(PartNumber, bytesOf(Body));
          return { ETag: `part ${PartNumber}` };
        },
      ],
      [
        AbortMultipartUploadCommand,
        async ({ Key }) => {
          this.abortedUploads.push(Key);
          return {};
        },
      ],
      [
        CompleteMultipartUploadCommand,
        async ({ Bucket, Key }) => {
          const upload = this.uploads.get(Key);
          if (!upload) throw new Error(`There is no upload of ${Key}.`);
          const parts = [...upload.parts].sort(([a], [b]) => a - b).map(([, part]) => part);
          this.objects.set(Key, {
            bucket: Bucket,
            bytes: Buffer.concat(parts),
            contentType: upload.contentType,
            contentDisposition: upload.contentDisposition,
            parts: parts.map(({ byteLength }) => byteLength),
          });
          return {};
        },
      ],
    ]);
  }
}
