import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measureVideo } from '../src/measure-video.ts';
import { measure, secondsOf } from './measured.ts';
import { aBox, aVideo, type VideoOptions, withBox } from './videos.ts';

const refused = (bytes: Uint8Array) => expect(measure(bytes)).rejects;

describe('a file that is not a video, or has no duration', () => {
  test.each<[string, Uint8Array]>([
    ['nothing', new Uint8Array()],
    ['one byte', new Uint8Array(1)],
    ['an HTML page', Buffer.from(`<!DOCTYPE html><html><body>${'ftyp moov '.repeat(100)}</body></html>`)],
    ['a PNG', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
    ['an MP3', Buffer.from(`ID3\x04${'\0'.repeat(200)}`, 'latin1')],
    ['a playlist', Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:10\nhttp://10.0.0.1/a.ts\n')],
    ['zeros', new Uint8Array(100_000)],
  ])('%s is refused', async (_, bytes) => {
    await refused(bytes).toMatchObject({
      name: 'UnreadableVideoError',
      message: 'is not a video that can be read',
    });
  });

  test.each<VideoOptions>([{ layout: 'index-first' }, { layout: 'index-last' }, { container: 'webm' }])(
    'a file that is cut off anywhere is refused: %j',
    async (options) => {
      const file = await aVideo({ ...options, seconds: 2 });
      const lengths = [...Array(6).keys()].map((part) => 13 + Math.floor((part * (file.length - 14)) / 6));

      for (const length of lengths) {
        await refused(file.subarray(0, length)).toMatchObject({ name: 'UnreadableVideoError' });
      }
    },
  );

  test('a file that is truncated in a fragment is refused; truncated between two, it is measured up to there', async () => {
    const file = await aVideo({ layout: 'fragments', seconds: 3 });
    const fragments = [...file.toString('latin1').matchAll(/moof/g)].map(({ index }) => index - 4);

    expect(fragments).toHaveLength(3);
    expect(await secondsOf(file.subarray(0, fragments[2]))).toBe(2);
    await refused(file.subarray(0, (fragments[2] ?? 0) + 20)).toThrow('is cut off');
    await refused(file.subarray(0, (fragments[2] ?? 0) - 1)).toThrow('is cut off');
  });

  test('an MP4 whose movie header leaves its duration open is refused: FFmpeg 5 takes it for 50 days', async () => {
    const file = withBox(await aVideo(), 'mvhd', (bytes, content) =>
      bytes.writeUInt32BE(0xffff_ffff, content + 16),
    );

    await refused(
      withBox(file, 'mvhd', (bytes, content) => bytes.writeUInt32BE(1_000, content + 12)),
    ).toThrow('has no duration');
  });

  test('a film of sound alone is refused', async () => {
    const file = withBox(await aVideo(), 'hdlr', (bytes, content) => bytes.write('soun', content + 8));

    await refused(file).toThrow('holds no video');
  });

  test('an MP4 without samples is refused', async () => {
    const file = withBox(await aVideo(), 'stts', (bytes, content) => bytes.writeUInt32BE(0, content + 4));

    await refused(file).toThrow('holds no video');
  });

  test('a WebM without a duration, as recorders write it, is measured by its blocks', async () => {
    const file = await aVideo({ container: 'webm' });
    const place = file.indexOf(Buffer.from([0x44, 0x89, 0x88]));
    // A void of the same length.
    const live = Buffer.concat([
      file.subarray(0, place),
      Buffer.from([0xec, 0x89]),
      file.subarray(place + 2),
    ]);

    expect(await secondsOf(live)).toBe(5);
  });

  test.each([Number.NaN, -5, 0, 0.001])(
    'a WebM that says it lasts %p seconds is as long as its blocks',
    async (seconds) => {
      const file = Buffer.from(await aVideo({ container: 'webm' }));
      file.writeDoubleBE(seconds * 1000, file.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3);

      expect(await secondsOf(file)).toBe(5);
    },
  );

  test('a WebM of a single block without a length is refused', async () => {
    const file = Buffer.from(await aVideo({ container: 'webm', seconds: 0.1 }));
    file.writeDoubleBE(0, file.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3);

    await refused(file).toThrow('has no duration');
  });

  test('bytes changed at random give a length or a refusal, and nothing else', async () => {
    const files = await Promise.all([
      aVideo({ seconds: 1 }),
      aVideo({ seconds: 2, layout: 'fragments', reordered: true }),
      aVideo({ seconds: 1, container: 'webm' }),
    ]);
    const change = fc.record({ place: fc.nat(), value: fc.nat(255) });

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...files),
        fc.array(change, { minLength: 1, maxLength: 8 }),
        async (file, changes) => {
          const bytes = Buffer.from(file);
          for (const { place, value } of changes) bytes[place % bytes.length] = value;

          const outcome = await measure(bytes).catch((error: Error) => error);

          if (outcome instanceof Error) expect(outcome.name).toBe('UnreadableVideoError');
          else expect(outcome.durationSec).toBeGreaterThan(0);
        },
      ),
      { numRuns: 10 },
    );
  });
});

/** A copy whose media box says that it is so many bytes longer; `isLong` by a size of 64 bits. */
const stretched = (file: Buffer, bytes: number, isLong = false): Buffer => {
  const place = file.indexOf('mdat', 0, 'latin1') - 4;
  const size = file.readUInt32BE(place) + bytes;
  if (!isLong) return withBox(file, 'mdat', (copy, content) => copy.writeUInt32BE(size, content - 8));
  // A media box of the long size begins 8 bytes earlier: over the free space before it.
  const header = Buffer.alloc(16);
  header.writeUInt32BE(1, 0);
  header.write('mdat', 4, 'latin1');
  header.writeBigUInt64BE(BigInt(size + 8), 8);
  return Buffer.concat([file.subarray(0, place - 8), header, file.subarray(place + 8)]);
};

