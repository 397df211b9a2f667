/** A WAV of silence, in 16 bits. `size` is what its data chunk says. With `samples` it says to be compressed, at half the rate of bytes. */
export const aWav = ({
  seconds = 1,
  rate = 44_100,
  channels = 1,
  before = 0,
  after = 0,
  size = undefined as number | undefined,
  samples = 0,
} = {}): Buffer => {
  const data = Buffer.alloc(Math.round(seconds * rate) * 2 * channels);
  const format = Buffer.alloc(16);
  format.writeUInt16LE(samples > 0 ? 0x11 : 1, 0);
  format.writeUInt16LE(channels, 2);
  format.writeUInt32LE(rate, 4);
  format.writeUInt32LE(samples > 0 ? rate * channels : rate * 2 * channels, 8);
  format.writeUInt16LE(2 * channels, 12);
  format.writeUInt16LE(16, 14);
  const chunk = (id: string, content: Buffer, said = content.length): Buffer => {
    const header = Buffer.alloc(8);
    header.write(id, 'latin1');
    header.writeUInt32LE(said, 4);
    return Buffer.concat([header, content, Buffer.alloc(content.length % 2)]);
  };
  const chunks = Buffer.concat([
    chunk('fmt ', format),
    ...(samples > 0 ? [chunk('fact', Buffer.from(Uint32Array.of(samples).buffer))] : []),
    ...(before > 0 ? [chunk('LIST', Buffer.alloc(before))] : []),
    chunk('data', data, size),
    ...(after > 0 ? [chunk('id3 ', Buffer.alloc(after))] : []),
  ]);
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(chunks.length + 4, 4);
  head.write('WAVE', 8, 'latin1');
  return Buffer.concat([head, chunks]);
};

const BITRATES = {
  mpeg1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  mpeg2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};

/** An MP3 of empty frames: layer III, without a checksum, by the indexes of their bitrates in turn. */
export const anMp3 = ({
  frames = 100,
  version = 1,
  bitrates = [9],
  tag = 0,
  described = false,
  rubbish = 0,
  after = 0,
} = {}): Buffer => {
  const bits = { 1: 3, 2: 2, 2.5: 0 }[version] ?? 3;
  const frameOf = (index: number): Buffer => {
    const bitrate = bitrates[index % bitrates.length] ?? 9;
    const kilobits = (version === 1 ? BITRATES.mpeg1 : BITRATES.mpeg2)[bitrate] ?? 0;
    const rate = 44_100 / { 1: 1, 2: 2, 2.5: 4 }[version as 1];
    const frame = Buffer.alloc(Math.floor(((version === 1 ? 1152 : 576) / 8) * kilobits * (1000 / rate)));
    frame.writeUInt32BE((0xffe0_0000 | (bits << 19) | (1 << 17) | (1 << 16) | (bitrate << 12)) >>> 0, 0);
    if (described && index === 0) frame.write('Xing', 36, 'latin1');
    return frame;
  };
  const made = Array.from({ length: frames }, (_, index) => frameOf(index));
  const middle = Math.floor(frames / 2);
  const body = [...made.slice(0, middle), Buffer.alloc(rubbish, 1), ...made.slice(middle)];
  const header = Buffer.from([0x49, 0x44, 0x33, 3, 0, 0, 0, 0, (tag >> 7) & 127, tag & 127]);
  const filler = Buffer.alloc(tag);
  for (let at = 0; at + 417 <= tag; at += 417) filler.writeUInt32BE(0xfffb9000, at);
  return Buffer.concat([...(tag > 0 ? [header, filler] : []), ...body, Buffer.alloc(after, 0x20)]);
};
