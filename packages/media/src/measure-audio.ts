/** The facts of a sound that is an input. */
export interface AudioMeasurement {
  contentType: 'audio/mpeg' | 'audio/wav';
  durationSec: number;
}

/** Not an MP3 or WAV sound, or its duration cannot be determined. The message completes "the file …". */
export class UnreadableAudioError extends Error {
  override name = 'UnreadableAudioError';
}

/** Measures a sound by its bytes. Throws `UnreadableAudioError`. */
export const measureAudio = (bytes: Uint8Array): AudioMeasurement => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isWav = ['RIFF', 'RF64'].includes(textAt(file, 0)) && textAt(file, 8) === 'WAVE';
  const seconds = isWav ? secondsOfWav(file) : secondsOfMp3(file);
  if (seconds === undefined) throw new UnreadableAudioError('is not an MP3 or WAV sound');
  if (!(seconds > 0)) throw new UnreadableAudioError('has no duration');
  return { contentType: isWav ? 'audio/wav' : 'audio/mpeg', durationSec: Math.round(seconds * 1000) / 1000 };
};

const textAt = (file: Buffer, at: number): string => file.toString('latin1', at, at + 4);

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** The size of a chunk whose writer did not know it, as of a recording that was streamed. */
const UNKNOWN_SIZES = new Set([0, 0xffffffff]);

/** Formats whose byte rate is exact: integers, floats, and the format that a longer header names. Writers guess that of others. */
const PLAIN_FORMATS = new Set([1, 3, 0xfffe]);

/** Seconds by the bytes of sound and their rate, of compressed sound by its samples; 0 without these. Throws `UnreadableAudioError` for a file that is cut off. */
const secondsOfWav = (file: Buffer): number => {
  let byteRate = 0;
  let sampleRate = Number.POSITIVE_INFINITY;
  let samples = 0;
  for (let at = RIFF_HEADER_BYTES; at + CHUNK_HEADER_BYTES <= file.length; ) {
    const [id, size] = [textAt(file, at), file.readUInt32LE(at + 4)];
    const content = at + CHUNK_HEADER_BYTES;
    const rest = file.length - content;
    if (id === 'fmt ' && rest >= 16) {
      byteRate = file.readUInt32LE(content + 8);
      if (!PLAIN_FORMATS.has(file.readUInt16LE(content)))
        sampleRate = file.readUInt32LE(content + 4) || Number.POSITIVE_INFINITY;
    }
    if (id === 'fact' && rest >= 4) samples = file.readUInt32LE(content);
    if (id === 'data') {
      const isUnknown = UNKNOWN_SIZES.has(size);
      if (!isUnknown && size > rest) throw new UnreadableAudioError('is cut off');
      if (samples / sampleRate > 0) return samples / sampleRate;
      return byteRate === 0 ? 0 : (isUnknown ? rest : size) / byteRate;
    }
    at = content + size + (size % 2);
  }
  return 0;
};

/** A frame of MPEG audio (ISO/IEC 11172-3, 2.4.2.3): its length and sound. */
interface Frame {
  bytes: number;
  samples: number;
  rate: number;
  /** Version, layer and rate: the same in all frames of a file. */
  kind: number;
}

/** Kilobits a second by the index in a header: of MPEG 1 layer II and III, and of MPEG 2 layer II and III. */
const BITRATES = {
  layer2: [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  layer3: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;
const RATES = [44_100, 48_000, 32_000];
const [MPEG_1, MPEG_2, MPEG_2_5] = [3, 2, 0];
const [LAYER_3, LAYER_2] = [1, 2];

const frameAt = (file: Buffer, at: number): Frame | undefined => {
  if (at + 4 > file.length) return undefined;
  const header = file.readUInt32BE(at);
  if (header >>> 21 !== 0x7ff) return undefined;
  const [version, layer] = [(header >>> 19) & 3, (header >>> 17) & 3];
  const rate = RATES[(header >>> 10) & 3];
  const isKnown = version === MPEG_1 || version === MPEG_2 || version === MPEG_2_5;
  if (!isKnown || rate === undefined || (layer !== LAYER_3 && layer !== LAYER_2)) return undefined;
  const isFirst = version === MPEG_1;
  const table = isFirst ? BITRATES[layer === LAYER_2 ? 'layer2' : 'layer3'] : BITRATES.mpeg2;
  const bitrate = (table[(header >>> 12) & 15] ?? 0) * 1000;
  if (bitrate === 0) return undefined;
  const sampleRate = rate / (isFirst ? 1 : version === MPEG_2 ? 2 : 4);
  const samples = layer === LAYER_2 || isFirst ? 1152 : 576;
  const bytes = Math.floor((samples * bitrate) / 8 / sampleRate) + ((header >>> 9) & 1);
  return { bytes, samples, rate: sampleRate, kind: header & 0xfffe_0c00 };
};

/** Frames in a row by which a file is recognized: chance makes two. */
const FRAMES_TO_RECOGNIZE = 3;
/** Bytes searched for the first of them, after the tag. */
const MAX_SEARCH_BYTES = 64 * 1024;

/** Seconds by the frames of an MP3, without the first where that only describes the others; undefined for another file. */
const secondsOfMp3 = (file: Buffer): number | undefined => {
  const begin = afterTag(file);
  const most = Math.min(file.length, begin + MAX_SEARCH_BYTES);
  let at = begin;
  while (at < most && !beginsFrames(file, at)) at++;
  const first = at < most ? frameAt(file, at) : undefined;
  if (!first) return undefined;
  let samples = isDescription(file, at, first) ? -first.samples : 0;
  while (at < file.length) {
    const frame = frameAt(file, at);
    if (frame?.kind === first.kind) {
      samples += frame.samples;
      at += frame.bytes;
    } else {
      const next = file.indexOf(0xff, at + 1);
      if (next === -1) break;
      at = next;
    }
  }
  return samples / first.rate;
};

const ID3_HEADER_BYTES = 10;

/** Where an ID3v2 tag ends: its size has 7 bits a byte. */
const afterTag = (file: Buffer): number => {
  if (file.toString('latin1', 0, 3) !== 'ID3' || file.length < ID3_HEADER_BYTES) return 0;
  const size = [6, 7, 8, 9].reduce((sum, at) => sum * 128 + (file.readUInt8(at) & 127), 0);
  return ID3_HEADER_BYTES + size;
};

const beginsFrames = (file: Buffer, start: number): boolean => {
  const kind = frameAt(file, start)?.kind;
  let at = start;
  for (let count = 0; count < FRAMES_TO_RECOGNIZE; count++) {
    const frame = frameAt(file, at);
    if (!frame || frame.kind !== kind) return false;
    at += frame.bytes;
  }
  return true;
};

/** Whether a first frame holds no sound: an encoder describes the file in it, as `Xing`, `Info` or `VBRI`. */
const isDescription = (file: Buffer, at: number, { bytes }: Frame): boolean => {
  const frame = file.toString('latin1', at, at + Math.min(bytes, 64));
  return /Xing|Info|VBRI/.test(frame);
};
