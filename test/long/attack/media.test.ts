import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, expect, test } from '@jest/globals';
import { measureImage } from '../../../packages/media/src/measure-image.ts';
import { altered, fileOf, randomFrom } from '../../../packages/media/test/altered.ts';
import { encodedVideos, hasFfmpeg, longestOfFfmpeg } from '../../../packages/media/test/encoded-videos.ts';
import { longestOf } from '../../../packages/media/test/measured.ts';
import type { Measured } from '../../../packages/media/test/measuring-thread.ts';
import { STRETCHED_CLIPS } from '../../../packages/media/test/stretched-clips.ts';

/** Altered videos that are measured, and how many of the accepted ones FFmpeg decodes: `ALTERED_VIDEOS=100000` for the record. */
const VIDEOS = Number(process.env.ALTERED_VIDEOS ?? 3_000);
const DECODED = Math.ceil(VIDEOS / 20);
/** Time limit of one file. The service refuses a clip beyond it. */
const MAX_MS = 8_000;
/** How much shorter than FFmpeg's longest reading a clip may be measured: pictures that an edit list hides, and 2 %. */
const HIDDEN_SECONDS = 0.25;
const TOLERANCE = 0.02;

const folder = mkdtempSync(join(tmpdir(), 'clips-'));
afterAll(() => rmSync(folder, { recursive: true }));

const isInstalled = hasFfmpeg();
if (!isInstalled) console.warn('FFmpeg is not installed: no clip is compared with what it plays.');
const withFfmpeg = isInstalled ? test : test.skip;

/**
 * Measures the files of all seeds in a thread. A file that takes too long or kills the thread is followed by a new
 * thread.
 */
const measured = async (seeds: readonly number[], originals: readonly Uint8Array[]): Promise<Measured[]> => {
  const all: Measured[] = [];
  while (all.length < seeds.length) {
    const rest = seeds.slice(all.length);
    const problem = await measuredByOne(rest, originals, (one) => all.push(one));
    if (problem !== undefined) all.push({ seed: seeds[all.length] as number, answer: { problem } });
  }
  return all;
};

/** The problem of the file that ended the thread; undefined when it measured all. */
const measuredByOne = async (
  seeds: readonly number[],
  originals: readonly Uint8Array[],
  take: (one: Measured) => void,
): Promise<string | undefined> => {
  const thread = new Worker(new URL('../../../packages/media/test/measuring-thread.ts', import.meta.url), {
    workerData: { seeds, originals },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdout: true,
    stderr: true,
  });
  const ended = Promise.withResolvers<string | undefined>();
  const timer = setTimeout(() => ended.resolve('took too long'), MAX_MS);
  thread.on('message', (one: Measured) => {
    timer.refresh();
    take(one);
  });
  thread.on('error', () => ended.resolve('killed its thread'));
  thread.on('exit', () => ended.resolve(undefined));
  const problem = await ended.promise;
  clearTimeout(timer);
  await thread.terminate();
  return problem;
};

withFfmpeg(
  `of ${VIDEOS} altered files of real encoders, none is accepted as shorter than FFmpeg takes it for`,
  async () => {
    const originals = encodedVideos(folder).map(({ bytes }) => bytes);
    const seeds = Array.from({ length: VIDEOS }, (_, seed) => seed);
    const half = Math.ceil(VIDEOS / 2);

    const answers = (
      await Promise.all([seeds.slice(0, half), seeds.slice(half)].map((part) => measured(part, originals)))
    ).flat();

    const problems = Object.groupBy(answers, ({ answer }) =>
      'problem' in answer ? answer.problem : 'accepted',
    );
    const accepted = problems.accepted ?? [];
    expect(accepted.length).toBeGreaterThan(VIDEOS / 20);
    expect(accepted.length).toBeLessThan(VIDEOS);

    const path = join(folder, 'sample');
    const shorter: unknown[] = [];
    let decoded = 0;
    for (let place = 0; place < accepted.length && place < DECODED; place++) {
      const { seed, answer } = accepted[Math.floor((place * accepted.length) / DECODED)] ?? {};
      if (seed === undefined || !answer || 'problem' in answer) continue;
      writeFileSync(path, fileOf(seed, originals));
      const played = longestOfFfmpeg(path);
      if (played === undefined) continue;
      decoded++;
      const { longestSec } = answer.measurement;
      if (longestSec < played * (1 - TOLERANCE) - HIDDEN_SECONDS) shorter.push({ seed, longestSec, played });
    }
    expect(decoded).toBeGreaterThan(DECODED / 4);
    expect(shorter).toEqual([]);
  },
  4 * 3_600_000,
);

withFfmpeg.each(Object.entries(STRETCHED_CLIPS))(
  'FFmpeg takes no clip for longer than it is measured, with %s',
  async (_, make) => {
    const path = join(folder, 'stretched');
    const file = await make();
    writeFileSync(path, file);

    expect(await longestOf(file)).toBeGreaterThanOrEqual(longestOfFfmpeg(path) ?? 0);
  },
);

/** How many images are altered. */
const IMAGES = 100_000;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const JPEG = Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080010001001011100ffd9', 'hex');
const WEBP = Buffer.from('524946461a000000574542505650384c0d0000002f00000010071011118888fe0700', 'hex');

test('an altered image is measured or refused', () => {
  const images = [PNG, JPEG, WEBP];
  let measuredImages = 0;
  for (let seed = 0; seed < IMAGES; seed++) {
    const size = measureImage(altered(images[seed % images.length] ?? PNG, randomFrom(seed)));
    if (!size) continue;
    measuredImages++;
    expect([seed, Number.isInteger(size.width) && Number.isInteger(size.height)]).toEqual([seed, true]);
  }
  expect(measuredImages).toBeGreaterThan(100);
});
