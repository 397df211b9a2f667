/** Worker thread of `encode-video.ts`: encodes each film that it is sent, and posts the bytes of the MP4. */
import { parentPort } from 'node:worker_threads';
import mp4 from 'h264-mp4-encoder';
import { type Film, framesOf } from './video-frames.ts';

// The encoder writes the current time into the file. A fixed clock, in this thread only, makes equal films give equal bytes.
Date.now = () => 0;

/** The encoder's range is 0 (best quality) to 10 (fastest). */
const FASTEST = 10;

const encode = async (film: Film): Promise<Uint8Array> => {
  const encoder = await mp4.createH264MP4Encoder();
  encoder.width = film.width;
  encoder.height = film.height;
  encoder.frameRate = 1;
  encoder.speed = FASTEST;
  encoder.initialize();
  for await (const frame of framesOf(film)) encoder.addFrameRgba(frame);
  encoder.finalize();
  const bytes = encoder.FS.readFile(encoder.outputFilename);
  encoder.delete();
  return bytes;
};

parentPort?.on('message', async (film: Film) => parentPort?.postMessage(await encode(film)));
