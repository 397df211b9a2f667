import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aVideo } from '../../packages/media/test/videos.ts';
import { wrongFields } from '../contract/support/answers.ts';
import { type ClipServer, startClipServer } from '../contract/support/clip-server.ts';
import { entriesOf, history } from '../contract/support/ledger.ts';
import { useCaller } from '../contract/support/use-caller.ts';
import { anUnfilmedVideo, createVideo } from '../contract/support/videos.ts';

const MEBIBYTE = 1024 * 1024;

/** The video, padded to this size with a last box that players skip. */
const filledTo = (bytes: number, video: Buffer): Buffer => {
  const file = Buffer.alloc(bytes);
  video.copy(file);
  file.writeUInt32BE(bytes - video.length, video.length);
  file.write('free', video.length + 4, 'latin1');
  return file;
};

const caller = useCaller();
let clips: ClipServer;
beforeAll(async () => {
  const video = await aVideo({ seconds: 3, framesPerSecond: 24 });
  clips = await startClipServer({
    '100.mp4': filledTo(100 * MEBIBYTE, video),
    '100.1.mp4': filledTo(100 * MEBIBYTE + 1, video),
  });
});
afterAll(() => clips.close());

const create = (name: string) =>
  createVideo(
    caller,
    anUnfilmedVideo({ model: 'xW3.0s', referenceVideos: [clips.urlOf(name)], durationSec: 2 }),
  );

test('A reference video of more than 100 MiB is refused by name, before any debit', async () => {
  const refused = await create('100.1.mp4');

  expect(wrongFields(refused)).toEqual(['referenceVideos[0]']);
  expect(JSON.stringify(refused.body)).toContain('is larger than 100 MB');
  expect((await history(caller)).map(({ reason }) => reason)).toEqual(['topup']);
});

test('A reference video of 100 MiB is copied, measured and billed', async () => {
  const { status, body } = await create('100.mp4');

  expect(status).toBe(202);
  expect((await entriesOf(caller, body.requestId)).at(-1)?.[0]).toBe('generation');
});
