import { describe, expect, test } from '@jest/globals';
import { anArkVideo, arkErrorOf, useSandbox } from './sandbox-client.ts';

// Its files are made up.
const sandbox = useSandbox({ fetchInputs: false });

const XW3_PRO = 'sandbox-xw3-pro';
const URL = 'https://example.com/media';

type Media = 'image' | 'video' | 'audio';
const aMedium = (kind: Media, role?: string, url = URL) => ({
  type: `${kind}_url`,
  [`${kind}_url`]: { url },
  ...(role !== undefined && { role }),
});
const aFirstFrame = aMedium('image', 'first_frame');
const aLastFrame = aMedium('image', 'last_frame');
const references = (kind: Media, count: number) => Array(count).fill(aMedium(kind, `reference_${kind}`));

describe('a ModelArk video request', () => {
  test.each([
    ['a first frame', {}, [aFirstFrame]],
    ['an image without a role', {}, [aMedium('image')]],
    ['both frames', {}, [aFirstFrame, aLastFrame]],
    ['a data URL', {}, [aMedium('image', 'first_frame', 'data:image/png;base64,iVBORw0KGgo=')]],
    ['an asset', {}, [aMedium('image', 'first_frame', 'asset://abc')]],
    [
      'the maximum of references of Seedance 2.0',
      {},
      [...references('image', 9), ...references('video', 3), ...references('audio', 3)],
    ],
    [
      'the maximum of references of sandbox-xw3-pro',
      { model: XW3_PRO },
      [...references('image', 10), ...references('video', 5), ...references('audio', 5)],
    ],
    ['audio alone for sandbox-xw3-pro', { model: XW3_PRO }, references('audio', 1)],
  ])('is accepted with %s', async (_, fields, media) => {
    expect((await sandbox.arkVideo(anArkVideo({ ...fields, media }))).status).toBe(200);
  });

  test.each([
    ['Seedance 2.0', { resolution: '480p', duration: 4 }],
    ['Seedance 2.0', { resolution: '4k', duration: 15 }],
    ['sandbox-xw3-pro', { model: XW3_PRO, resolution: '2k', duration: 2 }],
    ['sandbox-xw3-pro', { model: XW3_PRO, resolution: '4k', duration: 30, ratio: '21:9' }],
  ])('is accepted at the limits of %s: %j', async (_, fields) => {
    expect((await sandbox.arkVideo(anArkVideo(fields))).status).toBe(200);
  });

  test.each<[string, Record<string, unknown>, string, string?]>([
    ['no content', { content: undefined }, 'content', 'MissingParameter'],
    ['empty content', { content: [] }, 'content'],
    ['content that is not a list', { content: 'a fox' }, 'content'],
    ['an item of an unknown type', { content: [{ type: 'image' }] }, 'content[0].type'],
    ['a text item without text', { content: [{ type: 'text' }] }, 'content[0].text'],
    [
      'a role of another type',
      { media: [aMedium('video', 'first_frame')] },

      'content[1].role',
    ],
    ['an unknown role', { media: [aMedium('image', 'middle_frame')] }, 'content[1].role'],
    [
      'a medium that is not a URL',
      { media: [aMedium('image', 'first_frame', 'fox.png')] },

      'content[1].image_url.url',
    ],
    [
      'a medium without its URL',
      { media: [{ type: 'audio_url', role: 'reference_audio' }] },

      'content[1].audio_url.url',
    ],
    ['two first frames', { media: [aFirstFrame, aFirstFrame] }, 'content'],
    ['two last frames', { media: [aFirstFrame, aLastFrame, aLastFrame] }, 'content'],
    ['a last frame alone', { media: [aLastFrame] }, 'content'],
    [
      'a frame with a reference image',
      { media: [aFirstFrame, ...references('image', 1)] },

      'content',
    ],
    [
      'a frame with a reference video',
      { media: [aFirstFrame, ...references('video', 1)] },

      'content',
    ],
    [
      'a frame with a reference audio',
      { media: [aFirstFrame, ...references('audio', 1)] },

      'content',
    ],
    ['ten reference images', { media: references('image', 10) }, 'content'],
    ['four reference videos', { media: references('video', 4) }, 'content'],
    [
      'four reference audios',
      { media: [...references('image', 1), ...references('audio', 4)] },

      'content',
    ],
    ['audio alone', { media: references('audio', 1) }, 'content'],
    [
      'eleven images for sandbox-xw3-pro',
      { model: XW3_PRO, media: references('image', 11) },

      'content',
    ],
    ['a resolution in upper case', { resolution: '720P' }, 'resolution'],
    ['a resolution of another model', { resolution: '2k' }, 'resolution'],
    ['720p for sandbox-xw3-pro', { model: XW3_PRO, resolution: '720p' }, 'resolution'],
    ['an unknown ratio', { ratio: '2:1' }, 'ratio'],
    ['too short a video', { duration: 3 }, 'duration'],
    ['too long a video', { duration: 16 }, 'duration'],
    [
      'too short a video for sandbox-xw3-pro',
      { model: XW3_PRO, duration: 1 },

      'duration',
    ],
    [
      'too long a video for sandbox-xw3-pro',
      { model: XW3_PRO, duration: 31 },

      'duration',
    ],
    ['a duration that is not an integer', { duration: 4.5 }, 'duration'],
    ['a duration that is a string', { duration: '5' }, 'duration'],
    ['audio that is not a boolean', { generate_audio: 'yes' }, 'generate_audio'],
    ['a watermark that is not a boolean', { watermark: 1 }, 'watermark'],
    [
      'too early an expiry',
      { execution_expires_after: 3_599 },

      'execution_expires_after',
    ],
    ['a callback that is not a URL', { callback_url: '/callback' }, 'callback_url'],
    [
      'a callback of another scheme',
      { callback_url: 'ftp://example.com' },

      'callback_url',
    ],
    [
      'too long an identifier',
      { safety_identifier: 'x'.repeat(65) },

      'safety_identifier',
    ],
  ])('is refused for %s', async (_, fields, param, code = 'InvalidParameter') => {
    expect(await arkErrorOf(await sandbox.arkVideo(anArkVideo(fields)))).toEqual({
      status: 400,
      code,
      param,
      type: 'BadRequest',
      message: expect.stringMatching(/ Request id: 02\d{13}[0-9a-f]{32}$/),
    });
  });

  test.each(['seedream-4-5-251128', 'wan3.0-video', 'toString'])(
    'is refused for the unknown model %s',
    async (model) => {
      expect(await arkErrorOf(await sandbox.arkVideo(anArkVideo({ model })))).toMatchObject({
        status: 404,
        code: 'InvalidEndpointOrModel.NotFound',
        type: 'NotFound',
      });
    },
  );
});
