import { beforeAll, describe, expect, test } from '@jest/globals';
import { EncodedPacketSink } from 'mediabunny';
import { anArkVideo, aStudioVideo, useSandbox } from '../sandbox-client.ts';
import {
  arkUrlOf,
  bytesOf,
  expectArkFilm,
  expectStudioFilm,
  inputOf,
  measure,
  studioUrlOf,
  type VideoSize,
} from '../videos.ts';

const sandbox = useSandbox();

/** The bytes of every frame. */
const framesOf = async (bytes: Buffer) => {
  const video = await inputOf(bytes).getPrimaryVideoTrack();
  if (!video) throw new Error('there is no video');
  const frames: Buffer[] = [];
  for await (const packet of new EncodedPacketSink(video).packets()) frames.push(Buffer.from(packet.data));
  return frames;
};

describe('the file of a video', () => {
  // Every size is encoded in video-sizes.test.ts.
  test.each<VideoSize>([['1080p', '16:9', 2, 1920, 1080]])(
    'of ModelArk at %s %s for %i s is H.264 of exactly that size and duration',
    (...size) => expectArkFilm(sandbox, size),
  );

  test.each<VideoSize>([['480P', '16:9', 2, 854, 480]])(
    'of Model Studio at %s %s for %i s is H.264 of exactly that size and duration',
    (...size) => expectStudioFilm(sandbox, size),
  );

  let smallUrl: string;
  let hugeUrl: string;
  beforeAll(async () => {
    smallUrl = await studioUrlOf(
      sandbox,
      aStudioVideo({ prompt: 'a fox [delay=0]', parameters: { resolution: '480P', duration: 4 } }),
    );
    hugeUrl = await studioUrlOf(
      sandbox,
      aStudioVideo({
        prompt: 'a huge fox [megabytes=400] [delay=0]',
        parameters: { resolution: '480P', duration: 2 },
      }),
    );
  });

  test('is served as MP4 with its length and ETag', async () => {
    const response = await fetch(smallUrl);
    const bytes = Buffer.from(await response.arrayBuffer());
    const head = await fetch(smallUrl, { method: 'HEAD' });

    expect(smallUrl).toMatch(/\/outputs\/[0-9a-f-]{36}\.mp4$/);
    for (const { headers } of [response, head]) {
      expect(headers.get('content-type')).toBe('video/mp4');
      expect(headers.get('content-length')).toBe(String(bytes.length));
      expect(headers.get('etag')).toMatch(/^".+"$/);
    }
  });

  test('has equal bytes for equal requests, and others for another prompt', async () => {
    const of = async (prompt: string) =>
      bytesOf(
        await studioUrlOf(sandbox, aStudioVideo({ prompt, parameters: { resolution: '480P', duration: 2 } })),
      );

    const [one, again, other] = [
      await of('a red fox [delay=0]'),
      await of('a red fox [delay=0]'),
      await of('a blue fox [delay=0]'),
    ];

    expect(again.equals(one)).toBe(true);
    expect(other.equals(one)).toBe(false);
  });

  test('changes from frame to frame', async () => {
    const frames = await framesOf(await bytesOf(smallUrl));

    // Only changes are encoded: a frame without any takes a few bytes.
    expect(frames.map(({ length }) => length > 150)).toEqual([true, true, true, true]);
  });

  test('[megabytes] pads the file without changing the video', async () => {
    const parameters = { resolution: '480P', duration: 3 };
    const url = await studioUrlOf(
      sandbox,
      aStudioVideo({ prompt: 'a large fox [megabytes=3] [delay=0]', parameters }),
    );

    const bytes = await bytesOf(url);

    expect(bytes.length).toBe(3_000_000);
    expect(await measure(bytes)).toMatchObject({ width: 854, height: 480, seconds: 3 });
    expect(await framesOf(bytes)).toHaveLength(3);
  });

  test('[megabytes] is streamed, not held in memory', async () => {
    await fetch(hugeUrl, { method: 'HEAD' });
    const before = process.memoryUsage.rss();
    let mostAdded = 0;
    let received = 0;

    const { body } = await fetch(hugeUrl);
    for await (const chunk of body ?? []) {
      received += chunk.length;
      mostAdded = Math.max(mostAdded, process.memoryUsage.rss() - before);
    }

    expect(received).toBe(400_000_000);
    expect(mostAdded).toBeLessThan(250_000_000);
  });

  test('can be aborted by its client', async () => {
    const client = new AbortController();

    const { body } = await fetch(hugeUrl, { signal: client.signal });
    await body?.getReader().read();
    client.abort();

    const again = await fetch(hugeUrl, { method: 'HEAD' });
    expect(again.headers.get('content-length')).toBe('400000000');
  });

  test('the server keeps responding while a video is encoded', async () => {
    const url = await arkUrlOf(
      sandbox,
      anArkVideo({ prompt: 'a fox [delay=0]', model: 'sandbox-xw3-pro', resolution: '4k', duration: 3 }),
    );
    let isEncoded = false;

    const encoding = bytesOf(url).then(() => {
      isEncoded = true;
    });
    let responses = 0;
    while (!isEncoded) {
      await sandbox.call('GET', '/api/v1/tasks/unknown');
      if (!isEncoded) responses += 1;
      // Leaves the processor to the encoder.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await encoding;

    // There would be hardly any if the server's own thread encoded.
    expect(responses).toBeGreaterThan(20);
  });
});
