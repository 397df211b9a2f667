import { describe, expect, test } from '@jest/globals';
import { longestOf as clipSeconds, measure, secondsOf } from './measured.ts';
import { boxOf, openedSegment, words } from './stretched-clips.ts';
import { aBox, aVideo, withBox, withBoxBehind } from './videos.ts';

const refused = (file: Uint8Array) => expect(measure(file)).rejects;

/** A copy in which the first of these bytes, in hexadecimal, are others of the same length. */
const changed = (file: Buffer, from: string, to: string): Buffer => {
  const [wanted, given] = [Buffer.from(from, 'hex'), Buffer.from(to, 'hex')];
  const place = file.indexOf(wanted);
  if (place === -1 || wanted.length !== given.length) throw new Error(`There is no ${from} of this length.`);
  const bytes = Buffer.from(file);
  given.copy(bytes, place);
  return bytes;
};
/** A film with the track of a longer one, whose headers are changed, and room where that one's samples would be. */
const withTrackOf = (
  film: Buffer,
  longer: Buffer,
  named: Record<string, [text: string, at: number]>,
): Buffer => {
  const track = Buffer.from(boxOf(longer, 'trak'));
  for (const [type, [text, at]] of Object.entries(named))
    track.write(text, track.indexOf(type) + 4 + at, 'latin1');
  track.writeUInt32BE(2, track.indexOf('tkhd') + 4 + 12);
  return Buffer.concat([
    withBoxBehind(film, 'trak', ['moov'], track),
    aBox('free', Buffer.alloc(longer.length)),
  ]);
};

describe('a clip of 14 s is that long, though it', () => {
  test('is a WebM whose duration was patched to a millisecond', async () => {
    const file = Buffer.from(await aVideo({ container: 'webm', seconds: 14 }));
    file.writeDoubleBE(1, file.indexOf(Buffer.from('448988', 'hex')) + 3);

    expect(await clipSeconds(file)).toBe(14);
  });

  test('is a Matroska file whose last picture is in a block group that says how long it lasts', async () => {
    const file = openedSegment(await aVideo({ container: 'mkv', seconds: 5 }));
    // A cluster at 13,000 ms with a group of one block, which lasts 1,000 ms.
    const cluster = Buffer.from(
      '1f43b67501ffffffffffffff' + 'e78232c8' + 'a08b' + 'a1858100008000' + '9b8203e8',
      'hex',
    );

    expect(await clipSeconds(Buffer.concat([file, cluster]))).toBe(14);
  });

  test('is a WebM whose last block alone is late', async () => {
    const file = await aVideo({ container: 'webm', seconds: 14, framesPerSecond: 1 });
    const patched = Buffer.from(file);
    patched.writeDoubleBE(1, patched.indexOf(Buffer.from('448988', 'hex')) + 3);

    expect(await clipSeconds(patched)).toBeGreaterThanOrEqual(14);
  });

  test.each(['edits', 'edits of a gap'] as const)(
    'is an MP4 of which %s show a millisecond',
    async (kind) => {
      const file = await aVideo({ seconds: 14 });
      const units = file.readUInt32BE(file.indexOf('mvhd') + 4 + 12) / 100;
      const [gap, shown] = [words(units, 0xffffffff, 0x10000), words(units, 0, 0x10000)];
      const list = kind === 'edits' ? [words(0, 1), shown] : [words(0, 2), gap, shown];
      const edited = withBoxBehind(file, 'tkhd', ['trak', 'moov'], aBox('edts', aBox('elst', ...list)));

      // The picture that is shown then.
      expect(await secondsOf(edited)).toBe(0.1);
      expect(await clipSeconds(edited)).toBe(14);
    },
  );

  test('is an MP4 whose headers say a millisecond', async () => {
    const patched = ['mvhd', 'tkhd', 'mdhd'].reduce(
      (file, type) =>
        withBox(file, type, (bytes, content) =>
          bytes.writeUInt32BE(1, content + (type === 'tkhd' ? 20 : 16)),
        ),
      await aVideo({ seconds: 14 }),
    );

    expect(await clipSeconds(patched)).toBe(14);
  });

  test.each([0, 1])('is an MP4 whose movie header of version %p alone says so', async (version) => {
    const file = await aVideo({ seconds: 1 });
    const said = (header: Buffer) => {
      const content =
        version === 0 ? words(0, 0, 0, 1_000, 14_000) : words(2 ** 24, 0, 0, 0, 0, 1_000, 0, 14_000);
      return aBox('mvhd', content, header.subarray(28));
    };
    const start = file.indexOf('mvhd') - 4;
    const header = file.subarray(start, start + file.readUInt32BE(start));
    const other = said(header);
    const grown = withBox(file, 'moov', (bytes, content) =>
      bytes.writeUInt32BE(bytes.readUInt32BE(content - 8) + other.length - header.length, content - 8),
    );
    const rest = grown.subarray(start + header.length);

    expect(await clipSeconds(Buffer.concat([grown.subarray(0, start), other, rest, aBox('free')]))).toBe(14);
  });

  test('is an MP4 whose table of times ends early, while that of sizes goes on', async () => {
    const patched = withBox(await aVideo({ seconds: 14 }), 'stts', (bytes, content) =>
      bytes.writeUInt32BE(1, content + 8),
    );

    expect(await clipSeconds(patched)).toBe(14);
  });

  test('is an MP4 of which a gap between two fragments hides the time', async () => {
    const film = await aVideo({ layout: 'fragments', seconds: 2 });
    const second = film.indexOf('tfdt', film.indexOf('tfdt') + 1, 'latin1');
    const patched = Buffer.from(film);
    const [version, units] = [
      patched.readUInt8(second + 4),
      patched.readUInt32BE(patched.indexOf('mdhd') + 4 + 12),
    ];
    if (version === 1) patched.writeBigUInt64BE(BigInt(13 * units), second + 8);
    else patched.writeUInt32BE(13 * units, second + 8);

    expect(await clipSeconds(patched)).toBe(14);
  });

  test('is an MP4 whose picture says it is of another kind', async () => {
    const longer = await aVideo({ seconds: 14 });
    const both = withTrackOf(await aVideo({ seconds: 1 }), longer, { hdlr: ['abcd', 8] });

    expect(await clipSeconds(both)).toBe(14);
  });
});