describe('a media box that is longer than its file', () => {
  test.each([1, 1_000, 4_000_000_000 - 100_000])('by %p bytes is read as FFmpeg reads it', async (bytes) => {
    expect(await secondsOf(stretched(await aVideo(), bytes))).toBe(5);
  });

  test('is read with a long size, too', async () => {
    const file = await aVideo();
    const place = file.indexOf('mdat', 0, 'latin1') - 4;
    // Makes room, where an index that comes first is followed by its media.
    const roomy = Buffer.concat([file.subarray(0, place), aBox('free'), file.subarray(place)]);
    const moved = withBox(roomy, 'stco', (copy, content) => {
      for (let entry = 0; entry < copy.readUInt32BE(content + 4); entry++) {
        const at = content + 8 + 4 * entry;
        copy.writeUInt32BE(copy.readUInt32BE(at) + 8, at);
      }
    });

    expect(await secondsOf(stretched(moved, 2 ** 40, true))).toBe(5);
  });

  test('and whose pictures are not all there is cut off', async () => {
    const file = stretched(await aVideo(), 1_000);
    for (const missing of [1, 100, 150, 1_000, 4_000])
      await refused(file.subarray(0, file.length - missing)).toThrow('is cut off');
  });

  test('and that no index precedes, or that holds a fragment, is cut off', async () => {
    await refused(stretched(await aVideo({ layout: 'index-last' }), 1_000_000)).toThrow('is cut off');
    const fragments = await aVideo({ layout: 'fragments', seconds: 1 });
    await refused(stretched(fragments, 1_000_000)).toThrow('is cut off');
  });
});

/** The offset of a box's size, given the offset of its content. */
const sizeBefore = (content: number): number => content - 8;

describe('a whole file', () => {
  test('may have an index of the long size, and media up to its end', async () => {
    const file = await aVideo({ layout: 'index-first' });
    const open = withBox(file, 'mdat', (bytes, content) => bytes.writeUInt32BE(0, sizeBefore(content)));
    const moov = open.indexOf('moov') - 4;
    const header = Buffer.alloc(16);
    header.writeUInt32BE(1, 0);
    header.write('moov', 4, 'latin1');
    header.writeBigUInt64BE(BigInt(open.readUInt32BE(moov) + 8), 8);
    const long = Buffer.concat([open.subarray(0, moov), header, open.subarray(moov + 8), Buffer.alloc(8)]);

    expect(await secondsOf(long)).toBe(5);
  });

  test.each(['00', 'ffffff', '00000008', '0000000766726565', '0000000166726565', '0000000966726565'])(
    'has no such bytes at its end: %s',
    async (rest) => {
      await refused(Buffer.concat([await aVideo(), Buffer.from(rest, 'hex')])).toMatchObject({
        name: 'UnreadableVideoError',
      });
    },
  );

  test('of Matroska has nothing behind its segment', async () => {
    const file = await aVideo({ container: 'mkv' });

    await refused(Buffer.concat([file, Buffer.from('ec80', 'hex')])).toThrow('is damaged');
  });
});

describe('a hostile file', () => {
  test.each([4_000_000, 89_000_000])(
    'that claims %p pictures in 8 bytes is refused, for FFmpeg would take too much memory for them',
    async (pictures) => {
      const file = withBox(await aVideo(), 'stsz', (bytes, content) => {
        bytes.writeUInt32BE(1, content + 4);
        bytes.writeUInt32BE(pictures, content + 8);
      });
      const timed = withBox(file, 'stts', (bytes, content) => bytes.writeUInt32BE(pictures, content + 8));

      await refused(timed).toThrow('takes too much memory to read');
    },
  );

  test('of two million pictures of a byte is given up when its time is over, while it is read', async () => {
    const pictures = 2_000_000;
    const file = withBox(await aVideo({ layout: 'index-last' }), 'stsz', (bytes, content) => {
      bytes.writeUInt32BE(1, content + 4);
      bytes.writeUInt32BE(pictures, content + 8);
    });
    const timed = withBox(file, 'stts', (bytes, content) => bytes.writeUInt32BE(pictures, content + 8));
    const inOneChunk = withBox(timed, 'stsc', (bytes, content) =>
      bytes.writeUInt32BE(pictures, content + 12),
    );

    const room = aBox('free', Buffer.alloc(pictures));
    await expect(
      measure(Buffer.concat([inOneChunk, room]), AbortSignal.timeout(1_000)),
    ).rejects.toMatchObject({ message: 'could not be measured in time' });
  });

  test('is given up when its time is over', async () => {
    const file = await aVideo();
    const stop = new AbortController();
    const measuring = measure(file, stop.signal);
    setImmediate(() => stop.abort());

    await expect(measuring).rejects.toMatchObject({
      name: 'UnreadableVideoError',
      message: 'could not be measured in time',
    });
    await expect(measure(file, AbortSignal.abort())).rejects.toThrow('could not be measured in time');
  });
});

test('a failure of the disk is no problem of the file', async () => {
  const work = { fd: -1, sizeBytes: 1_000, demuxer: 'mov' } as const;

  await expect(measureVideo(work, new AbortController().signal)).rejects.toMatchObject({
    name: expect.not.stringMatching('UnreadableVideoError'),
    message: expect.stringMatching(/fd/),
  });
});
