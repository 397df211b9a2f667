import { describe, expect, test } from '@jest/globals';
import { measureVideo } from '../../../../core/media/measure-video.ts';
import { aBox, aVideo, withBox, withBoxBehind } from '../../builders/videos.ts';
import { CountingFile, measure, secondsOf, sizeBefore } from '../../fakes/counting-file.ts';

describe('the length of a video', () => {
  describe('whose fragments have durations', () => {
    const words = (...values: number[]) => {
      const bytes = Buffer.alloc(values.length * 4);
      for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
      return bytes;
    };
    /** A film in fragments without any, whose track has 57600 units a second; each sample lasts `trex` by default. */
    const aFilm = async (header: number[], run: number[], trex = 0) => {
      const film = await aVideo({ layout: 'fragments', seconds: 1 });
      const start = film.subarray(0, film.indexOf('moof') - 4);
      const withDefault = withBox(start, 'trex', (bytes, content) => bytes.writeUInt32BE(trex, content + 12));
      const fragment = aBox(
        'moof',
        aBox('traf', aBox('tfhd', words(...header)), aBox('trun', words(...run))),
      );
      return Buffer.concat([withDefault, fragment, aBox('mdat')]);
    };
    const second = 57_600;
    const noise = 0x12345678;

    test.each<[string, number[], number[], number]>([
      ['by the film', [0, 1], [0, 3], 9],
      ['by the fragment', [0x8, 1, 2 * second], [0, 3], 6],
      ['by the fragment, behind an offset', [0x9, 1, noise, noise, 2 * second], [0, 3], 6],
      ['by the fragment, behind an index', [0xa, 1, noise, 2 * second], [0, 3], 6],
      ['by the fragment, behind both', [0xb, 1, noise, noise, noise, 2 * second], [0, 3], 6],
      ['by the run', [0, 1], [0x100, 2, second, 4 * second], 5],
      ['by the run, behind an offset', [0, 1], [0x101, 2, noise, second, 4 * second], 5],
      ['by the run, behind flags', [0, 1], [0x104, 2, noise, second, 4 * second], 5],
      ['by the run, between sizes', [0, 1], [0x300, 2, second, noise, 4 * second, noise], 5],
      [
        'by the run, among all there is',
        [0, 1],
        [0xf05, 2, noise, noise, second, noise, noise, noise, 4 * second, noise, noise, noise],
        5,
      ],
    ])('sums them, told %s', async (_, header, run, seconds) => {
      const film = await aFilm(header, run, 3 * second);

      expect(film.readUInt32BE(film.indexOf('mdhd') + 4 + 12)).toBe(second);
      expect(await secondsOf(film)).toBe(seconds);
    });

    test('refuses a run that is shorter than it says, and a fragment of no track', async () => {
      await expect(measure(await aFilm([0, 1], [0x100, 3, second]))).rejects.toThrow('is damaged');
      await expect(measure(await aFilm([0, 7], [0, 3], second))).rejects.toThrow('is damaged');
    });
  });

  test.each([
    ['soun', 9],
    ['text', 5],
    ['tmcd', 5],
  ])('with a longer track of kind %p is %p s long', async (kind, seconds) => {
    const film = await aVideo({ layout: 'index-last' });
    const longer = await aVideo({ layout: 'index-last', seconds: 9 });
    const start = longer.indexOf('trak') - 4;
    const track = Buffer.from(longer.subarray(start, start + longer.readUInt32BE(start)));
    track.write(kind, track.indexOf('hdlr') + 4 + 8, 'latin1');
    track.writeUInt32BE(2, track.indexOf('tkhd') + 4 + 12);

    expect(await secondsOf(withBoxBehind(film, 'trak', ['moov'], track))).toBe(seconds);
  });

  describe('in a WebM', () => {
    /** A copy in which the first of these bytes are others of the same length. */
    const changed = (file: Buffer, from: string, to: Buffer) => {
      const bytes = Buffer.from(file);
      to.copy(bytes, bytes.indexOf(Buffer.from(from, 'hex')));
      return bytes;
    };
    const DURATION = '448988';

    test('takes the unit of its times', async () => {
      const file = changed(
        await aVideo({ container: 'webm' }),
        '2ad7b1830f4240',
        Buffer.from('2ad7b18307a120', 'hex'),
      );

      expect(await secondsOf(file)).toBe(2.5);
    });

    test('takes milliseconds where it names no unit', async () => {
      const file = changed(await aVideo({ container: 'webm' }), '2ad7b1830f4240', Buffer.from('ec85', 'hex'));

      expect(await secondsOf(file)).toBe(5);
    });

    test.each([
      [7_500, 7.5],
      [2_500, 5],
    ])(
      'takes a duration of 4 bytes where it is longer than its blocks last: %p ms',
      async (duration, seconds) => {
        const short = Buffer.from('44898400000000ec820000', 'hex');
        short.writeFloatBE(duration, 3);

        expect(await secondsOf(changed(await aVideo({ container: 'webm' }), DURATION, short))).toBe(seconds);
      },
    );

    test('finds no video where there is sound alone', async () => {
      const file = changed(await aVideo({ container: 'webm' }), '838101', Buffer.from('838102', 'hex'));

      await expect(measure(file)).rejects.toThrow('holds no video');
    });

    /** The file with a segment that leaves its size open, and `between` at its start. */
    const opened = (file: Buffer, between = Buffer.alloc(0)) => {
      const segment = file.indexOf(Buffer.from('18538067', 'hex'));
      const sizeBytes = Math.clz32(file[segment + 4] ?? 0) - 23;
      const header = Buffer.from('1853806701ffffffffffffff', 'hex');
      return Buffer.concat([
        file.subarray(0, segment),
        header,
        between,
        file.subarray(segment + 4 + sizeBytes),
      ]);
    };

    test('of a recording takes the duration when there is one', async () => {
      expect(await secondsOf(opened(await aVideo({ container: 'webm' })))).toBe(5);
    });

    test('gives up one of nothing but empty elements', async () => {
      const file = await aVideo({ container: 'webm' });
      const empty = (count: number) => Buffer.from('ec80'.repeat(count), 'hex');

      expect(await secondsOf(opened(file, empty(900)))).toBe(5);
      await expect(measure(opened(file, empty(1_100)))).rejects.toThrow('is cut off');
    });

    test('goes nowhere where an element other than the segment leaves its size open', async () => {
      const open = Buffer.from('ec01ffffffffffffff', 'hex');
      const file = new CountingFile(opened(await aVideo({ container: 'webm' }), open), 'unknown');

      await expect(measureVideo(file)).rejects.toThrow('is cut off');
      expect(file.reads).toBe(1);
    });
  });

  describe('with an edited track', () => {
    /** An edit list of the first track: each edit a duration in the movie's units, and where in the media it begins. */
    const edited = (file: Buffer, ...edits: [duration: number, mediaStart: number][]) => {
      const list = Buffer.alloc(8 + edits.length * 12);
      list.writeUInt32BE(edits.length, 4);
      for (const [index, [duration, mediaStart]] of edits.entries()) {
        list.writeUInt32BE(duration, 8 + index * 12);
        list.writeInt32BE(mediaStart, 12 + index * 12);
      }
      return withBoxBehind(file, 'tkhd', ['trak', 'moov'], aBox('edts', aBox('elst', list)));
    };
    const unitsOf = (file: Buffer) => file.readUInt32BE(file.indexOf('mvhd') + 4 + 12);

    test('takes the edited length', async () => {
      const file = await aVideo({ layout: 'index-last' });

      expect(await secondsOf(edited(file, [2.5 * unitsOf(file), 0]))).toBe(2.5);
    });

    test('counts the time before the picture begins', async () => {
      const file = await aVideo({ layout: 'index-last' });
      const units = unitsOf(file);

      expect(await secondsOf(edited(file, [7 * units, -1], [5 * units, 0]))).toBe(12);
    });

    test('leaves out what stands before the edit, up to the end where it names no length', async () => {
      const file = await aVideo({ layout: 'index-last' });
      const mediaUnits = file.readUInt32BE(file.indexOf('mdhd') + 4 + 12);

      expect(await secondsOf(edited(file, [0, 2 * mediaUnits]))).toBe(3);
    });

    test('shows no more than there is', async () => {
      const file = await aVideo({ layout: 'index-last' });

      expect(await secondsOf(edited(file, [100 * unitsOf(file), 0]))).toBe(5);
    });

    test('counts all fragments, which come after the edits were written', async () => {
      const file = await aVideo({ layout: 'fragments' });

      expect(await secondsOf(edited(file, [unitsOf(file), 0]))).toBe(5);
    });
  });

  test('takes the times of version 1, which have 8 bytes', async () => {
    const file = await aVideo();
    const short = file.indexOf('mvhd') - 4;
    const content = short + 8;
    const long = Buffer.alloc(12);
    file.copy(long, 8, content + 12, content + 16);
    const header = Buffer.concat([
      Buffer.from([1, 0, 0, 0]),
      Buffer.alloc(16),
      long.subarray(8),
      Buffer.alloc(8),
    ]);
    const rest = file.subarray(content + 20, short + file.readUInt32BE(short));
    const mvhd = Buffer.concat([Buffer.alloc(4), Buffer.from('mvhd'), header, rest]);
    mvhd.writeUInt32BE(mvhd.byteLength, 0);
    const moov = file.indexOf('moov') - 4;
    const grown = Buffer.concat([
      file.subarray(0, short),
      mvhd,
      file.subarray(short + file.readUInt32BE(short)),
    ]);
    grown.writeUInt32BE(file.readUInt32BE(moov) + 12, moov);

    expect(await secondsOf(grown)).toBe(5);
  });

  test('reads an index of the long size, and media up to the end of the file', async () => {
    const file = await aVideo({ layout: 'index-first' });
    const open = withBox(file, 'mdat', (bytes, content) => bytes.writeUInt32BE(0, sizeBefore(content)));
    const moov = open.indexOf('moov') - 4;
    const size = open.readUInt32BE(moov);
    const header = Buffer.alloc(16);
    header.writeUInt32BE(1, 0);
    header.write('moov', 4, 'latin1');
    header.writeBigUInt64BE(BigInt(size + 8), 8);
    const long = Buffer.concat([open.subarray(0, moov), header, open.subarray(moov + 8)]);

    expect(await secondsOf(long)).toBe(5);
  });
});
