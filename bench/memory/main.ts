/**
 * Measures the memory it takes to store a large video: `npm run bench:memory`. With `-- --quick` it runs each way once
 * and writes nothing. Fails when streaming exceeds its limit.
 */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { paddingOf } from '@generation-service/sandbox';
import { aVideo } from '../../test/unit/builders/videos.ts';
import { isQuick, logProgress, publish } from '../publish.ts';
import { type DiscardingBucket, startDiscardingBucket } from './discarding-bucket.ts';
import { addedBytes, isWithinLimit, reportOf, type Way, type WayFigures } from './report.ts';

/** The service's own way comes first. */
const WAYS = ['streamed', 'buffered'];
const RUNS = isQuick ? 1 : 3;
const LARGE_BYTES = 200_000_000;
const SMALL_BYTES = 1_000_000;
const BUCKET = 'outputs';

/** Serves an MP4, padded to the number of bytes in the path: `/200000000`. */
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

/** Stores the large film in a child process. Throws unless the bucket received all of it. */
const measure = async (way: string, filmsUrl: string, bucket: DiscardingBucket): Promise<WayFigures> => {
  const child = fileURLToPath(new URL('child.ts', import.meta.url));
  const urls = [SMALL_BYTES, LARGE_BYTES].map((bytes) => `${filmsUrl}/${bytes}`);
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', child, way, ...urls], {
    env: {
      ...process.env,
      ...{
        BUCKET_NAME: BUCKET,
        ALLOW_PRIVATE_TARGETS: 'true',
        USER_AGENT: 'generation-service/bench',
        AWS_ENDPOINT_URL: bucket.url,
      },
      ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'AKIABENCH', AWS_SECRET_ACCESS_KEY: 'bench' },
      ...{ AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required' },
    },
  });
  const figures = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as WayFigures;
  const arrived = bucket.sizeOf(`${BUCKET}/large.mp4`);
  if (arrived !== LARGE_BYTES || figures.storedBytes !== LARGE_BYTES) {
    throw new Error(`${way}: ${arrived} bytes arrived, ${figures.storedBytes} were reported.`);
  }
  return figures;
};

const films = await startFilmServer();
const bucket = await startDiscardingBucket();
try {
  const ways: Way[] = [];
  for (const way of WAYS) {
    const runs: WayFigures[] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await measure(way, films.url, bucket));
    ways.push({ way, runs });
    logProgress(`${way}: adds at most ${Math.round(addedBytes({ way, runs }) / 1_000_000)} MB`);
  }
  await publish('memory', ways, reportOf(ways));
  if (!ways.slice(0, 1).every(isWithinLimit)) throw new Error('Streaming exceeds its memory limit.');
} finally {
  films.close();
  await bucket.close();
}
