import { UnreadableVideoError } from './video-bytes.ts';

/** One segment of a track's timeline: a range of its media, or a gap. */
interface Edit {
  /** In movie units; 0 means to the end of the media. */
  duration: number;
  /** In track units; negative for a gap. */
  mediaStart: number;
}

interface Track {
  id: number;
  /** `vide`, `soun` or another kind, such as text. */
  kind: string;
  unitsPerSecond: number;
  samples: number;
  /** Duration of all samples, in track units. */
  mediaUnits: number;
  /** Where the fragments begin and end in the track's time, in track units; absent where none says so. */
  fragmentsFrom?: number;
  fragmentsTo?: number;
  /** Whether what it holds is text, time codes or other data. */
  isData: boolean;
  edits: Edit[];
  width?: number;
  height?: number;
}

/**
 * The fields that determine the duration of a movie, from its `moov` box and the `moof` boxes that continue
 * it.
 */
export interface Movie {
  unitsPerSecond: number;
  /** By id. */
  tracks: Map<number, Track>;
  isFragmented: boolean;
  /** Default duration of a fragment's samples, by track id. */
  sampleDurations: Map<number, number>;
}

interface Box {
  type: string;
  content: Buffer;
}

/** The boxes in a box. Throws `UnreadableVideoError` for one larger than its container. */
const boxesIn = function* (container: Buffer): Generator<Box> {
  for (let start = 0; start + 8 <= container.byteLength; ) {
    const shortSize = container.readUInt32BE(start);
    const isLong = shortSize === 1;
    const rest = container.byteLength - start;
    const size = isLong ? Number(container.readBigUInt64BE(start + 8)) : shortSize || rest;
    const headerBytes = isLong ? 16 : 8;
    if (size < headerBytes || size > rest) throw new UnreadableVideoError('is damaged');
    const type = container.toString('latin1', start + 4, start + 8);
    yield { type, content: container.subarray(start + headerBytes, start + size) };
    start += size;
  }
};

const contentsOf = (container: Buffer, type: string): Buffer[] =>
  boxesIn(container)
    .filter((box) => box.type === type)
    .map(({ content }) => content)
    .toArray();

/** The box at a path. Throws `UnreadableVideoError` for one of several: players differ in which they take. */
const findBox = (container: Buffer, ...path: string[]): Buffer | undefined =>
  path.reduce<Buffer | undefined>((box, type) => {
    const [first, second] = box ? contentsOf(box, type) : [];
    if (second) throw new UnreadableVideoError('is damaged');
    return first;
  }, container);

const requireBox = (container: Buffer, ...path: string[]): Buffer => {
  const box = findBox(container, ...path);
  if (!box) throw new UnreadableVideoError('is damaged');
  return box;
};

/** Times take 8 bytes in version 1 of a box, 4 in version 0. */
const hasLongTimes = (box: Buffer): boolean => box.readUInt8(0) === 1;
const flagsOf = (box: Buffer): number => box.readUIntBE(1, 3);

/** Units per second, in `mvhd` or `mdhd`. */
const unitsPerSecondOf = (header: Buffer): number => {
  const units = header.readUInt32BE(hasLongTimes(header) ? 20 : 12);
  if (units === 0) throw new UnreadableVideoError('is damaged');
  return units;
};

/** Reads a `moov` box. Throws `UnreadableVideoError` for a compressed box, which few players read. */
export const readMovie = (moov: Buffer): Movie => {
  if (findBox(moov, 'cmov')) throw new UnreadableVideoError('is damaged');
  const extension = findBox(moov, 'mvex');
  const defaults = extension ? contentsOf(extension, 'trex') : [];
  return {
    unitsPerSecond: unitsPerSecondOf(requireBox(moov, 'mvhd')),
    tracks: new Map(
      contentsOf(moov, 'trak')
        .map(readTrack)
        .map((track) => [track.id, track]),
    ),
    isFragmented: extension !== undefined,
    sampleDurations: new Map(defaults.map((trex) => [trex.readUInt32BE(4), trex.readUInt32BE(12)])),
  };
};

