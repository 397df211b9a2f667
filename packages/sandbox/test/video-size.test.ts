import { describe, expect, test } from '@jest/globals';
import { RATIOS, type Resolution, videoSizeOf } from '../src/media/video-size.ts';

describe('the size of a video', () => {
  const sizeOf = (resolution: Resolution, ratio: (typeof RATIOS)[number]) => {
    const { width, height } = videoSizeOf(resolution, ratio);
    return `${width}x${height}`;
  };

  test.each([
    ['480p', '854x480', '640x480', '480x480', '480x640', '480x854', '1120x480'],
    ['720p', '1280x720', '960x720', '720x720', '720x960', '720x1280', '1680x720'],
    ['1080p', '1920x1080', '1440x1080', '1080x1080', '1080x1440', '1080x1920', '2520x1080'],
    ['2k', '2560x1440', '1920x1440', '1440x1440', '1440x1920', '1440x2560', '3360x1440'],
    ['4k', '3840x2160', '2880x2160', '2160x2160', '2160x2880', '2160x3840', '5040x2160'],
  ] as const)('of %s follows its ratio: %s %s %s %s %s %s', (resolution, ...sizes) => {
    expect(RATIOS.map((ratio) => sizeOf(resolution, ratio))).toEqual(sizes);
  });
});
