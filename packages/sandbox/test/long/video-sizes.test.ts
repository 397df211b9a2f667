import { describe, test } from '@jest/globals';
import { useSandbox } from '../sandbox-client.ts';
import { expectArkFilm, expectStudioFilm, type VideoSize } from '../videos.ts';

const sandbox = useSandbox();

describe('the file of a video', () => {
  // Encoding takes time by pixels and seconds, so only the small ones are long.
  test.each<VideoSize>([
    ['1080p', '16:9', 2, 1920, 1080],
    ['1080p', 'adaptive', 2, 1920, 1080],
    ['1080p', '9:16', 3, 1080, 1920],
    ['1080p', '4:3', 2, 1440, 1080],
    ['1080p', '3:4', 2, 1080, 1440],
    ['1080p', '1:1', 2, 1080, 1080],
    ['1080p', '21:9', 2, 2520, 1080],
    ['2k', '16:9', 2, 2560, 1440],
    ['2k', '9:16', 2, 1440, 2560],
    ['4k', '16:9', 2, 3840, 2160],
    ['4k', '21:9', 2, 5040, 2160],
  ])('of ModelArk at %s %s for %i s is H.264 of exactly that size and duration', (...size) =>
    expectArkFilm(sandbox, size),
  );

  test.each<VideoSize>([
    ['480P', '16:9', 2, 854, 480],
    ['480P', '21:9', 7, 1120, 480],
    ['480P', '3:4', 30, 480, 640],
    ['720P', 'adaptive', 5, 1280, 720],
    ['1080P', '1:1', 3, 1080, 1080],
  ])('of Model Studio at %s %s for %i s is H.264 of exactly that size and duration', (...size) =>
    expectStudioFilm(sandbox, size),
  );
});