const readTrack = (trak: Buffer): Track => {
  const header = requireBox(trak, 'tkhd');
  const sizeAt = hasLongTimes(header) ? 88 : 76;
  const edits = findBox(trak, 'edts', 'elst');
  const tables = findBox(trak, 'mdia', 'minf', 'stbl');
  const timing = tables && findBox(tables, 'stts');
  const sizes = tables && (findBox(tables, 'stsz') ?? findBox(tables, 'stz2'));
  const description = tables && findBox(tables, 'stsd');
  const samples = sizes && sizes.byteLength >= 12 ? sizes.readUInt32BE(8) : 0;
  return {
    id: header.readUInt32BE(hasLongTimes(header) ? 20 : 12),
    kind: requireBox(trak, 'mdia', 'hdlr').toString('latin1', 8, 12),
    unitsPerSecond: unitsPerSecondOf(requireBox(trak, 'mdia', 'mdhd')),
    ...(timing ? sumOfSamples(timing, samples) : { samples, mediaUnits: 0 }),
    isData: DATA_FORMATS.has(description?.toString('latin1', 12, 16) ?? ''),
    edits: edits ? readEdits(edits) : [],
    ...sizeOf(header.readUInt32BE(sizeAt), header.readUInt32BE(sizeAt + 4)),
  };
};

/** Pixels from 16.16 fixed-point numbers. */
const sizeOf = (width: number, height: number): { width?: number; height?: number } =>
  width > 0 && height > 0
    ? { width: Math.round(width / 0x1_0000), height: Math.round(height / 0x1_0000) }
    : {};

/** Sample descriptions of text, time codes and metadata, by their four characters (mp4ra.org). */
const DATA_FORMATS = new Set([
  'text',
  'tx3g',
  'wvtt',
  'stpp',
  'sbtt',
  'c608',
  'c708',
  'tmcd',
  'mebx',
  'mett',
  'metx',
]);

/**
 * `stts`: pairs of sample count and sample duration. Samples that the table of sizes has beyond them last as long as the last
 * of them, as players take it.
 */
const sumOfSamples = (timing: Buffer, sized: number): Pick<Track, 'samples' | 'mediaUnits'> => {
  let [samples, mediaUnits, last] = [0, 0, 0];
  const end = 8 + timing.readUInt32BE(4) * 8;
  for (let pair = 8; pair < end; pair += 8) {
    last = timing.readUInt32BE(pair + 4);
    samples += timing.readUInt32BE(pair);
    mediaUnits += timing.readUInt32BE(pair) * last;
  }
  const more = Math.max(0, sized - samples);
  return { samples: samples + more, mediaUnits: mediaUnits + more * last };
};

const readEdits = (list: Buffer): Edit[] => {
  const isLong = hasLongTimes(list);
  const entryBytes = isLong ? 20 : 12;
  const end = 8 + list.readUInt32BE(4) * entryBytes;
  const edits: Edit[] = [];
  for (let entry = 8; entry < end; entry += entryBytes) {
    edits.push(
      isLong
        ? {
            duration: Number(list.readBigUInt64BE(entry)),
            mediaStart: Number(list.readBigInt64BE(entry + 8)),
          }
        : { duration: list.readUInt32BE(entry), mediaStart: list.readInt32BE(entry + 4) },
    );
  }
  return edits;
};

/** Adds the samples of a `moof` box to a movie. Throws `UnreadableVideoError` for an unknown track. */
export const addFragment = (movie: Movie, moof: Buffer): void => {
  for (const fragment of contentsOf(moof, 'traf')) {
    const header = requireBox(fragment, 'tfhd');
    const trackId = header.readUInt32BE(4);
    const track = movie.tracks.get(trackId);
    if (!track) throw new UnreadableVideoError('is damaged');
    const sampleDuration = fragmentSampleDuration(header) ?? movie.sampleDurations.get(trackId) ?? 0;
    const start = fragmentStart(findBox(fragment, 'tfdt'));
    let units = 0;
    for (const run of contentsOf(fragment, 'trun')) {
      units += sumOfRun(run, sampleDuration);
      track.samples += run.readUInt32BE(4);
    }
    track.mediaUnits += units;
    if (start === undefined) continue;
    track.fragmentsFrom = Math.min(start, track.fragmentsFrom ?? start);
    track.fragmentsTo = Math.max(start + units, track.fragmentsTo ?? 0);
  }
};

