import { beforeEach, expect, test } from '@jest/globals';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import { aFile, aService, type FakeService, IMAGE_URL, VIDEO_URL } from './a-service.ts';
import { type Case, failuresOf, image, put, serve } from './broken-service.ts';

let service: FakeService;
beforeEach(async () => {
  service = await aService();
});

const png = await anImage(1024, 1024);
const video = (width: number, height: number, seconds: number) => aVideo({ width, height, seconds });
const wrongVideos = { side: await video(1280, 720, 2), seconds: await video(854, 480, 4) };
const smallPng = await anImage(512, 512);
const FILES: Case[] = [
  ['image file', 'a 403', serve(IMAGE_URL, 403), /answered 403/],
  ['image file', 'another size', put(IMAGE_URL, smallPng, 'image/png'), /is 512x512 instead of 1024x1024/],
  [
    'image file',
    'another type',
    put(IMAGE_URL, png, 'image/jpeg'),
    /is image\/png and is served as image\/jpeg/,
  ],
  [
    'image file',
    'other bytes',
    put(IMAGE_URL, Buffer.from('<html>'.repeat(20)), 'image/png'),
    /no PNG, JPEG or WebP/,
  ],
  [
    'image file',
    'no nosniff',
    put(IMAGE_URL, png, 'image/png', { 'x-content-type-options': '' }),
    /without X-Content-Type-Options/,
  ],
  [
    'image file',
    'no name',
    put(IMAGE_URL, png, 'image/png', { 'content-disposition': '' }),
    /without its name/,
  ],
  [
    'image file',
    'a part only',
    put(IMAGE_URL, png, 'image/png', { 'content-length': '1' }),
    /says 1 bytes and has/,
  ],
  [
    'image file',
    'a record of another size',
    image({ status: 'succeeded', cost: 1, images: [{ url: IMAGE_URL, size: '512x512' }] }),
    /record says 512x512 of an image of 1024x1024/,
  ],
  [
    'video file',
    'another length',
    put(VIDEO_URL, wrongVideos.seconds, 'video/mp4'),
    /lasts 4 s instead of 2/,
  ],
  [
    'video file',
    'another resolution',
    put(VIDEO_URL, wrongVideos.side, 'video/mp4'),
    /1280x720, which is no 480p/,
  ],
  ['video file', 'an image', put(VIDEO_URL, png, 'video/mp4'), /is not an MP4/],
  [
    'altered URL',
    'no check of the signature',
    ({ files }) => {
      files[IMAGE_URL.replace('abcd', 'abAd')] = () => aFile(png, 'image/png');
    },
    /with another signature answered 200/,
  ],
  [
    'altered URL',
    'no check of the expiry',
    ({ files }) => {
      files[IMAGE_URL.replace('1800000000', '1800003600')] = () => aFile(png, 'image/png');
    },
    /with a later expiry answered 200/,
  ],
  [
    'altered URL',
    'public files',
    ({ files }) => {
      files['https://files.example.com/i.png'] = () => aFile(png, 'image/png');
    },
    /without a signature answered 200/,
  ],
];

test.each(FILES)('"%s" fails with a sentence for %s', async (check, _fault, breakIt, sentence) => {
  breakIt(service);

  expect(await failuresOf(service)).toContainEqual([check, expect.stringMatching(sentence)]);
});

test('what an unanswered call says is in the sentence of its check', async () => {
  service.smoke.caller.fetchFile = async () => {
    throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
  };

  expect((await failuresOf(service))[0]).toEqual([
    'image file',
    'TypeError: fetch failed (connect ECONNREFUSED)',
  ]);
});
