import { expect, test } from '@jest/globals';
import { encodeVideo } from '../src/media/encode-video.ts';

const aFilm = (text: string) => ({
  ...{ width: 64, height: 32, seconds: 2, text, caption: 'a model', watermark: false },
});

test('A film is encoded alike by any thread, by one that has encoded others, and after one that failed', async () => {
  // Two at a time, so that the first two begin threads, and the others follow them on these.
  const first = await Promise.all(
    ['a fox', 'a fox', 'a bear', 'a fox'].map((text) => encodeVideo(aFilm(text))),
  );
  const [fox = Buffer.of(), again, bear, last] = first;
  expect(fox.subarray(4, 8).toString()).toBe('ftyp');
  expect([again?.equals(fox), bear?.equals(fox), last?.equals(fox)]).toEqual([true, false, true]);

  await expect(encodeVideo(aFilm(null as never))).rejects.toThrow('null');

  expect((await encodeVideo(aFilm('a fox'))).equals(fox)).toBe(true);
  expect((await encodeVideo(aFilm('a fox'))).equals(fox)).toBe(true);
});
