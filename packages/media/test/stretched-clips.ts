import { aBox, aVideo, withBox, withBoxBehind } from './videos.ts';

/** Numbers of 4 bytes. */
export const words = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
};

/** The first box of this type, header and all. */
export const boxOf = (file: Buffer, type: string): Buffer => {
  const start = file.indexOf(type, 0, 'latin1') - 4;
  return file.subarray(start, start + file.readUInt32BE(start));
};

const contentOf = (box: Buffer): Buffer => box.subarray(8);
const unitsOf = (file: Buffer): number => file.readUInt32BE(file.indexOf('mdhd') + 4 + 12);

/** A film in fragments, of which only the start is kept, with one fragment of `count` samples of a byte each. */
const inOneFragment = (
  film: Buffer,
  count: number,
  header: Buffer,
  run: (data: number) => Buffer,
): Buffer => {
  const start = film.subarray(0, film.indexOf('moof') - 4);
  const moof = (data: number) => aBox('moof', aBox('traf', aBox('tfhd', header), run(data)));
  return Buffer.concat([start, moof(moof(0).length + 8), aBox('mdat', Buffer.alloc(count, 1))]);
};

const SAMPLES = 10;
/** A track run box. Each sample has a duration, a size of one byte, and optionally a delay from decoding to display. */
const runOf = (durations: readonly number[], delays?: readonly number[]) => (data: number) =>
  aBox(
    'trun',
    words(delays ? 0xb01 : 0x301, durations.length, data),
    ...durations.map((duration, index) => words(duration, 1, ...(delays ? [delays[index] as number] : []))),
  );
/** The data begins at the fragment; durations are the film's. */
const RELATIVE = words(0x20000, 1);

/** The header of a Matroska segment of unknown size instead of its own. */
export const openedSegment = (file: Buffer): Buffer => {
  const size = file.indexOf(Buffer.from('18538067', 'hex')) + 4;
  const sizeBytes = Math.clz32(file[size] ?? 0) - 23;
  return Buffer.concat([
    file.subarray(0, size),
    Buffer.from('01ffffffffffffff', 'hex'),
    file.subarray(size + sizeBytes),
  ]);
};

/** A film of 14 s and one of 1 s, whose indexes come last, and the long one's own parts. */
const longAndShort = async () => {
  const [long, short] = [
    await aVideo({ layout: 'index-last', seconds: 14 }),
    await aVideo({ layout: 'index-last', seconds: 1 }),
  ];
  const index = long.indexOf('moov') - 4;
  return { media: long.subarray(0, index), long: boxOf(long, 'moov'), short: boxOf(short, 'moov') };
};

/** Clips that were measured as 1 s while FFmpeg plays 13 s or more. */
export const STRETCHED_CLIPS: Readonly<Record<string, () => Promise<Buffer>>> = {
  'the same track id twice, the second with more units a second': async () => {
    const film = await aVideo({ layout: 'fragments', seconds: 14 });
    const second = withBox(Buffer.from(boxOf(film, 'trak')), 'mdhd', (bytes, content) =>
      bytes.writeUInt32BE(unitsOf(film) * 14, content + 12),
    );
    return withBoxBehind(film, 'trak', ['moov'], second);
  },
  'two defaults of its fragments, the second shorter': async () => {
    const film = await aVideo({ layout: 'fragments', seconds: 1 });
    const defaultOf = (units: number) =>
      withBox(Buffer.from(boxOf(film, 'trex')), 'trex', (bytes, content) =>
        bytes.writeUInt32BE(units, content + 12),
      );
    const first = withBox(film, 'trex', (bytes, content) =>
      bytes.writeUInt32BE(1.4 * unitsOf(film), content + 12),
    );
    const both = withBoxBehind(first, 'trex', ['mvex', 'moov'], defaultOf(unitsOf(film) / 10));
    const run = (data: number) =>
      aBox('trun', words(0x201, SAMPLES, data), ...Array.from({ length: SAMPLES }, () => words(1)));
    return inOneFragment(both, SAMPLES, RELATIVE, run);
  },
  'a table of delays that stretches time': async () => {
    const film = await aVideo({ layout: 'index-last', seconds: 1 });
    const delays = Array.from({ length: SAMPLES }, (_, index) => words(1, 1.4 * index * unitsOf(film)));
    return withBoxBehind(
      film,
      'stts',
      ['stbl', 'minf', 'mdia', 'trak', 'moov'],
      aBox('ctts', words(0, SAMPLES), ...delays),
    );
  },
  'a fragment with delays that stretch time': async () => {
    const film = await aVideo({ layout: 'fragments', seconds: 1 });
    const second = unitsOf(film);
    const durations = Array<number>(SAMPLES).fill(second / 10);
    const delays = durations.map((_, index) => 1.4 * index * second);
    return inOneFragment(film, SAMPLES, RELATIVE, runOf(durations, delays));
  },
  'an index in user data before its own': async () => {
    const { media, long, short } = await longAndShort();
    return Buffer.concat([media, aBox('udta', long), short]);
  },
  'an index in its index': async () => {
    const { media, long, short } = await longAndShort();
    return Buffer.concat([media, aBox('moov', long, contentOf(short))]);
  },
  'a misspelt index before its own': async () => {
    const { media, long, short } = await longAndShort();
    return Buffer.concat([media, aBox('hoov', contentOf(long)), short]);
  },
  'fragments behind 10,000 empty boxes': async () => {
    const film = await aVideo({ layout: 'fragments', seconds: 14 });
    const second = film.indexOf('moof', film.indexOf('moof') + 1) - 4;
    const boxes = Buffer.concat(Array<Buffer>(10_000).fill(aBox('free')));
    return Buffer.concat([film.subarray(0, second), boxes, film.subarray(second)]);
  },
  'a cluster behind garbage, in a WebM of unknown size': async () => {
    const file = openedSegment(await aVideo({ container: 'webm', seconds: 1 }));
    // At 13,000 ms, with a block of the first track of a few bytes.
    const cluster = Buffer.from('1f43b67501ffffffffffffff' + 'e78232c8' + 'a38881000080' + '00000000', 'hex');
    return Buffer.concat([file, Buffer.alloc(5), cluster]);
  },
};