/** `tfdt`: where a fragment begins in its track, in track units. */
const fragmentStart = (time: Buffer | undefined): number | undefined =>
  time && (hasLongTimes(time) ? Number(time.readBigUInt64BE(4)) : time.readUInt32BE(4));

/** `tfhd`: the duration follows the offset and the description index, both optional. */
const fragmentSampleDuration = (header: Buffer): number | undefined => {
  const flags = flagsOf(header);
  if (!(flags & 0x8)) return undefined;
  return header.readUInt32BE(8 + (flags & 0x1 ? 8 : 0) + (flags & 0x2 ? 4 : 0));
};

/** `trun`: each sample's duration, size, flags and offset, those present given by the box's flags. */
const sumOfRun = (run: Buffer, sampleDuration: number): number => {
  const flags = flagsOf(run);
  const samples = run.readUInt32BE(4);
  if (!(flags & 0x100)) return samples * sampleDuration;
  const first = 8 + (flags & 0x1 ? 4 : 0) + (flags & 0x4 ? 4 : 0);
  const sampleBytes = 4 * [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length;
  let units = 0;
  for (let sample = 0; sample < samples; sample++) units += run.readUInt32BE(first + sample * sampleBytes);
  return units;
};

/** Pixels of the first video track; undefined for a movie without one. */
export const pictureOf = ({ tracks }: Movie): { width?: number; height?: number } | undefined => {
  const picture = tracks.values().find(({ kind }) => kind === 'vide');
  return picture && { width: picture.width, height: picture.height };
};

/** Duration of a movie: that of its longest video or audio track, edits applied. */
export const secondsOf = (movie: Movie): number =>
  longest(movie, ({ kind }) => kind === 'vide' || kind === 'soun', playedSeconds);

/**
 * The longest that a player may take a movie for: one may ignore edits, or the kind that a track names. Gaps between
 * fragments count.
 */
export const mediaSecondsOf = (movie: Movie): number => longest(movie, ({ isData }) => !isData, mediaSeconds);

/** Pictures of the video tracks. */
export const framesOf = ({ tracks }: Movie): number =>
  tracks.values().reduce((frames, { kind, samples }) => frames + (kind === 'vide' ? samples : 0), 0);

const longest = (
  movie: Movie,
  isCounted: (track: Track) => boolean,
  seconds: (track: Track, movie: Movie) => number,
): number =>
  movie.tracks
    .values()
    .filter(isCounted)
    .reduce((most, track) => Math.max(most, seconds(track, movie)), 0);

const mediaSeconds = ({ mediaUnits, fragmentsFrom = 0, fragmentsTo = 0, unitsPerSecond }: Track): number =>
  Math.max(mediaUnits, fragmentsTo - fragmentsFrom) / unitsPerSecond;

const playedSeconds = (track: Track, movie: Movie): number => {
  const { edits, unitsPerSecond } = track;
  if (edits.length === 0) return mediaSeconds(track);
  const mediaUnits = mediaSeconds(track) * unitsPerSecond;
  return edits.reduce((seconds, { duration, mediaStart }) => {
    const wanted = duration / movie.unitsPerSecond;
    if (mediaStart < 0) return seconds + wanted;
    const there = Math.max(0, mediaUnits - mediaStart) / unitsPerSecond;
    // Edits are written before the fragments, so they do not cover them.
    return seconds + (duration === 0 || movie.isFragmented ? there : Math.min(wanted, there));
  }, 0);
};
