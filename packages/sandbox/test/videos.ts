import { expect } from '@jest/globals';
import {
  ALL_FORMATS,
  BufferSource,
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  Input,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
} from 'mediabunny';
import { anArkVideo, type aSandbox, aStudioVideo, poll, taskIdOf } from './sandbox-client.ts';

type Sandbox = Awaited<ReturnType<typeof aSandbox>>;

/** Submits a ModelArk request and returns the URL of its video. */
export const arkUrlOf = async (sandbox: Sandbox, request: Record<string, unknown>): Promise<string> => {
  const created = await sandbox.arkVideo(request);
  expect(created.status).toBe(200);
  const id = await taskIdOf(created);
  const query = () => sandbox.arkTask<{ status: string; content?: { video_url: string } }>(id);
  return (await poll(query, ({ status }) => status === 'succeeded')).content?.video_url ?? '';
};

/** Submits a Model Studio request and returns the URL of its video. */
export const studioUrlOf = async (sandbox: Sandbox, request: Record<string, unknown>): Promise<string> => {
  const id = await taskIdOf(await sandbox.studioVideo(request));
  const query = () => sandbox.studioTaskOf<{ output: { task_status: string; video_url?: string } }>(id);
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

/** A video of 320 by 240 pixels whose frames decode to nothing. */
export const aMuxedVideo = async (
  seconds: number,
  framesPerSecond: number,
  container: 'mp4' | 'webm' = 'mp4',
): Promise<Uint8Array> => {
  const target = new BufferTarget();
  const format = container === 'mp4' ? new Mp4OutputFormat() : new WebMOutputFormat();
  const output = new Output({ format, target });
  const codec = container === 'mp4' ? 'avc' : 'vp8';
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  const decoderConfig = {
    ...{ codec: container === 'mp4' ? 'avc1.42001e' : 'vp8', codedWidth: 320, codedHeight: 240 },
    ...(container === 'mp4' && {
      description: new Uint8Array([1, 66, 0, 30, 255, 225, 0, 4, 103, 66, 0, 30, 1, 0, 4, 104, 206, 60, 128]),
    }),
  };
  for (let frame = 0; frame < seconds * framesPerSecond; frame++) {
    const type = frame % framesPerSecond === 0 ? 'key' : 'delta';
    const packet = new EncodedPacket(new Uint8Array(50), type, frame / framesPerSecond, 1 / framesPerSecond);
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return new Uint8Array(target.buffer ?? new ArrayBuffer());
};

/** A WAV file of silence, 8 kHz with 8 bits. */
export const aSound = (seconds: number): Uint8Array => {
  const samples = Math.round(seconds * 8_000);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 128)]);
};
