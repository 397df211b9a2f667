/**
 * A child process of `bench:memory`: stores a small video, so that all code is loaded, then the large one, and prints its
 * memory use as JSON. Arguments: the way (`streamed` or `buffered`), the URL of the small video, the URL of the large one.
 */
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { clientOptions } from '../../core/aws-clients.ts';
import { requiredEnv } from '../../core/environment.ts';
import { storeVideo } from '../../core/files/store-files.ts';
import { openFile } from '../../core/outbound/http-files.ts';
import type { WayFigures } from './report.ts';

const TIMEOUT_MS = 120_000;

/** The ways to store the video at a URL in the bucket. Each returns its size in bytes. */
const WAYS: Record<string, (url: string, key: string) => Promise<number>> = {
  streamed: async (url, key) => {
    const file = await openFile(url, AbortSignal.timeout(TIMEOUT_MS));
    return (await storeVideo(file, () => key)).sizeBytes;
  },
  buffered: async (url, key) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of await openFile(url, AbortSignal.timeout(TIMEOUT_MS))) chunks.push(chunk);
    const Body = Buffer.concat(chunks);
    await new S3Client(clientOptions('upload')).send(
      new PutObjectCommand({ Bucket: requiredEnv('BUCKET_NAME'), Key: key, Body }),
    );
    return Body.byteLength;
  },
};

const [wayName = '', smallUrl = '', largeUrl = ''] = process.argv.slice(2);
const way = WAYS[wayName];
if (!way || !globalThis.gc) throw new Error('Usage: node --expose-gc child.ts <way> <url> <url>');

await way(smallUrl, 'small.mp4');
globalThis.gc();
const baselineBytes = process.memoryUsage.rss();
const startedAt = performance.now();
const storedBytes = await way(largeUrl, 'large.mp4');
const figures: WayFigures = {
  storedBytes,
  baselineBytes,
  // `maxRSS` is in KiB.
  peakBytes: process.resourceUsage().maxRSS * 1024,
  milliseconds: Math.round(performance.now() - startedAt),
};
console.log(JSON.stringify(figures));
