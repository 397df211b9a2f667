import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { measureVideo } from '../src/measure-video.ts';
import { measure, secondsOf } from './measured.ts';
import { aBox, aVideo, withBoxBehind } from './videos.ts';

let folder = '';
/** Threads started since the test began, which finds one waiting. */
let started = 0;
const count = () => {
  started++;
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'measuring-threads-'));
  await secondsOf(await aVideo());
  started = 0;
  subscribe('worker_threads', count);
});
afterEach(async () => {
  unsubscribe('worker_threads', count);
  await rm(folder, { recursive: true });
});

const aDamagedVideo = async (): Promise<Buffer> =>
  withBoxBehind(await aVideo(), 'mvhd', ['moov'], aBox('cmov', Buffer.alloc(8)));

test('a thread measures one video after the other, also behind a damaged one', async () => {
  expect(await secondsOf(await aVideo({ seconds: 3 }))).toBe(3);
  await expect(measure(await aDamagedVideo())).rejects.toThrow('is damaged');
  expect(await secondsOf(await aVideo({ seconds: 4 }))).toBe(4);

  expect(started).toBe(0);
});

test('videos at once have a thread each, and one of the threads stays', async () => {
  const videos = await Promise.all([3, 4, 5].map((seconds) => aVideo({ seconds })));

  expect(await Promise.all(videos.map(secondsOf))).toEqual([3, 4, 5]);
  expect(started).toBe(2);
  expect(await Promise.all(videos.map(secondsOf))).toEqual([3, 4, 5]);
  expect(started).toBe(4);
});

test('a thread that was late or failed measures nothing more', async () => {
  const video = await aVideo({ seconds: 3 });
  writeFileSync(join(folder, 'video'), video);
  const fd = openSync(join(folder, 'video'), 'r');
  const stop = new AbortController();
  const late = measureVideo({ fd, sizeBytes: video.length, demuxer: 'mov' }, stop.signal);
  stop.abort();
  await expect(late).rejects.toThrow('could not be measured in time');
  closeSync(fd);
  expect(await secondsOf(video)).toBe(3);

  const unread = { fd: -1, sizeBytes: 1_000, demuxer: 'mov' } as const;
  await expect(measureVideo(unread, new AbortController().signal)).rejects.toThrow('fd');
  expect(await secondsOf(video)).toBe(3);

  expect(started).toBe(2);
});

test('a program ends, without a line of the library, when its last video is measured', async () => {
  const file = join(folder, 'damaged.mp4');
  writeFileSync(file, await aDamagedVideo());
  const program = [
    `import { readFileSync } from 'node:fs';`,
    `import { SpooledVideo } from ${JSON.stringify(new URL('../src/spooled-video.ts', import.meta.url).href)};`,
    `const video = new SpooledVideo();`,
    `await video.write(readFileSync(${JSON.stringify(file)}));`,
    `await video.measure(AbortSignal.timeout(60_000)).catch((error) => console.log(error.message));`,
    `await video.close();`,
  ].join('\n');

  const said = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    timeout: 90_000,
  });

  expect(said).toEqual({ stdout: 'is damaged\n', stderr: '' });
});
