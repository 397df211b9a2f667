import mp4 from 'h264-mp4-encoder';
import {
  BufferTarget,
  EncodedPacket,
  EncodedVideoPacketSource,
  MkvOutputFormat,
  MovOutputFormat,
  Mp4OutputFormat,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny';

/** An H.264 decoder configuration: one sequence and one picture parameter set, a few bytes each. */
const AVC_DESCRIPTION = new Uint8Array([
  1, 0x42, 0, 0x1e, 0xff, 0xe1, 0, 4, 0x67, 0x42, 0, 0x1e, 1, 0, 4, 0x68, 0xce, 0x3c, 0x80,
]);

const CODECS = {
  avc: { codec: 'avc1.42001e', description: AVC_DESCRIPTION },
  vp8: { codec: 'vp8' },
};

/** How a test video is muxed. */
export interface VideoOptions {
  /** Where its index is, or `fragments`. */
  layout?: 'index-first' | 'index-last' | 'fragments';
  container?: 'mp4' | 'mov' | 'webm' | 'mkv';
  seconds?: number;
  width?: number;
  height?: number;
  framesPerSecond?: number;
  /** Bytes of each frame, which decode to nothing. */
  frameBytes?: number;
  /** Whether presentation order differs from decoding order, as with B-frames. */
  reordered?: boolean;
}

const formatOf = (container: string, layout: string): OutputFormat => {
  if (container === 'webm') return new WebMOutputFormat();
  if (container === 'mkv') return new MkvOutputFormat();
  const fastStart = { 'index-first': 'in-memory', 'index-last': false, fragments: 'fragmented' }[layout] as
    | 'in-memory'
    | 'fragmented'
    | false;
  const options = { fastStart, minimumFragmentDuration: 1 };
  return container === 'mov' ? new MovOutputFormat(options) : new Mp4OutputFormat(options);
};

/** A video file as a muxer writes it, with undecodable frames. */
export const aVideo = async ({
  layout = 'index-first',
  container = 'mp4',
  seconds = 5,
  width = 640,
  height = 360,
  framesPerSecond = 10,
  frameBytes = 100,
  reordered = false,
}: VideoOptions = {}): Promise<Buffer> => {
  const target = new BufferTarget();
  const output = new Output({ format: formatOf(container, layout), target });
  const codec = container === 'webm' ? 'vp8' : 'avc';
  const source = new EncodedVideoPacketSource(codec);
  output.addVideoTrack(source);
  await output.start();
  const frames = Math.round(seconds * framesPerSecond);
  const decoderConfig = { ...CODECS[codec], codedWidth: width, codedHeight: height };
  for (let frame = 0; frame < frames; frame++) {
    const shown = reordered ? swapped(frame, frames, framesPerSecond) : frame;
    const isKey = frame % framesPerSecond === 0;
    const packet = new EncodedPacket(
      new Uint8Array(frameBytes),
      isKey ? 'key' : 'delta',
      shown / framesPerSecond,
      1 / framesPerSecond,
    );
    await source.add(packet, { decoderConfig });
  }
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer());
};

/** Swaps frames 2 and 3 of each second; each second begins with a key frame. */
const swapped = (frame: number, frames: number, framesPerSecond: number): number => {
  const place = frame % framesPerSecond;
  if (framesPerSecond < 4 || frames - frame + place < 4) return frame;
  if (place === 2) return frame + 1;
  return place === 3 ? frame - 1 : frame;
};

/** An H.264 film from a real encoder, one frame per second. */
export const anEncodedVideo = async (seconds: number, width = 64, height = 48): Promise<Buffer> => {
  const encoder = await mp4.createH264MP4Encoder();
  encoder.width = width;
  encoder.height = height;
  encoder.frameRate = 1;
  encoder.initialize();
  for (let frame = 0; frame < seconds; frame++) {
    encoder.addFrameRgba(new Uint8Array(width * height * 4).fill(frame * 40));
  }
  encoder.finalize();
  const bytes = Buffer.from(encoder.FS.readFile(encoder.outputFilename));
  encoder.delete();
  return bytes;
};

/** A copy with the first box of this type changed; `change` gets the bytes and the offset of the box's content. */
export const withBox = (
  file: Buffer,
  type: string,
  change: (bytes: Buffer, content: number) => void,
): Buffer => {
  const bytes = Buffer.from(file);
  const place = bytes.indexOf(type, 0, 'latin1');
  if (place === -1) throw new Error(`The file has no ${type}.`);
  change(bytes, place + 4);
  return bytes;
};

/** A box of this type with this content. */
export const aBox = (type: string, ...contents: Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  const header = Buffer.alloc(8);
  header.writeUInt32BE(8 + content.byteLength);
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, content]);
};

/** A copy with `box` after the first box of this type; the boxes in `around` grow by its size. */
export const withBoxBehind = (file: Buffer, type: string, around: string[], box: Buffer): Buffer => {
  const grown = around.reduce(
    (bytes, container) =>
      withBox(bytes, container, (copy, content) => {
        copy.writeUInt32BE(copy.readUInt32BE(content - 8) + box.byteLength, content - 8);
      }),
    file,
  );
  const place = grown.indexOf(type, 0, 'latin1') - 4;
  const end = place + grown.readUInt32BE(place);
  return Buffer.concat([grown.subarray(0, end), box, grown.subarray(end)]);
};
