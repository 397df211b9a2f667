import type { Drawing } from './draw-image.ts';
import type { Film } from './video-frames.ts';

/** Makes output files. Equal requests give equal bytes. */
export type Media = {
  /** An image of exactly the drawing's size, encoded in its format. */
  drawImage(drawing: Drawing): Promise<Buffer>;
  /** An H.264 MP4 of exactly the film's size and duration. */
  encodeVideo(film: Film): Promise<Buffer>;
};
