import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { fetchInputs } from '../src/fetch-inputs.ts';
import type { Fault } from '../src/input-files.ts';
import {
  anArkVideo,
  aStudioRequest,
  aStudioVideo,
  outcomeOf,
  poll,
  taskIdOf,
  useSandbox,
} from './sandbox-client.ts';
import { aMuxedVideo, aSound } from './videos.ts';

const aPicture = (width: number, height: number, format: 'png' | 'jpeg' | 'svg' = 'png') =>
  format === 'svg'
    ? Promise.resolve(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"/>'))
    : sharp({ create: { width, height, channels: 3, background: 'red' } })
        .toFormat(format)
        .toBuffer();

/** A BMP and a HEIC as far as their heads: no library here writes them. */
const aBmp = (width: number, height: number): Buffer => {
  const file = Buffer.alloc(64);
  file.write('BM');
  file.writeInt32LE(width, 18);
  file.writeInt32LE(-height, 22);
  return file;
};
const aHeic = (width: number, height: number): Buffer => {
  const [type, size] = [Buffer.alloc(24), Buffer.alloc(20)];
  type.writeUInt32BE(24);
  type.write('ftypheic\0\0\0\0mif1heic', 4);
  size.writeUInt32BE(20);
  size.write('ispe', 4);
  size.writeUInt32BE(width, 12);
  size.writeUInt32BE(height, 16);
  return Buffer.concat([type, size]);
};

const WAN_IMAGES = ['jpeg', 'png', 'bmp', 'webp'];
const ARK_IMAGES = ['jpeg', 'png', 'webp', 'bmp', 'tiff', 'gif', 'heif'];

const files = new Map<string, Uint8Array>();
const server = createServer((request, response) => {
  const file = files.get(request.url?.slice(1) ?? '');
  response.writeHead(file ? 200 : 404).end(file);
});
const sandbox = useSandbox();
const urlOf = (name: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  files.set('small.png', await aPicture(200, 200));
  files.set('fine.png', await aPicture(400, 300));
  files.set('wide.png', await aPicture(3_000, 300));
  files.set('six.png', await aPicture(6_000, 6_000));
  files.set('area.png', await aPicture(6_001, 6_000));
  const clear = sharp({ create: { width: 400, height: 300, channels: 4, background: '#f008' } });
  files.set('alpha.png', await clear.clone().png().toBuffer());
  files.set('alpha.webp', await clear.clone().webp().toBuffer());
  files.set('fine.avif', await clear.clone().flatten().avif({ effort: 0 }).toBuffer());
  files.set('plain.bmp', aBmp(400, 300));
  files.set('photo.heic', aHeic(4_032, 3_024));
  files.set('drawn.svg', await aPicture(300, 300, 'svg'));
  files.set('page.html', Buffer.from('<html>'));
  for (const [name, seconds, fps] of [
    ['4.mp4', 4, 30],
    ['12.mp4', 12, 30],
    ['16.mp4', 16, 30],
    ['slow.mp4', 4, 10],
  ] as const) {
    files.set(name, await aMuxedVideo(seconds, fps));
  }
  const old = Buffer.from(await aMuxedVideo(16, 30));
  old.write('skip', 4);
  files.set('16-old.mov', old);
  files.set('4.webm', await aMuxedVideo(4, 30, 'webm'));
  files.set('5.wav', aSound(5));
  files.set('0.5.wav', aSound(0.5));
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

describe('the files of a call', () => {
  const check = (model: string, ...named: [kind: 'image' | 'video' | 'audio', name: string][]) =>
    fetchInputs(
      model,
      named.map(([kind, name], index) => ({
        kind,
        url: name.includes(':') ? name : urlOf(name),
        field: `file ${index}`,
      })),
    );
  const problemOf = async (...args: Parameters<typeof check>) => {
    const { problem } = await check(...args);
    return problem && [problem.field, problem.fault];
  };

  test('can be used within the limits of the model, and the seconds of its videos are told', async () => {
    const inputs = await check('wan3.0-video', ['image', 'fine.png'], ['video', '4.mp4'], ['audio', '5.wav']);

    expect(inputs).toEqual({ videoSeconds: 4 });
  });

  test.each<[string, string, ['image' | 'video' | 'audio', string], Fault]>([
    [
      'is not there',
      'wan3.0-video',
      ['image', 'none.png'],
      { is: 'missing', reason: 'its server answered 404' },
    ],
    ['is no image', 'wan3.0-video', ['image', 'page.html'], { is: 'unreadable' }],
    [
      'is too small',
      'wan3.0-video',
      ['image', 'small.png'],
      { is: 'sides', least: 240, most: 8_000, isBelow: true },
    ],
    ['is too wide', 'wan3.0-video', ['image', 'wide.png'], { is: 'ratio', most: 8 }],
    [
      'is of another type',
      'wan3.0-video',
      ['image', 'drawn.svg'],
      { is: 'format', found: 'svg', allowed: WAN_IMAGES },
    ],
    [
      'is an AVIF',
      'wan3.0-video',
      ['image', 'fine.avif'],
      { is: 'format', found: 'avif', allowed: WAN_IMAGES },
    ],
    [
      'is an AVIF for ModelArk',
      'seedream-4-5-251128',
      ['image', 'fine.avif'],
      { is: 'format', found: 'avif', allowed: ARK_IMAGES },
    ],
    ['lets light through', 'wan2.7-i2v', ['image', 'alpha.png'], { is: 'alpha' }],
    ['has too large an area', 'seedream-4-5-251128', ['image', 'area.png'], { is: 'area', most: 36_000_000 }],
    ['is too long', 'wan3.0-video', ['video', '16.mp4'], { is: 'seconds', least: 1, most: 15, seconds: 16 }],
    [
      'is QuickTime of an old camera, and too long',
      'wan3.0-video',
      ['video', '16-old.mov'],
      { is: 'seconds', least: 1, most: 15, seconds: 16 },
    ],
    ['has few pictures', 'wan3.0-video', ['video', 'slow.mp4'], { is: 'frames', least: 16 }],
    [
      'is a WebM',
      'wan3.0-video',
      ['video', '4.webm'],
      { is: 'format', found: 'WebM', allowed: ['mp4', 'mov'] },
    ],
    ['is no video', 'wan3.0-video', ['video', 'fine.png'], { is: 'unreadable' }],
    [
      'is too short',
      'wan3.0-video',
      ['audio', '0.5.wav'],
      { is: 'seconds', least: 1, most: 15, seconds: 0.5 },
    ],
    [
      'is a longer clip',
      'wan2.7-i2v',
      ['video', '12.mp4'],
      { is: 'seconds', least: 2, most: 10, seconds: 12 },
    ],
    [
      'is small for Seedance',
      'dreamina-seedance-2-0-260128',
      ['image', 'small.png'],
      { is: 'sides', least: 300, most: 6_000, isBelow: true },
    ],
    [
      'is wide for Seedance',
      'dreamina-seedance-2-0-260128',
      ['image', 'wide.png'],
      { is: 'ratio', most: 2.5 },
    ],
  ])('cannot be used when one %s', async (_, model, file, fault) => {
    expect(await problemOf(model, file)).toEqual(['file 0', fault]);
  });

  test.each([
    ['seedream-4-5-251128', 'alpha.png'],
    ['seedream-4-5-251128', 'photo.heic'],
    ['seedream-4-5-251128', 'six.png'],
    ['wan2.7-i2v', 'alpha.webp'],
    ['wan2.7-i2v', 'plain.bmp'],
    ['qwen-image-3.0-pro', 'small.png'],
  ])('can be used by %s when it is %s', async (model, name) => {
    expect(await problemOf(model, ['image', name])).toBeUndefined();
  });

  test('cannot be used when videos are too long together', async () => {
    expect(await problemOf('wan3.0-video', ['video', '4.mp4'], ['video', '12.mp4'])).toEqual([
      'file 1',
      { is: 'total', most: 15 },
    ]);
  });

  test.each(['https://example.com/a.mp4', 'https://clips.example/a.mp4', 'oss://bucket/a', 'asset://a'])(
    'are taken as they are at %s',
    async (url) => {
      expect(await check('wan3.0-video', ['video', url])).toEqual({ videoSeconds: 0 });
    },
  );

  test('are read from data URLs', async () => {
    const data = `data:image/png;base64,${Buffer.from(files.get('small.png') ?? []).toString('base64')}`;

    expect(await problemOf('wan3.0-video', ['image', data])).toBeDefined();
    expect(await problemOf('qwen-image-3.0-pro', ['image', data])).toBeUndefined();
  });
});

describe('an upstream', () => {
  const studioTask = async (response: Response) => {
    const id = await taskIdOf(response);
    return poll(
      () => sandbox.studioTaskOf<{ output: { task_status: string; code?: string }; usage?: object }>(id),
      (task) => /SUCCEEDED|FAILED/.test(task.output.task_status),
    );
  };

  test('refuses a call with a file that it cannot use, where it fetches at once', async () => {
    const image = { type: 'image_url', image_url: { url: urlOf('small.png') }, role: 'reference_image' };

    for (const [answer, code] of [
      [await sandbox.arkImages({ prompt: 'a fox', image: urlOf('none.png') }), 'InvalidParameter'],
      [await sandbox.arkVideo(anArkVideo({ media: [image] })), 'InvalidParameter'],
      [
        await sandbox.studioImages(aStudioRequest({ images: [urlOf('none.png')] })),
        'BadRequest.InputDownloadFailed',
      ],
    ] as const) {
      expect(await outcomeOf(answer)).toEqual([400, code]);
    }
  });

  test('fails a task with a file that it cannot use, and tells the seconds of one that it can', async () => {
    const video = (name: string) =>
      sandbox.studioVideo(
        aStudioVideo({
          media: [{ type: 'reference_video', url: urlOf(name) }],
          parameters: { duration: 2, resolution: '480P' },
        }),
      );
    const [missing, slow, fine, images] = await Promise.all([
      studioTask(await video('none.mp4')),
      studioTask(await video('slow.mp4')),
      studioTask(await video('4.mp4')),
      studioTask(await sandbox.studioTask(aStudioRequest({ images: [urlOf('page.html')] }))),
    ]);

    expect(missing.output).toMatchObject({ task_status: 'FAILED', code: 'BadRequest.InputDownloadFailed' });
    expect(slow.output).toMatchObject({ task_status: 'FAILED', code: 'InvalidFile.FPS' });
    expect(images.output).toMatchObject({ task_status: 'FAILED', code: 'InvalidFile.Openerror' });
    expect(fine.output.task_status).toBe('SUCCEEDED');
    expect(fine.usage).toMatchObject({ duration: 6, input_video_duration: 4, output_video_duration: 2 });
  });
});
