import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measureAudio } from '../src/measure-audio.ts';
import { anMp3, aWav } from './sounds.ts';

describe('the length of a sound', () => {
  test.each([
    ['mono', { seconds: 2.5 }],
    ['stereo', { seconds: 1, channels: 2 }],
    ['of 48 kHz', { seconds: 0.125, rate: 48_000 }],
    ['with a chunk before its data', { seconds: 2, before: 33 }],
    ['with a chunk after it', { seconds: 2, after: 100 }],
    ['of compressed sound, by its samples', { seconds: 2, samples: 88_200 }],
    ['of a recording that was streamed', { seconds: 2, size: 0xffffffff }],
  ])('is that of its WAV %s', (_, options) => {
    expect(measureAudio(aWav(options))).toEqual({ contentType: 'audio/wav', durationSec: options.seconds });
  });

  test.each([
    ['MPEG 1 layer III', { frames: 100 }, (100 * 1152) / 44_100],
    ['MPEG 2 layer III', { frames: 100, version: 2 }, (100 * 576) / 22_050],
    ['MPEG 2.5 layer III', { frames: 100, version: 2.5 }, (100 * 576) / 11_025],
    ['changing bitrates', { frames: 100, bitrates: [9, 11, 5] }, (100 * 1152) / 44_100],
    ['a tag before it, which holds what looks like frames', { frames: 50, tag: 4000 }, (50 * 1152) / 44_100],
    ['a description of itself in its first frame', { frames: 51, described: true }, (50 * 1152) / 44_100],
    ['rubbish between its frames', { frames: 60, rubbish: 33 }, (60 * 1152) / 44_100],
    ['a tag after it', { frames: 60, after: 128 }, (60 * 1152) / 44_100],
  ])('is that of the frames of an MP3 of %s', (_, options, seconds) => {
    const { contentType, durationSec } = measureAudio(anMp3(options));

    expect([contentType, durationSec]).toEqual(['audio/mpeg', expect.closeTo(seconds, 3)]);
  });

  test.each([
    ['is not an MP3 or WAV sound', Buffer.alloc(0)],
    ['is not an MP3 or WAV sound', Buffer.from('OggS and so on')],
    ['is not an MP3 or WAV sound', Buffer.alloc(100_000, 0xff)],
    ['is not an MP3 or WAV sound', anMp3({ frames: 2 })],
    ['is not an MP3 or WAV sound', Buffer.from('RIFF....AVI and so on')],
    ['has no duration', aWav({ seconds: 0 })],
    ['has no duration', aWav({ rate: 0, samples: 100 })],
    ['has no duration', Buffer.from('RIFF\0\0\0\0WAVE')],
    ['is cut off', aWav({ seconds: 2 }).subarray(0, 1000)],
  ])('of no such sound is said: %s', (problem, bytes) => {
    expect(() => measureAudio(bytes)).toThrow(problem);
  });

  test('of any bytes is found, or is said not to be', () => {
    const heads = fc.constantFrom('RIFF....WAVE', 'RIFF....WAVEdata', 'ID3\x03\0\0', '\xff\xfb\x90\0', '');
    fc.assert(
      fc.property(heads, fc.uint8Array({ maxLength: 3000 }), (head, rest) => {
        const bytes = Buffer.concat([Buffer.from(head, 'latin1'), rest]);
        try {
          expect(measureAudio(bytes).durationSec).toBeGreaterThanOrEqual(0);
        } catch (error) {
          expect((error as Error).name).toBe('UnreadableAudioError');
        }
      }),
    );
  });
});
