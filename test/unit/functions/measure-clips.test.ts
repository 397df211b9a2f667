import { afterAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { logger } from '../../../core/observability.ts';
import { handler } from '../../../functions/media/measure-clips.ts';
import { aVideo } from '../../../packages/media/test/videos.ts';
import { aLambdaContext } from '../builders/api-events.ts';
import { withEnvironment } from '../builders/environment.ts';
import { MemoryBucket } from '../fakes/memory-bucket.ts';
import { LoopbackServer } from '../servers/loopback-server.ts';

const bucket = new MemoryBucket();
const clips = await new LoopbackServer().start();
const clip = await aVideo({ seconds: 3 });
beforeEach(() => {
  clips.reset();
  bucket.reset();
});
afterAll(() => clips.close());

const CLIPS = { requestId: 'vid_1', longestSeconds: 15 };
const videos = (...urls: string[]) => urls.map((url) => ({ medium: 'video', url }));
const measure = (event: unknown, allowed = 'true', milliseconds = 10_000) =>
  withEnvironment({ ALLOW_PRIVATE_TARGETS: allowed }, () =>
    handler(event, { ...aLambdaContext(), getRemainingTimeInMillis: () => milliseconds }),
  );
const serveClip = () => {
  clips.respond = ({ path }, response) =>
    path === '/clip.mp4' ? response.writeHead(200).end(clip) : response.writeHead(404).end();
};

describe('the function `measure-clips`', () => {
  test('answers a measure for each file, in their order, and copies what it measured', async () => {
    serveClip();

    const files = videos(`${clips.url}/none.mp4`, `${clips.url}/clip.mp4`);
    expect(await measure({ ...CLIPS, files })).toMatchObject({
      measures: [{ status: 404 }, { durationMs: 3_000, extension: 'mp4' }],
    });
    expect(bucket.objects.get('clips/vid_1/1.mp4')?.bytes).toEqual(clip);
  });

  test('removes what may be left of the copies of a request, and fetches nothing', async () => {
    serveClip();
    await measure({ ...CLIPS, files: videos(`${clips.url}/clip.mp4`, `${clips.url}/clip.mp4`) });
    await measure({ ...CLIPS, requestId: 'vid_2', files: videos(`${clips.url}/clip.mp4`) });
    clips.reset();

    expect(await measure({ requestId: 'vid_1', left: 2 })).toEqual({ measures: [] });
    expect([...bucket.objects.keys()]).toEqual(['clips/vid_2/0.mp4']);
    expect(clips.requests).toEqual([]);
  });

  test('calls no private address unless it may', async () => {
    serveClip();

    expect(await measure({ ...CLIPS, files: videos(`${clips.url}/clip.mp4`) }, 'false')).toEqual({
      measures: [{ problem: 'could not be fetched: the file server did not answer' }],
    });
    expect(clips.requests).toEqual([]);
  });

  test.each([
    [undefined],
    [{}],
    [{ ...CLIPS, files: 'https://example.com/a.mp4' }],
    [{ ...CLIPS, files: [1] }],
    [{ ...CLIPS, files: [{ medium: 'text', url: 'https://example.com/a.mp4' }] }],
    [{ ...CLIPS, files: [{ medium: 'image' }] }],
    [{ requestId: 'vid_1', left: 0 }],
  ])('fails for the input %j', async (event) => {
    await expect(measure(event)).rejects.toMatchObject({ name: '$ZodError' });
  });

  test('fails 1 s before its time limit, and says so in its log', async () => {
    const logged = jest.spyOn(logger, 'error');
    clips.respond = () => undefined;

    await expect(
      measure({ ...CLIPS, files: videos(`${clips.url}/clip.mp4`) }, 'true', 1_010),
    ).rejects.toThrow('The function ran out of time.');
    expect(logged.mock.calls).toEqual([['the function ran out of time']]);
  });
});
