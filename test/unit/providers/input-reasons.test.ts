import { describe, expect, test } from '@jest/globals';
import type { InputReason } from '../../../core/errors.ts';
import { mediumIn, reasonIn } from '../../../providers/input-reasons.ts';

describe('why an input was refused', () => {
  test.each<[string, InputReason]>([
    ['The download of the file timed out.', 'slow'],
    ['The file could not be reached.', 'unfetched'],
    ['The file is corrupt.', 'unreadable'],
    ['Its duration is wrong.', 'duration'],
    ['Its fps are wrong.', 'rate'],
    ['Its aspect is wrong.', 'ratio'],
    ['It is too small or too large.', 'size'],
    ['It is below the minimum.', 'small'],
    ['It exceeds what we take.', 'large'],
    ['Its resolution is wrong.', 'size'],
    ['Its codec is wrong.', 'format'],
    ['The URL is wrong.', 'unfetched'],
    ['It is wrong.', 'value'],
    ['See https://a.example/duration/fps?aspect for what is wrong.', 'value'],
  ])('is told by the words of its message: %s', (message, reason) => {
    expect(reasonIn({ code: 'Wrong', message }).reason).toBe(reason);
  });

  test.each<[string, InputReason]>([
    ['Input.Timeout', 'slow'],
    ['InvalidURL', 'unfetched'],
    ['file_download_error', 'unfetched'],
    ['InvalidFile.Duration', 'duration'],
    ['InvalidFile.FPS', 'rate'],
    ['image_aspect', 'ratio'],
    ['image_too_small', 'small'],
    ['InvalidFile.Size', 'large'],
    ['image_over_size', 'large'],
    ['InvalidImageResolution', 'size'],
    ['image_load_error', 'unreadable'],
    ['InvalidImageFormat', 'format'],
    ['Wrong', 'value'],
  ])('is told by its code where the message tells nothing: %s', (code, reason) => {
    expect(reasonIn({ code, message: 'It is wrong.' }).reason).toBe(reason);
    expect(reasonIn({ code }).reason).toBe(reason);
    // The message says more than a code.
    expect(reasonIn({ code, message: 'The file is corrupt.' }).reason).toBe('unreadable');
  });

  test.each<[string, number | undefined]>([
    ['its server answered 403', 403],
    ['status code: 404', 404],
    ['HTTP 503', 503],
    ['error=500', 500],
    ['its server answered 302', undefined],
    ['at least 400 pixels', undefined],
    ['see https://a.example/status/404', undefined],
  ])('has the status of the server of the file, if the message tells any: %s', (message, status) => {
    expect(reasonIn({ code: 'Wrong', message }).status).toBe(status);
  });

  test.each([
    ['The picture is wrong.', 'image'],
    ['The clip is wrong.', 'video'],
    ['The frame rate is wrong.', 'video'],
    ['The sound is wrong.', 'audio'],
    ['The image of the video is wrong.', undefined],
    ['It is wrong.', undefined],
  ])('is about the one medium that is named: %s', (message, medium) => {
    expect(mediumIn(message)).toBe(medium);
    expect(reasonIn({ code: 'Wrong', message }).medium).toBe(medium);
  });

  test('is about the medium of its code where the message names none', () => {
    expect(reasonIn({ code: 'InvalidAudio', message: 'It is wrong.' }).medium).toBe('audio');
    expect(reasonIn({ code: 'InvalidAudio', message: 'The video is wrong.' }).medium).toBe('video');
  });
});
