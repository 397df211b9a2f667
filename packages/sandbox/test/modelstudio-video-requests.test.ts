import { request } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { aMedium, answerOf, aStudioVideo, several, UUID, useSandbox } from './sandbox-client.ts';

const sandbox = useSandbox();

const WAN_2_7 = 'wan2.7-i2v';
/** A request to Wan 2.7, which wants an image. */
const forWan27 = (parameters: object, media = several('first_frame', 1)) =>
  aStudioVideo({ model: WAN_2_7, media, parameters: { ...parameters } });

describe('a Model Studio video request', () => {
  test.each([
    [
      'ten images, five videos and five audios',
      aStudioVideo({
        media: ['image', 'image', 'video', 'audio'].flatMap((kind) => several(`reference_${kind}`, 5)),
      }),
    ],
    ['a temporary file', aStudioVideo({ media: [aMedium('reference_video', 'oss://bucket/clip.mp4')] })],
    [
      'a data URL of an image',
      aStudioVideo({ media: [aMedium('first_frame', 'data:image/png;base64,iVBORw0KGgo=')] }),
    ],
    ['media without a prompt', aStudioVideo({ prompt: '', media: several('reference_image', 1) })],
    ['the longest video', aStudioVideo({ parameters: { duration: 30, resolution: '480P' } })],
    ['a prompt over the limit', aStudioVideo({ prompt: 'x'.repeat(30_000) })],
  ])('is accepted with %s', async (_, request) => {
    expect((await sandbox.studioVideo(request)).status).toBe(200);
  });

  test.each([
    ['dashscope-intl.aliyuncs.com', 'wan3.0-video', 'ModelNotFound'],
    ['dashscope.localhost:9000', 'wan3.0-video-prime', 'ModelNotFound'],
    ['dashscope-us.aliyuncs.com', WAN_2_7, undefined],
    ['llm-abc123.ap-southeast-1.maas.aliyuncs.com', 'wan3.0-video', undefined],
    ['127.0.0.1:9000', 'wan3.0-video-prime', undefined],
  ])('at the host %s for %s ends with %s', async (host, model, code) => {
    const media = several('first_frame', 1);
    const { port } = new URL(sandbox.url);
    const answer = await new Promise<{ statusCode?: number | undefined; body: string }>((resolve, reject) => {
      const call = request(
        {
          ...{ port, host: '127.0.0.1', method: 'POST' },
          path: '/api/v1/services/aigc/video-generation/video-synthesis',
          headers: { host, authorization: 'Bearer test-key', 'x-dashscope-async': 'enable' },
        },
        async (response) =>
          resolve({
            statusCode: response.statusCode,
            body: Buffer.concat(await response.toArray()).toString('utf8'),
          }),
      );
      call.on('error', reject).end(JSON.stringify(aStudioVideo({ model, media })));
    });

    expect([answer.statusCode, JSON.parse(answer.body).code]).toEqual([code ? 404 : 200, code]);
  });

  test.each([
    ['no model', { ...aStudioVideo(), model: undefined }],
    ['an image model', aStudioVideo({ model: 'qwen-image-3.0-pro' })],
    ['neither prompt nor media', aStudioVideo({ prompt: '' })],
    ['no input', { model: 'wan3.0-video' }],
    ['a missing required image', aStudioVideo({ model: WAN_2_7 })],
    ['a media type of another model', forWan27({}, several('reference_image', 1))],
    ['a clip for Wan 3.0', aStudioVideo({ media: several('first_clip', 1) })],
    ['a medium that is not a URL', aStudioVideo({ media: [aMedium('first_frame', 'fox.png')] })],
    [
      'a data URL of a video',
      aStudioVideo({ media: [aMedium('reference_video', 'data:video/mp4;base64,AAAA')] }),
    ],
    ['media that are not a list', { model: 'wan3.0-video', input: { prompt: 'a fox', media: {} } }],
    ['eleven reference images', aStudioVideo({ media: several('reference_image', 11) })],
    ['six reference videos', aStudioVideo({ media: several('reference_video', 6) })],
    ['two first frames', aStudioVideo({ media: several('first_frame', 2) })],
    ['a resolution in lower case', aStudioVideo({ parameters: { resolution: '720p' } })],
    ['4K', aStudioVideo({ parameters: { resolution: '4K' } })],
    ['480P for Wan 2.7', forWan27({ resolution: '480P' })],
    ['an unknown ratio', aStudioVideo({ parameters: { ratio: '2:1' } })],
    ['too short a video', aStudioVideo({ parameters: { duration: 1 } })],
    ['too long a video', aStudioVideo({ parameters: { duration: 31 } })],
    ['too long a video for Wan 2.7', forWan27({ duration: 16 })],
    ['the duration -1 for Wan 2.7', forWan27({ duration: -1 })],
    ['a duration that is a string', aStudioVideo({ parameters: { duration: '5' } })],
    ['too small a seed', aStudioVideo({ parameters: { seed: -2 } })],
    ['the seed -1 for Wan 2.7', forWan27({ seed: -1 })],
    ['a watermark that is not a boolean', aStudioVideo({ parameters: { watermark: 'no' } })],
    ['audio that is not a boolean', aStudioVideo({ parameters: { audio: 1 } })],
    [
      'a link without prompt_extend',
      aStudioVideo({ media: several('link', 1), parameters: { prompt_extend: false } }),
    ],
    ['parameters that are not an object', { ...aStudioVideo(), parameters: 'none' }],
  ])('is refused for %s', async (_, request) => {
    expect(await answerOf(await sandbox.studioVideo(request))).toEqual({
      status: 400,
      code: 'InvalidParameter',
      message: expect.any(String),
      request_id: UUID,
    });
  });

  test.each(['sandbox-xw3-pro', 'toString'])('is refused for the unknown model %s', async (model) => {
    expect(await answerOf(await sandbox.studioVideo(aStudioVideo({ model })))).toMatchObject({
      status: 404,
      code: 'ModelNotFound',
    });
  });
});
