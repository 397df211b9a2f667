import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { RATIOS, type Resolution, videoSizeOf } from '../src/media/video-size.ts';
import { anArkVideo, aSandbox, aStudioVideo, poll } from './sandbox-client.ts';

let sandbox: Awaited<ReturnType<typeof aSandbox>>;
beforeAll(async () => {
  sandbox = await aSandbox();
});
afterAll(() => sandbox.close());

/** The URL of the video of a ModelArk request. */
const arkUrlOf = async (request: Record<string, unknown>): Promise<string> => {
  const created = await sandbox.arkVideo(request);
  expect(created.status).toBe(200);
  const { id } = (await created.json()) as { id: string };
  const ask = async () =>
    (await (await sandbox.call('GET', `/api/v3/contents/generations/tasks/${id}`)).json()) as {
      status: string;
      content?: { video_url: string };
    };
  return (await poll(ask, ({ status }) => status === 'succeeded')).content?.video_url ?? '';
};

/** The URL of the video of a Model Studio request. */
const studioUrlOf = async (request: Record<string, unknown>): Promise<string> => {
  const created = (await (await sandbox.studioVideo(request)).json()) as { output: { task_id: string } };
  const ask = async () =>
    (await (await sandbox.call('GET', `/api/v1/tasks/${created.output.task_id}`)).json()) as {
      output: { task_status: string; video_url?: string };
    };
  return (await poll(ask, ({ output }) => output.task_status === 'SUCCEEDED')).output.video_url ?? '';
};

const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

const inputOf = (bytes: Buffer) => new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });

const measure = async (bytes: Buffer) => {
  const input = inputOf(bytes);
  const video = await input.getPrimaryVideoTrack();
  return {
    codec: video?.codec,
    width: video?.displayWidth,
    height: video?.displayHeight,
    seconds: await input.computeDuration(),
    videoSeconds: await video?.computeDuration(),
  };
};

/** The bytes of every frame. */
const framesOf = async (bytes: Buffer) => {
  const video = await inputOf(bytes).getPrimaryVideoTrack();
  if (!video) throw new Error('there is no video');
  const frames: Buffer[] = [];
  for await (const packet of new EncodedPacketSink(video).packets()) frames.push(Buffer.from(packet.data));
  return frames;
};

describe('the size of a video', () => {
  const sizeOf = (resolution: Resolution, ratio: (typeof RATIOS)[number]) => {
    const { width, height } = videoSizeOf(resolution, ratio);
    return `${width}x${height}`;
  };

  test.each([
    ['480p', '854x480', '640x480', '480x480', '480x640', '480x854', '1120x480'],
    ['720p', '1280x720', '960x720', '720x720', '720x960', '720x1280', '1680x720'],
    ['1080p', '1920x1080', '1440x1080', '1080x1080', '1080x1440', '1080x1920', '2520x1080'],
    ['2k', '2560x1440', '1920x1440', '1440x1440', '1440x1920', '1440x2560', '3360x1440'],
    ['4k', '3840x2160', '2880x2160', '2160x2160', '2160x2880', '2160x3840', '5040x2160'],
  ] as const)('of %s follows its ratio: %s %s %s %s %s %s', (resolution, ...sizes) => {
    expect(RATIOS.map((ratio) => sizeOf(resolution, ratio))).toEqual(sizes);
  });
});

