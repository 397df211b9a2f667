import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { measureVideo } from '../../../../core/media/measure-video.ts';
import { aBox, aVideo, type VideoOptions, withBox, withBoxBehind } from '../../builders/videos.ts';
import { CountingFile, measure, secondsOf, sizeBefore } from '../../fakes/counting-file.ts';

describe('a file that is not a video, or has no duration', () => {
  const refused = (bytes: Uint8Array) => expect(measure(bytes)).rejects;

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
      message: 'is not an MP4, QuickTime or WebM video',
    });
  });

  test.each<VideoOptions>([{ layout: 'index-first' }, { layout: 'index-last' }, { container: 'webm' }])(
    'a file that is cut off anywhere is refused: %j',
    async (options) => {
      const file = await aVideo({ ...options, seconds: 2 });
      const lengths = [...Array(200).keys()].map(
        (part) => 13 + Math.floor((part * (file.length - 14)) / 200),
      );

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

  test('a movie with a box that is shorter than its header is refused', async () => {
    const file = withBoxBehind(await aVideo(), 'trak', ['moov'], Buffer.from('0000000466726565', 'hex'));

    await expect(measure(file)).rejects.toThrow('is damaged');
  });

  test('a film of sound alone is refused', async () => {
    const file = withBox(await aVideo(), 'hdlr', (bytes, content) => bytes.write('soun', content + 8));

    await refused(file).toThrow('holds no video');
  });

  test('an MP4 without samples is refused', async () => {
    const file = withBox(await aVideo(), 'stts', (bytes, content) => bytes.writeUInt32BE(0, content + 4));

    await refused(file).toThrow('has no duration');
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

  test.each([Number.NaN, -5, 0, 0.001, Number.POSITIVE_INFINITY])(
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
      { numRuns: 3_000 },
    );
  });
});

describe('a hostile file', () => {
  test('that claims four billion samples in 8 bytes is summed, not spread out', async () => {
    const file = withBox(await aVideo({ reordered: true }), 'stts', (bytes, content) =>
      bytes.writeUInt32BE(0xffff_ffff, content + 8),
    );

    expect(await secondsOf(file)).toBeGreaterThan(0);
  });

  test('that claims four billion samples in a fragment is summed, not spread out', async () => {
    const file = withBox(await aVideo({ layout: 'fragments' }), 'trun', (bytes, content) => {
      bytes.writeUInt32BE(bytes.readUInt32BE(content) & ~0x100, content);
      bytes.writeUInt32BE(0xffff_ffff, content + 4);
    });

    expect(await secondsOf(file)).toBeGreaterThanOrEqual(0);
  });

  test.each(['moov', 'moof'])('whose %s claims four gigabytes is not read that far', async (type) => {
    const video = await aVideo({ layout: type === 'moof' ? 'fragments' : 'index-first' });
    const file = new CountingFile(
      withBox(video, type, (bytes, content) => bytes.writeUInt32BE(0xffff_fff0, sizeBefore(content))),
      8 * 1024 ** 3,
    );

    await expect(measureVideo(file)).rejects.toThrow('has too large an index');
    expect(file.bytesRead).toBe(video.byteLength);
  });

  test('of nothing but empty boxes is given up', async () => {
    const empty = Buffer.from('00000008', 'hex');
    const box = Buffer.concat([empty, Buffer.from('free')]);
    const start = Buffer.from('000000106674797069736f6d00000000', 'hex');
    const file = new CountingFile(Buffer.concat([start, ...Array<Buffer>(500_000).fill(box)]));

    await expect(measureVideo(file)).rejects.toThrow('is cut off');
    expect(file.reads).toBe(1);
  });

  test.each([2, 4, 7])('whose box claims %p bytes, less than its header has, is damaged', async (size) => {
    const video = await aVideo();
    const box = withBox(aBox('free'), 'free', (bytes) => bytes.writeUInt32BE(size));

    await expect(measure(Buffer.concat([video.subarray(0, 28), box, video.subarray(28)]))).rejects.toThrow(
      'is damaged',
    );
  });

  test('whose table is larger than what it lies in is damaged', async () => {
    const file = withBox(await aVideo(), 'stts', (bytes, content) =>
      bytes.writeUInt32BE(bytes.readUInt32BE(sizeBefore(content)) + 1_000, sizeBefore(content)),
    );

    await expect(measure(file)).rejects.toThrow('is damaged');
  });

  test.each(['ffffffffffffffff', '7fffffffffffffff', '0020000000000000'])(
    'whose box is %p bytes long leads to no read behind the file',
    async (size) => {
      const start = Buffer.from(`000000106674797069736f6d00000000000000016d646174${size}`, 'hex');
      const bytes = Buffer.concat([start, Buffer.alloc(300_000)]);
      for (const toldSize of [bytes.byteLength, 'unknown'] as const) {
        const file = new CountingFile(bytes, toldSize);

        await expect(measureVideo(file)).rejects.toMatchObject({ name: 'UnreadableVideoError' });
        expect(file.reads).toBe(1);
      }
    },
  );
});
