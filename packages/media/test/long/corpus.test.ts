import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { ImageExtension } from '../../src/file-types.ts';
import { ImageEnd } from '../../src/image-end.ts';
import { measureImage } from '../../src/measure-image.ts';
import { videoTypeOf } from '../../src/video-type.ts';
import { hasFfmpeg } from '../encoded-videos.ts';
import { measure } from '../measured.ts';

const folder = mkdtempSync(join(tmpdir(), 'corpus-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FAST = ['-preset', 'ultrafast'];
const CODECS: Record<string, string[]> = {
  h264: ['-c:v', 'libx264', ...FAST, '-bf', '2', '-pix_fmt', 'yuv420p'],
  hevc: ['-c:v', 'libx265', ...FAST, '-x265-params', 'log-level=none'],
  mpeg4: ['-c:v', 'mpeg4'],
  mjpeg: ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'],
  prores: ['-c:v', 'prores_ks'],
  png: ['-c:v', 'png'],
  qtrle: ['-c:v', 'qtrle'],
  raw: ['-c:v', 'rawvideo', '-pix_fmt', 'yuyv422'],
  vp8: ['-c:v', 'libvpx', '-deadline', 'realtime'],
  vp9: ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8'],
};
const AAC = ['-c:a', 'aac'];
const OPUS = ['-c:a', 'libopus'];
/** What muxers write, by the end of the name, and for which codecs. */
const CONTAINERS: [name: string, codecs: string[], options: string[]][] = [
  ['.mp4', ['h264', 'hevc', 'mpeg4', 'vp9', 'mjpeg'], AAC],
  ['-first.mp4', ['h264', 'hevc', 'mpeg4', 'vp9', 'mjpeg'], [...AAC, '-movflags', '+faststart']],
  ['-fragments.mp4', ['h264', 'hevc', 'mpeg4'], [...AAC, '-g', '5', '-movflags', 'frag_keyframe+empty_moov']],
  ['-dash.mp4', ['h264', 'mpeg4'], [...AAC, '-g', '5', '-movflags', 'dash+frag_keyframe+default_base_moof']],
  ['-silent.mp4', ['h264', 'mpeg4'], ['-an']],
  ['-unedited.mp4', ['h264'], [...AAC, '-use_editlist', '0']],
  ['-negative.mp4', ['h264'], [...AAC, '-movflags', 'negative_cts_offsets']],
  ['-units.mp4', ['h264'], [...AAC, '-video_track_timescale', '90000']],
  ['-ntsc.mp4', ['h264', 'mpeg4'], ['-an', '-r', '30000/1001']],
  ['-slow.mp4', ['h264', 'mpeg4'], ['-an', '-r', '2']],
  ['-film.mp4', ['h264', 'mpeg4'], [...AAC, '-r', '24000/1001']],
  ['-sports.mp4', ['h264', 'mpeg4'], ['-an', '-r', '120000/1001']],
  [
    '-uneven.mp4',
    ['h264'],
    [...AAC, '-vf', "select='not(mod(n,3))',setpts=PTS+0.02*mod(N\\,2)/TB", '-fps_mode', 'vfr'],
  ],
  ['-turned.mp4', ['h264', 'mpeg4'], [...AAC, '-metadata:s:v', 'rotate=90']],
  ['-early-sound.mp4', ['h264'], [...AAC, '-vf', 'setpts=PTS+0.4/TB']],
  ['-mp3.mp4', ['h264'], ['-c:a', 'libmp3lame']],
  ['-lossless.mp4', ['h264'], ['-c:a', 'flac', '-strict', '-2']],
  ['-two-sounds.mp4', ['h264'], [...AAC, '-map', '0:v', '-map', '1:a', '-map', '1:a']],
  ['-cmaf.mp4', ['h264'], [...AAC, '-g', '5', '-movflags', 'cmaf+frag_keyframe+delay_moov']],
  ['-indexed.mp4', ['h264'], [...AAC, '-g', '5', '-movflags', 'frag_keyframe+empty_moov+global_sidx']],
  ['-smooth.ismv', ['h264'], [...AAC, '-g', '5']],
  ['-apple.mov', ['hevc'], [...AAC, '-tag:v', 'hvc1']],
  ['-alac.mov', ['h264'], ['-c:a', 'alac']],
  ['-phone.3gp', ['h264', 'mpeg4'], AAC],
  ['-apple.m4v', ['h264', 'mpeg4'], AAC],
  ['.mov', ['h264', 'mpeg4', 'mjpeg', 'prores', 'png', 'qtrle', 'raw'], ['-c:a', 'pcm_s16le']],
  [
    '-first.mov',
    ['h264', 'mpeg4', 'mjpeg', 'prores', 'png'],
    ['-c:a', 'pcm_s16le', '-movflags', '+faststart'],
  ],
  ['-timecode.mov', ['h264', 'prores'], [...AAC, '-timecode', '01:00:00:00']],
  ['.mkv', ['h264', 'hevc', 'mpeg4', 'mjpeg', 'vp8', 'vp9'], OPUS],
  ['-live.mkv', ['h264', 'vp9'], ['-an', '-live', '1']],
  ['.webm', ['vp8', 'vp9'], OPUS],
  ['-silent.webm', ['vp8', 'vp9'], ['-an']],
  ['-live.webm', ['vp8', 'vp9'], ['-an', '-live', '1']],
];
const SIZE = { width: 96, height: 64 };

const ffmpeg = (...options: string[]): void => {
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
};

const encoded = (codec: string, suffix: string, options: string[]): string => {
  const path = join(folder, `${codec}${suffix}`);
  const picture = ['-f', 'lavfi', '-i', `testsrc2=s=${SIZE.width}x${SIZE.height}:r=10:d=1.5`];
  const sound = ['-f', 'lavfi', '-i', 'sine=d=1.5'];
  ffmpeg(...picture, ...sound, ...(CODECS[codec] ?? []), ...options, path);
  return path;
};

/** Copies of a file as older cameras write it: without the box of its type, and with a media box that ends nowhere. */
const asOldCameras = (path: string): string[] => {
  const file = readFileSync(path);
  const old = Buffer.from(file);
  old.write('skip', 4, 'latin1');
  const written = (name: string, bytes: Buffer): string => {
    const copy = path.replace(/(?=\.\w+$)/, `-${name}`);
    writeFileSync(copy, bytes);
    return copy;
  };
  const media = file.indexOf('mdat', 0, 'latin1');
  const isFirst = file.indexOf('moov', 0, 'latin1') < media;
  const open = Buffer.from(old);
  open.writeUInt32BE(open.readUInt32BE(media - 4) + 5_000, media - 4);
  return [written('old', old), ...(isFirst ? [written('open', open)] : [])];
};

const IMAGES: [name: string, options: string[]][] = [
  ...['rgb24', 'rgba', 'gray', 'pal8', 'rgb48be', 'ya8', 'monob'].map((format): [string, string[]] => [
    `${format}.png`,
    ['-pix_fmt', format],
  ]),
  ...['yuvj420p', 'yuvj422p', 'yuvj444p', 'gray'].flatMap((format): [string, string[]][] => [
    [`${format}.jpg`, ['-pix_fmt', format]],
    [`${format}-good.jpg`, ['-pix_fmt', format, '-q:v', '1', '-huffman', 'optimal']],
  ]),
  ['lossy.webp', ['-c:v', 'libwebp', '-quality', '60']],
  ['lossless.webp', ['-c:v', 'libwebp', '-lossless', '1']],
  ['alpha.webp', ['-c:v', 'libwebp', '-pix_fmt', 'yuva420p']],
];

interface Probed {
  streams: { codec_type: string; width?: number; height?: number }[];
  format: { duration?: string };
}
const probe = (path: string): Probed =>
  JSON.parse(
    execFileSync('ffprobe', ['-v', 'quiet', '-of', 'json', '-show_format', '-show_streams', path], {
      encoding: 'utf8',
    }),
  );

const describeWithFfmpeg = hasFfmpeg() ? describe : describe.skip;
if (!hasFfmpeg()) console.warn('Skipped: the files of other writers need ffmpeg and ffprobe.');

describeWithFfmpeg('a hundred files of other writers', () => {
  const encodings = CONTAINERS.flatMap(([suffix, codecs, options]) =>
    codecs.map((codec): [string, string, string[]] => [codec, suffix, options]),
  );
  let read = 0;

  test.each(encodings)('%s%s is measured as FFmpeg measures it', async (codec, suffix, options) => {
    const path = encoded(codec, suffix, options);
    const isMov = /\.(mp4|mov|m4v|3gp)$/.test(path) && !/fragments|dash|cmaf|indexed/.test(path);
    for (const file of [path, ...(isMov ? asOldCameras(path) : [])]) {
      const bytes = readFileSync(file);
      const { streams, format } = probe(file);
      const { width, height } = streams.find(({ codec_type }) => codec_type === 'video') ?? {};

      const measured = await measure(bytes);

      expect({ file, width: measured.width, height: measured.height }).toEqual({ file, width, height });
      // FFmpeg says no duration of a live recording.
      const seconds = Number(format.duration ?? 1.5);
      expect(Math.abs(measured.durationSec - seconds)).toBeLessThan(0.11);
      expect(videoTypeOf(bytes)).toBeDefined();
      read++;
    }
  });

  test.each(IMAGES)('%s has the size that FFmpeg says, and its end', (name, options) => {
    const path = join(folder, name);
    ffmpeg('-f', 'lavfi', '-i', 'testsrc2=s=96x64', '-frames:v', '1', ...options, path);
    const bytes = readFileSync(path);
    const { width, height } = probe(path).streams[0] ?? {};
    const isWhole = (part: Buffer): boolean => {
      const end = new ImageEnd(extname(path).slice(1) as ImageExtension);
      end.take(part);
      return end.isWhole();
    };

    expect(measureImage(bytes)).toMatchObject({ width, height });
    expect(isWhole(bytes)).toBe(true);
    expect(isWhole(bytes.subarray(0, bytes.byteLength >> 1))).toBe(false);
    read++;
  });

  test('they are a hundred', () => {
    expect(read).toBeGreaterThanOrEqual(100);
  });
});
