import { expect } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { anArkVideo, type aSandbox, aStudioVideo, poll } from './sandbox-client.ts';

type Sandbox = Awaited<ReturnType<typeof aSandbox>>;

/** Submits a ModelArk request and returns the URL of its video. */
export const arkUrlOf = async (sandbox: Sandbox, request: Record<string, unknown>): Promise<string> => {
  const created = await sandbox.arkVideo(request);
  expect(created.status).toBe(200);
  const { id } = (await created.json()) as { id: string };
  const query = async () =>
    (await (await sandbox.call('GET', `/api/v3/contents/generations/tasks/${id}`)).json()) as {
      status: string;
      content?: { video_url: string };
    };
  return (await poll(query, ({ status }) => status === 'succeeded')).content?.video_url ?? '';
};

/** Submits a Model Studio request and returns the URL of its video. */
export const studioUrlOf = async (sandbox: Sandbox, request: Record<string, unknown>): Promise<string> => {
  const created = (await (await sandbox.studioVideo(request)).json()) as { output: { task_id: string } };
  const query = async () =>
    (await (await sandbox.call('GET', `/api/v1/tasks/${created.output.task_id}`)).json()) as {
      output: { task_status: string; video_url?: string };
    };
  return (await poll(query, ({ output }) => output.task_status === 'SUCCEEDED')).output.video_url ?? '';
};

/** The bytes at a URL. */
export const bytesOf = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer());

/** A video file, to be read by mediabunny. */
export const inputOf = (bytes: Buffer) =>
  new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });

/** Codec, pixels and seconds of a video file. */
export const measure = async (bytes: Buffer) => {
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

/** A video to make, and the size its file must have. */
export type VideoSize = [resolution: string, ratio: string, seconds: number, width: number, height: number];

const expectFilm = async (url: string, [, , seconds, width, height]: VideoSize): Promise<void> =>
  expect(await measure(await bytesOf(url))).toEqual({
    ...{ codec: 'avc', width, height },
    ...{ seconds, videoSeconds: seconds },
  });

/** Expects ModelArk's file of a video to be H.264 of exactly its size and duration. */
export const expectArkFilm = async (sandbox: Sandbox, size: VideoSize): Promise<void> => {
  const [resolution, ratio, duration] = size;
  const request = { prompt: 'a fox [delay=0]', model: 'sandbox-xw3-pro', resolution, ratio, duration };
  await expectFilm(await arkUrlOf(sandbox, anArkVideo(request)), size);
};

/** Expects Model Studio's file of a video to be H.264 of exactly its size and duration. */
export const expectStudioFilm = async (sandbox: Sandbox, size: VideoSize): Promise<void> => {
  const [resolution, ratio, duration] = size;
  const request = { prompt: 'a fox [delay=0]', parameters: { resolution, ratio, duration } };
  await expectFilm(await studioUrlOf(sandbox, aStudioVideo(request)), size);
};