describe('a clip is not billed for', () => {
  test.each(['text', 'tx3g', 'wvtt', 'stpp', 'sbtt', 'c708', 'tmcd', 'mebx', 'mett', 'metx'])(
    'a longer track of %p',
    async (format) => {
      const longer = await aVideo({ seconds: 14 });
      const both = withTrackOf(await aVideo(), longer, { hdlr: ['meta', 8], stsd: [format, 12] });

      expect(await clipSeconds(both)).toBe(5);
    },
  );

  test('the frames before the first shown one, which a decoder needs', async () => {
    const file = await aVideo({ seconds: 5.2 });
    const second = file.readUInt32BE(file.indexOf('mdhd') + 4 + 12);
    const units = file.readUInt32BE(file.indexOf('mvhd') + 4 + 12);
    const list = aBox('elst', words(0, 1), words(5 * units, second / 5, 0x10000));
    const edited = withBox(
      withBoxBehind(file, 'tkhd', ['trak', 'moov'], aBox('edts', list)),
      'mvhd',
      (bytes, content) => bytes.writeUInt32BE(5 * units, content + 16),
    );

    expect(await clipSeconds(edited)).toBe(5);
  });
});

describe('a clip that players take differently is refused:', () => {
  test('an MP4 with two indexes', async () => {
    const [short, long] = [await aVideo({ seconds: 1 }), await aVideo({ seconds: 14 })];
    const index = boxOf(long, 'moov');

    await refused(withBoxBehind(short, 'moov', [], index)).toThrow('is damaged');
    await refused(Buffer.concat([short, index])).toThrow('is damaged');
  });

  test.each(['stts', 'mdhd', 'tkhd'])('an MP4 with two %s of a track', async (type) => {
    const file = await aVideo();
    const box = boxOf(file, type);
    const around = {
      stts: ['stbl', 'minf', 'mdia', 'trak', 'moov'],
      mdhd: ['mdia', 'trak', 'moov'],
      tkhd: ['trak', 'moov'],
    };

    await refused(withBoxBehind(file, type, around[type as 'stts'], box)).toThrow('is damaged');
  });

  test('an MP4 with a compressed index beside the plain one', async () => {
    const file = withBoxBehind(await aVideo(), 'mvhd', ['moov'], aBox('cmov', Buffer.alloc(8)));

    await refused(file).toThrow('is damaged');
  });

  test('a WebM with a second segment behind the first', async () => {
    const [short, long] = [
      await aVideo({ container: 'webm', seconds: 1 }),
      await aVideo({ container: 'webm', seconds: 14 }),
    ];

    await refused(Buffer.concat([short, long])).toThrow('is damaged');
  });

  test('a film of more than 300 pictures a second', async () => {
    const file = withBox(await aVideo({ seconds: 14, framesPerSecond: 30 }), 'stts', (bytes, content) =>
      bytes.writeUInt32BE(1, content + 12),
    );

    await refused(file).toThrow('has too many pictures a second');
  });

  test('a WebM of more than 300 pictures a second', async () => {
    const file = Buffer.from(await aVideo({ container: 'webm', seconds: 14, framesPerSecond: 30 }));
    file.writeDoubleBE(0, file.indexOf(Buffer.from('448988', 'hex')) + 3);

    await refused(changed(file, '2ad7b1830f4240', '2ad7b183000064')).toThrow(
      'has too many pictures a second',
    );
  });
});
