import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { paddingOf } from '@generation-service/sandbox';
import { aVideo } from '../test/unit/builders/videos.ts';
import { type DiscardingBucket, startDiscardingBucket } from './discarding-bucket.ts';
import { addedBytes, holdsLimit, reportOf, type Way, type WayFigures } from './store-video-report.ts';

const root = new URL('../', import.meta.url);

/** The service's way comes first. */
const WAYS = ['streamed', 'buffered'];
const RUNS = 3;
const LARGE_BYTES = 200_000_000;
const SMALL_BYTES = 1_000_000;
const BUCKET = 'outputs';

/** Serves a real MP4, filled up to the number of bytes that is its path. */
const startFilmServer = async (): Promise<{ url: string; close: () => void }> => {
  const film = await aVideo({ seconds: 10 });
  const server = createServer((request, response) => {
    const padding = paddingOf(film.byteLength, Number(request.url?.slice(1)));
    const all = function* () {
      yield film;
      yield* padding.chunks();
    };
    response.writeHead(200, { 'content-length': film.byteLength + padding.sizeBytes });
    pipeline(Readable.from(all()), response).catch((error: Error) => console.error(error.message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
};

/** Stores the large film in a process of its own. Throws when not all of it came to the bucket. */
const measure = async (way: string, filmsUrl: string, bucket: DiscardingBucket): Promise<WayFigures> => {
  const child = fileURLToPath(new URL('store-video-child.ts', import.meta.url));
  const urls = [SMALL_BYTES, LARGE_BYTES].map((bytes) => `${filmsUrl}/${bytes}`);
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, way, ...urls], {
    env: {
      ...process.env,
      ...{ BUCKET_NAME: BUCKET, ALLOW_PRIVATE_TARGETS: 'true', AWS_ENDPOINT_URL: bucket.url },
      ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIABENCH', AWS_SECRET_ACCESS_KEY: 'bench' },
      ...{ AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required' },
    },
  });
  const figures = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as WayFigures;
  const arrived = bucket.sizeOf(`${BUCKET}/large.mp4`);
  if (arrived !== LARGE_BYTES || figures.storedBytes !== LARGE_BYTES) {
    throw new Error(`${way}: ${arrived} bytes arrived, ${figures.storedBytes} were counted.`);
  }
  return figures;
};

/** Measures the memory that storing a large video takes, and writes `bench/memory.json` and `docs/bench-memory.md`. */
const main = async (): Promise<void> => {
  const films = await startFilmServer();
  const bucket = await startDiscardingBucket();
  try {
    const ways: Way[] = [];
    for (const way of WAYS) {
      const runs: WayFigures[] = [];
      for (let run = 0; run < RUNS; run++) runs.push(await measure(way, films.url, bucket));
      ways.push({ way, runs });
      console.log(`${way}: ${Math.round(addedBytes({ way, runs }) / 1_000_000)} MB more at most`);
    }
    await mkdir(new URL('bench/', root), { recursive: true });
    await writeFile(new URL('bench/memory.json', root), `${JSON.stringify(ways, null, 2)}\n`);
    await writeFile(new URL('docs/bench-memory.md', root), reportOf(ways));
    if (!ways.slice(0, 1).every(holdsLimit)) throw new Error('Streaming takes more memory than it may.');
  } finally {
    films.close();
    await bucket.close();
  }
};

await main();
