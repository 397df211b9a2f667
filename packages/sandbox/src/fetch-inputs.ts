import { ALL_FORMATS, BufferSource, Input, type InputFormat } from 'mediabunny';
import sharp from 'sharp';
import type { InputFile, Inputs } from './input-files.ts';
import { type InputLimits, inputLimitsOf } from './input-limits.ts';
import { type OpenFileOptions, openFile } from './open-file.ts';

const TIME_LIMIT_MS = 10_000;
/** Names that lead nowhere (RFC 2606): files there are taken as they are. */
const RESERVED = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid)$/;
const VIDEO_FORMATS = new Set(['MP4', 'QuickTime File Format']);
const AUDIO_FORMATS = new Set(['MP3', 'WAVE']);

class InputError extends Error {
  override name = 'InputError';
  readonly isMissing: boolean;

  constructor(reason: string, isMissing = false) {
    super(reason);
    this.isMissing = isMissing;
  }
}

/**
 * Fetches the files of a call, as the upstreams do, and checks each by its own bytes against the limits of the model. Files at
 * reserved names, and those that an upstream would keep itself (`asset:`, `oss:`), are taken as they are.
 */
export const fetchInputs = async (
  model: unknown,
  files: readonly InputFile[],
  options: OpenFileOptions = {},
): Promise<Inputs> => {
  const limits = inputLimitsOf(model);
  const totals = { image: 0, video: 0, audio: 0 };
  for (const { kind, url, field } of files) {
    try {
      const bytes = await bytesOf(url, limits[kind]?.maxBytes ?? Number.POSITIVE_INFINITY, options);
      if (!bytes) continue;
      if (kind === 'image') await checkImage(bytes, limits.image);
      else totals[kind] += await secondsOf(bytes, kind, limits);
      const most = kind === 'image' ? undefined : limits[kind]?.maxTotalSeconds;
      if (most !== undefined && totals[kind] > most)
        throw new InputError(`${kind}s may last ${most} s in total`);
    } catch (error) {
      const { message: reason, isMissing } =
        error instanceof InputError ? error : new InputError(`it is no ${kind} that can be read`);
      return { problem: { field, reason, isMissing }, videoSeconds: totals.video };
    }
  }
  return { videoSeconds: totals.video };
};

/** The bytes of a file; undefined for one that is not fetched. */
const bytesOf = async (
  url: string,
  maxBytes: number,
  options: OpenFileOptions,
): Promise<Uint8Array | undefined> => {
  const target = URL.parse(url);
  if (target?.protocol === 'data:') return bytesIn(target, maxBytes);
  if (target && /^https?:$/.test(target.protocol) && RESERVED.test(target.hostname)) return undefined;
  if (!target || !/^https?:$/.test(target.protocol)) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const response = await openFile(target, AbortSignal.timeout(TIME_LIMIT_MS), options);
    if (response.statusCode !== 200) {
      response.destroy();
      throw new InputError(`its server answered ${response.statusCode}`, true);
    }
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > maxBytes) throw new InputError(`it is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof InputError ? error : new InputError('it could not be downloaded', true);
  }
  return Buffer.concat(chunks);
};

/** The bytes of a `data:` URL, which leads nowhere. */
const bytesIn = async (url: URL, maxBytes: number): Promise<Uint8Array> => {
  const response = await fetch(url).catch(() => undefined);
  if (!response) throw new InputError('it could not be downloaded', true);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length > maxBytes) throw new InputError(`it is larger than ${maxBytes} bytes`);
  return bytes;
};

const checkImage = async (bytes: Uint8Array, limits: InputLimits['image']): Promise<void> => {
  const { format = '', width = 0, height = 0 } = await sharp(bytes).metadata();
  if (!limits) return;
  const [shorter, longer] = width < height ? [width, height] : [height, width];
  if (!limits.formats.includes(format)) throw new InputError(`the type ${format} is not supported`);
  if (shorter < limits.minSide || longer > limits.maxSide) {
    throw new InputError(`its sides must be from ${limits.minSide} to ${limits.maxSide} px`);
  }
  if (longer > limits.maxRatio * shorter)
    throw new InputError(`its aspect ratio is beyond ${limits.maxRatio}`);
};

/** The length of a video or sound. Throws `InputError` for one that the model does not take. */
const secondsOf = async (
  bytes: Uint8Array,
  kind: 'video' | 'audio',
  limits: InputLimits,
): Promise<number> => {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const format: InputFormat = await input.getFormat();
  const known = kind === 'video' ? VIDEO_FORMATS : AUDIO_FORMATS;
  if (!known.has(format.name)) throw new InputError(`the type ${format.name} is not supported`);
  const seconds = await input.computeDuration();
  const { minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY } = limits[kind] ?? {};
  if (seconds < minSeconds || seconds > maxSeconds) {
    throw new InputError(`it must last from ${minSeconds} to ${maxSeconds} s`);
  }
  if (kind === 'video') await checkPicture(input, limits.video);
  return seconds;
};

const checkPicture = async (input: Input, limits: InputLimits['video']): Promise<void> => {
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new InputError('it holds no video');
  const [shorter = 0, longer = 0] = [track.codedWidth, track.codedHeight].sort((one, other) => one - other);
  const { minSide = 0, maxSide = Number.POSITIVE_INFINITY, minFramesPerSecond = 0 } = limits ?? {};
  if (shorter < minSide || longer > maxSide)
    throw new InputError(`its sides must be from ${minSide} to ${maxSide} px`);
  const { averagePacketRate } = await track.computePacketStats();
  // A reader of whole milliseconds is off by a little.
  if (averagePacketRate < minFramesPerSecond - 0.1)
    throw new InputError(`it has fewer than ${minFramesPerSecond} fps`);
};
