/** A file of an archive. */
export interface ZipEntry {
  name: string;
  bytes: Uint8Array;
  at: Date;
}

/** The check sums of each byte, by the polynomial of ZIP (CRC-32, ISO 3309). */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit += 1) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

const crcOf = (bytes: Uint8Array): number => {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (CRC_TABLE[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
};

/** An instant as DOS writes it: two words, of two seconds and of a day since 1980. */
const dosTime = (at: Date): [time: number, day: number] => [
  (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1),
  ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(),
];

/** Numbers of two or four bytes, the low byte first. */
const packed = (...parts: [value: number, bytes: 2 | 4][]): Uint8Array =>
  Uint8Array.from(
    parts.flatMap(([value, bytes]) =>
      Array.from({ length: bytes }, (_, byte) => (value >>> (8 * byte)) & 0xff),
    ),
  );

const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;

/**
 * A ZIP archive of these files (APPNOTE 6.3, 4.3), as parts for a blob. Nothing is compressed: pictures and videos are already. For fewer
 * than 65,536 files and 4 GiB.
 */
export const zipOf = (entries: readonly ZipEntry[]): Uint8Array[] => {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes, at } of entries) {
    const path = new TextEncoder().encode(name);
    const [time, day] = dosTime(at);
    const facts: [number, 2 | 4][] = [
      ...([
        [VERSION, 2],
        [FLAGS, 2],
        [0, 2],
        [time, 2],
        [day, 2],
        [crcOf(bytes), 4],
      ] as [number, 2 | 4][]),
      ...([
        [bytes.length, 4],
        [bytes.length, 4],
        [path.length, 2],
        [0, 2],
      ] as [number, 2 | 4][]),
    ];
    const head = packed([0x04034b50, 4], ...facts);
    parts.push(head, path, bytes);
    const place: [number, 2 | 4][] = [
      [0, 2],
      [0, 2],
      [0, 2],
      [0, 4],
      [offset, 4],
    ];
    directory.push(packed([0x02014b50, 4], [VERSION, 2], ...facts, ...place), path);
    offset += head.length + path.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = packed(
    [0x06054b50, 4],
    [0, 2],
    [0, 2],
    [entries.length, 2],
    [entries.length, 2],
    [size, 4],
    [offset, 4],
    [0, 2],
  );
  return [...parts, ...directory, end];
};
