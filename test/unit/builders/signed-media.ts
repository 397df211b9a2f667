import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A file with a signed manifest, as makers embed their marks (C2PA 2.2, appendix A: embedding manifests into files). */
export interface SignedFile {
  bytes: Buffer;
  /** Where the manifest's part of the file begins, and its length. */
  at: number;
  length: number;
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const HASH_BYTES = 32;
const SIGNATURE_BYTES = 64;

const uint32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const box = (type: string, ...content: Buffer[]): Buffer => {
  const body = Buffer.concat(content);
  return Buffer.concat([uint32(8 + body.byteLength), Buffer.from(type, 'latin1'), body]);
};
/** The type of a manifest store (JUMBF, ISO/IEC 19566-5), and its label. */
const DESCRIPTION = box(
  'jumd',
  Buffer.from('6332706100110010800000aa00389b71', 'hex'),
  Buffer.from('\u0003c2pa\0', 'latin1'),
);

/** A manifest that binds the given bytes by a hash and the hash's signature. */
const manifestOf = (bound: Buffer): Buffer => {
  const hash = createHash('sha256').update(bound).digest();
  return box('jumb', DESCRIPTION, box('bidb', hash, sign(null, hash, privateKey)));
};

const insert = (bytes: Buffer, at: number, part: Buffer): SignedFile => ({
  bytes: Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)]),
  at,
  length: part.byteLength,
});

/** In a chunk after the header. */
export const signedPng = (png: Buffer): SignedFile => {
  const body = Buffer.concat([Buffer.from('caBX', 'latin1'), manifestOf(png)]);
  const chunk = Buffer.concat([uint32(body.byteLength - 4), body, uint32(crc32(body))]);
  return insert(png, 33, chunk);
};

/** In a segment for applications, after the start of the image. */
export const signedJpeg = (jpeg: Buffer): SignedFile => {
  const body = Buffer.concat([Buffer.from('JP\0\u0001\0\0\0\u0001', 'latin1'), manifestOf(jpeg)]);
  const head = Buffer.from([0xff, 0xeb, (body.byteLength + 2) >> 8, (body.byteLength + 2) & 0xff]);
  return insert(jpeg, 2, Buffer.concat([head, body]));
};

/** In a box after all others, which moves none of them. */
export const signedMp4 = (mp4: Buffer): SignedFile => {
  const type = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');
  return insert(
    mp4,
    mp4.byteLength,
    box('uuid', type, Buffer.from('\0\0\0\0manifest\0', 'latin1'), manifestOf(mp4)),
  );
};

/** Whether bytes are those that the file's manifest was signed for. */
export const isSigned = (bytes: Buffer, { at, length }: SignedFile): boolean => {
  const part = bytes.subarray(at, at + length);
  const content = part.indexOf('bidb') + 4;
  const told = part.subarray(content, content + HASH_BYTES);
  const signature = part.subarray(content + HASH_BYTES, content + HASH_BYTES + SIGNATURE_BYTES);
  const bound = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
  const hash = createHash('sha256').update(bound).digest();
  return part.includes('c2pa') && hash.equals(told) && verify(null, told, publicKey, signature);
};
