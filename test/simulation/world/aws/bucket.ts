import type { Call } from '../engine/calls.ts';
import { makeCall, STALLED_MS } from '../engine/effects.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';

type Input = Record<string, unknown>;

/** A file in the bucket. */
export interface StoredObject {
  bytes: Uint8Array;
  storedAt: Date;
}

/** The commands that begin to write a file. */
const UPLOADS = new Set(['PutObjectCommand', 'CreateMultipartUploadCommand']);

/** What the S3 client's `send` does with a command. */
export const sendToBucket = (
  world: World,
  command: string,
  input: Input,
  { signal, ...limits }: ClientLimits & { signal: AbortSignal | undefined },
): Promise<unknown> => {
  const { objects } = world;
  const key = String(input.Key ?? '');
  const call = (perform: () => unknown, more: Partial<Call<unknown>> = {}) =>
    makeCall(world, {
      name: `${command} ${key}`,
      service: 'bucket',
      signal,
      ...limits,
      slowestMs: STALLED_MS,
      perform,
      ...(UPLOADS.has(command) && { denied }),
      ...more,
    });
  /** Somebody took the permission to write away, and gave it back. */
  const denied = (): Error => {
    world.evidence.denied.add(requestOf(key));
    return Object.assign(new Error('Access Denied'), { name: 'AccessDenied' });
  };
  switch (command) {
    case 'PutObjectCommand':
      return call(() => {
        world.log(() => `  ${key} stored`);
        objects.set(key, { bytes: bytesOf(input.Body), storedAt: new Date(world.scheduler.now) });
        return {};
      });
    case 'CreateMultipartUploadCommand':
      return call(() => {
        const UploadId = `upload-${world.uploads.size}`;
        world.uploads.set(UploadId, new Map());
        return { UploadId };
      });
    case 'UploadPartCommand':
      return call(() => {
        partsOf(world, input).set(Number(input.PartNumber), bytesOf(input.Body));
        return { ETag: `part-${input.PartNumber}` };
      });
    case 'CompleteMultipartUploadCommand':
      return call(() => {
        const parts = [...partsOf(world, input)].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes);
        world.log(() => `  ${key} stored in ${parts.length} parts`);
        objects.set(key, { bytes: Buffer.concat(parts), storedAt: new Date(world.scheduler.now) });
        return { Location: key };
      });
    case 'AbortMultipartUploadCommand':
      return call(() => {
        world.uploads.delete(String(input.UploadId));
        return {};
      });
    case 'DeleteObjectsCommand': {
      const keys = (input.Delete as { Objects: { Key: string }[] }).Objects.map(({ Key }) => Key);
      const remove = (removed: readonly string[]) => {
        for (const name of removed) {
          if (objects.delete(name)) for (const listen of world.onFileRemoved) listen(name);
        }
        world.log(() => `  ${removed.join(', ')} removed`);
        const kept = keys.slice(removed.length);
        if (kept.length === 0) return {};
        unremovable();
        return { Errors: kept.map((Key) => ({ Key, Code: 'InternalError' })) };
      };
      const unremovable = (): void => void world.unremovable.add(requestOf(keys[0] ?? ''));
      const partly = () => remove(keys.slice(0, keys.length >> 1));
      return call(() => remove(keys), { givenUp: unremovable, partly });
    }
    case 'ListObjectsV2Command': {
      const prefix = String(input.Prefix ?? '');
      const list = () => {
        const found = [...objects].filter(([name]) => name.startsWith(prefix));
        const Contents = found
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([Key, { bytes, storedAt }]) => ({ Key, Size: bytes.byteLength, LastModified: storedAt }));
        return { Contents, IsTruncated: false };
      };
      return call(list, { givenUp: () => world.unremovable.add(requestOf(prefix)) });
    }
    default:
      throw new Error(`The bucket does not know ${command}.`);
  }
};

/** The parts of an upload so far. Throws as S3 does when it is unknown, or was aborted. */
const partsOf = ({ uploads }: World, { UploadId }: Input): Map<number, Uint8Array> => {
  const parts = uploads.get(String(UploadId));
  if (!parts) throw Object.assign(new Error('The upload does not exist.'), { name: 'NoSuchUpload' });
  return parts;
};

/** The request that a file is of: `outputs/<request>/<index>.<extension>`, or a copy in `clips/`. */
export const requestOf = (objectKey: string): string => objectKey.split('/')[1] ?? '';

const bytesOf = (body: unknown): Uint8Array => {
  if (!(body instanceof Uint8Array)) throw new Error('An object is uploaded in buffers of known size.');
  return body;
};
