import { describe, expect, test } from '@jest/globals';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aWav } from '../../../../packages/media/test/sounds.ts';
import { bucket, measureFiles, serve, server, UNHURRIED, whole } from './a-file-server.ts';

describe('measuring images and sounds', () => {
  const measureAs = async (medium: 'image' | 'audio', bytes: Buffer) => {
    serve({ '/file': whole(bytes) });
    const files = [
      { medium, url: `${server.url}/file` },
      { medium, base64: bytes.toString('base64') },
    ];
    return measureFiles(files);
  };

  test('gives the facts of a file at a URL and of bytes, and stores nothing', async () => {
    const png = await anImage(300, 200, 'png');
    const facts = {
      contentType: 'image/png',
      sizeBytes: png.length,
      width: 300,
      height: 200,
      hasAlpha: false,
    };
    const wav = aWav({ seconds: 2 });

    expect(await measureAs('image', png)).toStrictEqual([facts, facts]);
    const sound = { contentType: 'audio/wav', sizeBytes: wav.length, durationMs: 2_000 };
    expect(await measureAs('audio', wav)).toStrictEqual([sound, sound]);
    expect(bucket.objects.size).toBe(0);
  });

  test.each<['image' | 'audio', string, () => Promise<Buffer> | Buffer]>([
    ['image', 'is not an image that can be read', () => Buffer.from('<html>')],
    ['image', 'is not an image that can be read', () => aWav()],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'png')).subarray(0, 500)],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'jpeg')).subarray(0, 600)],
    ['image', 'is cut off', async () => (await anImage(300, 200, 'webp')).subarray(0, 60)],
    ['audio', 'is not an MP3 or WAV sound', () => anImage(300, 200, 'png')],
    ['audio', 'is cut off', () => aWav().subarray(0, 1_000)],
  ])('says of such an %s: %s', async (medium, problem, fileOf) => {
    expect(await measureAs(medium, await fileOf())).toStrictEqual([{ problem }, { problem }]);
  });

  test.each([1.003, 1.005, 2.0004])(
    'gives the length of a sound of %d s to the nearest millisecond',
    async (seconds) => {
      const measured = { durationMs: Math.round(seconds * 1_000) };

      expect(await measureAs('audio', aWav({ seconds, rate: 10_000 }))).toMatchObject([measured, measured]);
    },
  );

  test('fetches no more of a file than any provider takes', async () => {
    serve({ '/file': whole(Buffer.alloc(17 * 1024 * 1024)) });
    const files = [{ medium: 'audio' as const, url: `${server.url}/file` }];

    expect(await measureFiles(files, UNHURRIED)).toStrictEqual([{ problem: 'is larger than 16 MB' }]);
  });
});
