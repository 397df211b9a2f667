/** A sequence of numbers from 0 to below 1 that a seed repeats (mulberry32). */
export const randomFrom = (seed: number) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
};

/** Some bytes changed, removed, repeated or made extreme. */
export const altered = (file: Uint8Array, random: () => number): Buffer => {
  const bytes = Buffer.from(file);
  const place = () => Math.floor(random() * bytes.length);
  for (let change = 0; change <= random() * 8; change++) {
    const at = place();
    const kind = Math.floor(random() * 4);
    if (kind === 0) bytes[at] = Math.floor(random() * 256);
    else if (kind === 1)
      bytes.subarray(at, at + 1 + Math.floor(random() * 8)).fill(random() < 0.5 ? 0 : 0xff);
    else if (kind === 2) bytes.set(bytes.subarray(at, at + place() / 8), Math.floor(at / 2));
    else if (at + 4 <= bytes.length) bytes.writeUInt32BE(Math.floor(random() * 2 ** 32), at);
  }
  return random() < 0.2 ? bytes.subarray(0, place()) : bytes;
};

/** Boxes of an index that hold times, and ids of elements that do. */
const TIMED = 'mvhd tkhd mdhd elst stts ctts stsc stsz stco trex tfhd tfdt trun hdlr stsd'
  .split(' ')
  .map((type) => Buffer.from(type, 'latin1'))
  .concat(
    ['2ad7b1', '4489', 'e7', 'a3', 'a0', '9b', '23e383', '83', 'd7'].map((id) => Buffer.from(id, 'hex')),
  );
const BOXES = 'moov trak mdia stbl edts mvex moof traf udta free hoov mdat'.split(' ');
const VALUES = [0, 1, 2, 10, 90, 1_000, 90_000, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** Every place of these bytes in a file. */
const placesOf = (file: Buffer, wanted: Buffer): number[] => {
  const places: number[] = [];
  for (let at = file.indexOf(wanted); at !== -1; at = file.indexOf(wanted, at + 1)) places.push(at);
  return places;
};

/** Numbers in the tables of times changed, boxes renamed, moved into others or repeated: what a forger would do, at random. */
const forged = (file: Uint8Array, random: () => number): Buffer => {
  let bytes = Buffer.from(file);
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  for (let change = 0; change <= random() * 4; change++) {
    const kind = random();
    if (kind < 0.6) {
      const type = pick(TIMED) as Buffer;
      const at = pick(placesOf(bytes, type));
      if (at === undefined) continue;
      const field = at + type.length + Math.floor(random() * 8) * (random() < 0.8 ? 4 : 1);
      if (field + 4 > bytes.length) continue;
      const value = bytes.readUInt32BE(field);
      const changed = [pick(VALUES) ?? 0, value * 14, Math.floor(value / 14), value + 1, value ^ 0x100];
      bytes.writeUInt32BE((pick(changed) ?? 0) >>> 0, field);
    } else if (kind < 0.75) {
      const at = pick(placesOf(bytes, Buffer.from(pick(BOXES) ?? 'moov', 'latin1')));
      if (at !== undefined) bytes.write(pick(BOXES) ?? 'free', at, 'latin1');
    } else {
      // A box again, behind itself, in the boxes around it or at the end.
      const at = pick(placesOf(bytes, Buffer.from(pick(BOXES) ?? 'trak', 'latin1')));
      if (at === undefined || at < 4) continue;
      const size = bytes.readUInt32BE(at - 4);
      if (size < 8 || at - 4 + size > bytes.length) continue;
      const box = bytes.subarray(at - 4, at - 4 + size);
      const end = random() < 0.5 ? bytes.length : at - 4 + size;
      const grown = Buffer.concat([bytes.subarray(0, end), box, bytes.subarray(end)]);
      const around = end === bytes.length ? [] : ['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex'];
      for (const type of around) {
        const start = grown.lastIndexOf(type, at - 5, 'latin1');
        if (start < 4 || start - 4 + grown.readUInt32BE(start - 4) < end) continue;
        grown.writeUInt32BE((grown.readUInt32BE(start - 4) + size) >>> 0, start - 4);
      }
      bytes = grown;
    }
  }
  return bytes;
};

/** The altered file of a seed. */
export const fileOf = (seed: number, originals: readonly Uint8Array[]): Buffer => {
  const random = randomFrom(seed);
  const original = originals[seed % originals.length] as Uint8Array;
  return (random() < 0.7 ? forged : altered)(original, random);
};