describe('the file of a video', () => {
  test.each([
    ['1080p', '16:9', 2, 1920, 1080],
    ['1080p', 'adaptive', 30, 1920, 1080],
    ['1080p', '9:16', 3, 1080, 1920],
    ['1080p', '4:3', 2, 1440, 1080],
    ['1080p', '3:4', 2, 1080, 1440],
    ['1080p', '1:1', 7, 1080, 1080],
    ['1080p', '21:9', 2, 2520, 1080],
    ['2k', '16:9', 5, 2560, 1440],
    ['2k', '9:16', 2, 1440, 2560],
    ['4k', '16:9', 3, 3840, 2160],
    ['4k', '21:9', 2, 5040, 2160],
  ])(
    'of ModelArk at %s %s for %i s is H.264 of exactly that',
    async (resolution, ratio, duration, width, height) => {
      const url = await arkUrlOf(
        anArkVideo({ prompt: 'a fox [delay=0]', model: 'sandbox-xw3-pro', resolution, ratio, duration }),
      );

      expect(await measure(await bytesOf(url))).toEqual({
        codec: 'avc',
        width,
        height,
        seconds: duration,
        videoSeconds: duration,
      });
    },
  );

  test.each([
    ['480P', '16:9', 2, 854, 480],
    ['480P', '21:9', 4, 1120, 480],
    ['480P', '3:4', 30, 480, 640],
    ['720P', 'adaptive', 5, 1280, 720],
    ['1080P', '1:1', 3, 1080, 1080],
  ])(
    'of Model Studio at %s %s for %i s is H.264 of exactly that',
    async (resolution, ratio, duration, width, height) => {
      const url = await studioUrlOf(
        aStudioVideo({ prompt: 'a fox [delay=0]', parameters: { resolution, ratio, duration } }),
      );

      expect(await measure(await bytesOf(url))).toEqual({
        codec: 'avc',
        width,
        height,
        seconds: duration,
        videoSeconds: duration,
      });
    },
  );

  test('is served as MP4 with its length and ETag', async () => {
    const url = await studioUrlOf(
      aStudioVideo({ prompt: 'a fox [delay=0]', parameters: { resolution: '480P', duration: 2 } }),
    );

    const response = await fetch(url);
    const bytes = Buffer.from(await response.arrayBuffer());
    const head = await fetch(url, { method: 'HEAD' });

    expect(url).toMatch(/\/outputs\/[0-9a-f-]{36}\.mp4$/);
    for (const { headers } of [response, head]) {
      expect(headers.get('content-type')).toBe('video/mp4');
      expect(headers.get('content-length')).toBe(String(bytes.length));
      expect(headers.get('etag')).toMatch(/^".+"$/);
    }
  });

  test('is the same for the same request and another for another prompt', async () => {
    const of = async (prompt: string) =>
      bytesOf(await studioUrlOf(aStudioVideo({ prompt, parameters: { resolution: '480P', duration: 2 } })));

    const [one, again, other] = [await of('a red fox'), await of('a red fox'), await of('a blue fox')];

    expect(again.equals(one)).toBe(true);
    expect(other.equals(one)).toBe(false);
  });

  test('moves from frame to frame', async () => {
    const url = await studioUrlOf(
      aStudioVideo({ prompt: 'a fox [delay=0]', parameters: { resolution: '480P', duration: 4 } }),
    );

    const frames = await framesOf(await bytesOf(url));

    // A frame in which nothing moved takes a few bytes, as only what changed is encoded.
    expect(frames.map(({ length }) => length > 150)).toEqual([true, true, true, true]);
  });

  test('[megabytes] fills the file up without changing the video', async () => {
    const parameters = { resolution: '480P', duration: 3 };
    const url = await studioUrlOf(aStudioVideo({ prompt: 'a large fox [megabytes=3]', parameters }));

    const bytes = await bytesOf(url);

    expect(bytes.length).toBe(3_000_000);
    expect(await measure(bytes)).toMatchObject({ width: 854, height: 480, seconds: 3 });
    expect(await framesOf(bytes)).toHaveLength(3);
  });

  test('[megabytes] is sent without being held in memory', async () => {
    const url = await studioUrlOf(
      aStudioVideo({
        prompt: 'a huge fox [megabytes=400] [delay=0]',
        parameters: { resolution: '480P', duration: 2 },
      }),
    );
    await fetch(url, { method: 'HEAD' });
    const before = process.memoryUsage().rss;
    let mostAdded = 0;
    let received = 0;

    const { body } = await fetch(url);
    for await (const chunk of body ?? []) {
      received += chunk.length;
      mostAdded = Math.max(mostAdded, process.memoryUsage().rss - before);
    }

    expect(received).toBe(400_000_000);
    expect(mostAdded).toBeLessThan(250_000_000);
  });

  test('may be left by its client before the end', async () => {
    const prompt = 'a huge fox [megabytes=400] [delay=0]';
    const url = await studioUrlOf(aStudioVideo({ prompt, parameters: { resolution: '480P', duration: 2 } }));
    const impatient = new AbortController();

    const { body } = await fetch(url, { signal: impatient.signal });
    await body?.getReader().read();
    impatient.abort();

    const again = await fetch(url, { method: 'HEAD' });
    expect(again.headers.get('content-length')).toBe('400000000');
  });

  test('the server goes on answering while a video is made', async () => {
    const url = await arkUrlOf(
      anArkVideo({ prompt: 'a fox [delay=0]', model: 'sandbox-xw3-pro', resolution: '4k', duration: 10 }),
    );
    let isMade = false;

    const making = bytesOf(url).then(() => {
      isMade = true;
    });
    let answers = 0;
    while (!isMade) {
      await sandbox.call('GET', '/api/v1/tasks/unknown');
      if (!isMade) answers += 1;
    }
    await making;

    // On the server's own thread there would be hardly any.
    expect(answers).toBeGreaterThan(20);
  });
});
