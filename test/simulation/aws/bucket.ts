import { makeCall, STALLED_MS } from '../engine/effects.ts';
import type { World } from '../world.ts';
import type { ClientLimits } from './client-limits.ts';

type Input = Record<string, unknown>;

/** A file in the bucket. */
export interface StoredObject {
  bytes: Uint8Array;
  storedAt: Date;
}

/** What the S3 client's `send` does with a command. No file is so large that it comes in parts. */
export const sendToBucket = (
  world: World,
  command: string,
  input: Input,
  limits: ClientLimits,
): Promise<unknown> => {
  const { objects } = world;
  const key = String(input.Key ?? '');
  const call = (perform: () => unknown, givenUp = (): void => undefined) =>
    makeCall(world, {
      name: `${command} ${key}`,
      service: 'bucket',
      ...limits,
      slowestMs: STALLED_MS,
      perform,
      givenUp,
    });
  switch (command) {
    case 'PutObjectCommand':
      return call(() => {
        world.note(() => `  ${key} stored`);
        objects.set(key, { bytes: bytesOf(input.Body), storedAt: new Date(world.scheduler.now) });
        return {};
      });
    case 'GetObjectCommand':
      return call(() => {
        const object = objects.get(key);
        if (!object) throw Object.assign(new Error('The key does not exist.'), { name: 'NoSuchKey' });
        const range = rangeOf(input.Range, object.bytes);
        return { Body: { transformToByteArray: async () => range } };
      });
    case 'DeleteObjectsCommand': {
      const keys = (input.Delete as { Objects: { Key: string }[] }).Objects.map(({ Key }) => Key);
      const remove = () => {
        for (const name of keys) objects.delete(name);
        world.note(() => `  ${keys.join(', ')} removed`);
        return {};
      };
      return call(remove, () => world.unremovable.add(requestOf(keys[0] ?? '')));
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
      return call(list, () => world.unremovable.add(requestOf(prefix)));
    }
    default:
      throw new Error(`The bucket does not know ${command}.`);
  }
};

/** The request that a file is of: `outputs/<account>/<request>/<index>.<extension>`. */
export const requestOf = (objectKey: string): string => objectKey.split('/')[2] ?? '';

const bytesOf = (body: unknown): Uint8Array => {
  if (!(body instanceof Uint8Array)) throw new Error('An object is uploaded in buffers of known size.');
  return body;
};

/** `bytes=0-99`, both included. */
const rangeOf = (range: unknown, bytes: Uint8Array): Uint8Array => {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(range)) ?? [];
  return first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1);
};
