import { crc32 } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { zipOf } from '../../../console/parts/zip.ts';

const FILES = [
  {
    name: 'img_1_0.png',
    bytes: new TextEncoder().encode('a picture'),
    at: new Date(2026, 10, 26, 13, 14, 16),
  },
  {
    name: 'bücher.mp4',
    bytes: new Uint8Array(70_000).map((_, index) => index % 251),
    at: new Date(2026, 0, 1),
  },
  { name: 'empty.bin', bytes: new Uint8Array(), at: new Date(2026, 11, 31) },
];
const archive = Buffer.concat(zipOf(FILES));

/** The directory of an archive, each entry with the bytes that it leads to. */
const entriesOf = (zip: Buffer) => {
  const end = zip.length - 22;
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [size, nameLength, offset] = [
      zip.readUInt32LE(at + 24),
      zip.readUInt16LE(at + 28),
      zip.readUInt32LE(at + 42),
    ];
    const crc = zip.readUInt32LE(at + 16);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const begin = offset + 30 + zip.readUInt16LE(offset + 26);
    const signatures = [zip.readUInt32LE(at), zip.readUInt32LE(offset)];
    at += 46 + nameLength;
    return { name, crc, signatures, bytes: zip.subarray(begin, begin + size) };
  });
};

test('An archive leads to every file, with its name, bytes and check sum', () => {
  const entries = entriesOf(archive);

  expect(entries.map(({ name }) => name)).toEqual(FILES.map(({ name }) => name));
  for (const [index, { bytes, crc, signatures }] of entries.entries()) {
    expect(Buffer.compare(bytes, Buffer.from(FILES[index]?.bytes ?? []))).toBe(0);
    expect(crc).toBe(crc32(bytes));
    expect(signatures).toEqual([0x02014b50, 0x04034b50]);
  }
});

test('Times are those of the reader, to two seconds', () => {
  expect(archive.readUInt16LE(10)).toBe((13 << 11) | (14 << 5) | 8);
  expect(archive.readUInt16LE(12)).toBe((46 << 9) | (11 << 5) | 26);
});
