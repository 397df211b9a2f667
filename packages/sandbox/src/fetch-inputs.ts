import { ALL_FORMATS, BufferSource, Input, type InputFormat, QuickTimeInputFormat } from 'mediabunny';
import type { Fault, InputFile, Inputs } from './input-files.ts';
import { type InputLimits, inputLimitsOf } from './input-limits.ts';
import { type OpenFileOptions, openFile } from './open-file.ts';
import { readPicture } from './read-picture.ts';

const TIME_LIMIT_MS = 10_000;
/** Names that lead nowhere (RFC 2606): files there are taken as they are. */
const RESERVED = /(?:^|\.)(?:example\.(?:com|net|org)|example|test|invalid)$/;

/** The formats of videos and sounds that every model takes, by their names at mediabunny. */
const FORMATS = {
  video: new Map([
    ['MP4', 'mp4'],
    ['QuickTime File Format', 'mov'],
  ]),
  audio: new Map([
    ['WAVE', 'wav'],
    ['MP3', 'mp3'],
  ]),
};

/** QuickTime as it was before MP4: without a box that says its type, which mediabunny looks for. */
const OLD_QUICKTIME: InputFormat = Object.assign(new QuickTimeInputFormat(), {
  _canReadInput: async () => true,
});
const OLD_FIRST_BOXES = new Set(['moov', 'mdat', 'wide', 'free', 'skip', 'pnot', 'udta']);

const formatsOf = (file: Uint8Array): InputFormat[] =>
  OLD_FIRST_BOXES.has(Buffer.from(file.subarray(4, 8)).toString('latin1')) ? [OLD_QUICKTIME] : ALL_FORMATS;

class InputError extends Error {
  override name = 'InputError';
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.is);
    this.fault = fault;
  }
}

const missing = (reason: string) => new InputError({ is: 'missing', reason });

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
      if (most !== undefined && totals[kind] > most) throw new InputError({ is: 'total', most });
    } catch (error) {
      const fault: Fault = error instanceof InputError ? error.fault : { is: 'unreadable' };
      return { problem: { field, url, medium: kind, fault }, videoSeconds: totals.video };
    }
  }
  return { videoSeconds: totals.video };
};

/** The bytes of a file; undefined for one that is not fetched. */
const bytesOf = async (
  url: string,
  most: number,
  options: OpenFileOptions,
): Promise<Uint8Array | undefined> => {
  const target = URL.parse(url);
  if (target?.protocol === 'data:') return bytesIn(target, most);
  if (target && /^https?:$/.test(target.protocol) && RESERVED.test(target.hostname)) return undefined;
  if (!target || !/^https?:$/.test(target.protocol)) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const response = await openFile(target, AbortSignal.timeout(TIME_LIMIT_MS), options);
    if (response.statusCode !== 200) {
      response.destroy();
      throw missing(`its server answered ${response.statusCode}`);
    }
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      size += chunk.byteLength;
      if (size > most) throw new InputError({ is: 'bytes', most });
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof InputError ? error : missing('it could not be downloaded');
  }
  return Buffer.concat(chunks);
};

/** The bytes of a `data:` URL, which leads nowhere. */
const bytesIn = async (url: URL, most: number): Promise<Uint8Array> => {
  const response = await fetch(url).catch(() => undefined);
  if (!response) throw missing('it could not be downloaded');
  const bytes = Buffer.from(await response.arrayBuffer());
  if (bytes.length > most) throw new InputError({ is: 'bytes', most });
  return bytes;
};

const checkImage = async (bytes: Uint8Array, limits: InputLimits['image']): Promise<void> => {
  const { format, width, height, hasAlpha } = await readPicture(bytes);
  if (!limits) return;
  const { formats: allowed, maxPixels = Number.POSITIVE_INFINITY, maxRatio } = limits;
  if (!allowed.includes(format)) throw new InputError({ is: 'format', found: format, allowed });
  if (hasAlpha && limits.opaque?.includes(format)) throw new InputError({ is: 'alpha' });
  checkSides(width, height, limits);
  if (width * height > maxPixels) throw new InputError({ is: 'area', most: maxPixels });
  if (Math.max(width, height) > maxRatio * Math.min(width, height))
    throw new InputError({ is: 'ratio', most: maxRatio });
};

const checkSides = (
  width: number,
  height: number,
  { minSide: least = 0, maxSide: most = Number.POSITIVE_INFINITY }: { minSide?: number; maxSide?: number },
): void => {
  const isBelow = Math.min(width, height) < least;
  if (isBelow || Math.max(width, height) > most) throw new InputError({ is: 'sides', least, most, isBelow });
};

/** The length of a video or sound. Throws `InputError` for one that the model does not take. */
const secondsOf = async (
  bytes: Uint8Array,
  kind: 'video' | 'audio',
  limits: InputLimits,
): Promise<number> => {
  const input = new Input({ formats: formatsOf(bytes), source: new BufferSource(bytes) });
  const { name }: InputFormat = await input.getFormat();
  const allowed = [...FORMATS[kind].values()];
  if (!FORMATS[kind].has(name)) throw new InputError({ is: 'format', found: name, allowed });
  const seconds = await input.computeDuration();
  const { minSeconds: least = 0, maxSeconds: most = Number.POSITIVE_INFINITY } = limits[kind] ?? {};
  if (seconds < least || seconds > most) throw new InputError({ is: 'seconds', least, most, seconds });
  if (kind === 'video') await checkFrames(input, limits.video);
  return seconds;
};

const checkFrames = async (input: Input, limits: InputLimits['video']): Promise<void> => {
  const track = await input.getPrimaryVideoTrack();
  if (!track) throw new InputError({ is: 'unreadable' });
  checkSides(track.codedWidth, track.codedHeight, limits ?? {});
  const { minFramesPerSecond: least = 0 } = limits ?? {};
  const { averagePacketRate } = await track.computePacketStats();
  // A reader of whole milliseconds is off by a little.
  if (averagePacketRate < least - 0.1) throw new InputError({ is: 'frames', least });
};
