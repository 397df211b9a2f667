import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether this machine has FFmpeg's commands. */
export const hasFfmpeg = (): boolean => {
  try {
    execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' });
    execFileSync('ffprobe', ['-version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-bf', '2', '-c:a', 'aac'];
const MPEG4 = ['-c:v', 'mpeg4', '-c:a', 'aac'];
/** What real encoders and muxers write, by file name. */
const ENCODINGS: Readonly<Record<string, readonly string[]>> = {
  'h264.mp4': H264,
  'first.mp4': [...H264, '-movflags', '+faststart'],
  'fragments.mp4': [...H264, '-g', '10', '-movflags', 'frag_keyframe+empty_moov'],
  'dash.mp4': [...MPEG4, '-g', '10', '-movflags', 'frag_keyframe+default_base_moof'],
  'mpeg4.mp4': MPEG4,
  'silent.mp4': [...H264, '-an'],
  'quicktime.mov': H264,
  'h264.mkv': H264,
  'vp8.webm': ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libvorbis'],
  'live.webm': ['-c:v', 'libvpx', '-deadline', 'realtime', '-an', '-live', '1'],
};

/** Encodes a short film in every way, in a folder. Needs FFmpeg. */
export const encodedVideos = (folder: string, seconds = 2): { name: string; bytes: Buffer }[] =>
  Object.entries(ENCODINGS).map(([name, options]) => {
    const path = join(folder, name);
    const picture = ['-f', 'lavfi', '-i', `testsrc2=s=64x48:r=25:d=${seconds}`];
    const sound = ['-f', 'lavfi', '-i', `sine=d=${seconds}`];
    execFileSync('ffmpeg', ['-v', 'error', '-y', ...picture, ...sound, ...options, path]);
    return { name, bytes: readFileSync(path) };
  });

interface Probed {
  format?: { duration?: string; start_time?: string };
  streams?: { codec_type?: string; duration?: string }[];
  frames?: {
    media_type?: string;
    pts_time?: string;
    best_effort_timestamp_time?: string;
    pkt_duration_time?: string;
  }[];
}

/**
 * The longest of FFmpeg's readings of a file, in seconds: the container, the streams, and the times of decoded
 * frames. Undefined when FFmpeg decodes no picture.
 */
export const longestOfFfmpeg = (path: string): number | undefined => {
  const { format, streams = [], frames = [] } = probe(path);
  const times = frames.map(({ best_effort_timestamp_time, pts_time, pkt_duration_time }) => {
    const at = Number(pts_time ?? best_effort_timestamp_time);
    return { at, end: at + (Number(pkt_duration_time) || 0) };
  });
  if (!frames.some(({ media_type }) => media_type === 'video')) return undefined;
  const known = times.filter(({ at }) => Number.isFinite(at));
  const from = Math.max(0, Math.min(...known.map(({ at }) => at)));
  const to = Math.max(...known.map(({ end }) => end));
  const timed = streams.filter(({ codec_type }) => codec_type === 'video' || codec_type === 'audio');
  const said = [format, ...timed].map((of) => Number(of?.duration) || 0);
  return Math.max(...said, known.length > 0 ? to - from : 0);
};

const SHOWN =
  'format=duration,start_time:stream=codec_type,duration:frame=media_type,pts_time,best_effort_timestamp_time,pkt_duration_time';
const PROBE = ['-v', 'quiet', '-of', 'json', '-show_entries', SHOWN];

/** Its output; nothing when it fails or takes more than 20 s. */
const probe = (path: string): Probed => {
  try {
    const printed = execFileSync('ffprobe', [...PROBE, path], {
      encoding: 'utf8',
      maxBuffer: 1e9,
      timeout: 20_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return JSON.parse(printed);
  } catch {
    return {};
  }
};
