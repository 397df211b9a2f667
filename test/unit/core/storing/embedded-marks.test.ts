import { Readable } from 'node:stream';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { storeVideo } from '../../../../core/files/store-files.ts';
import { storeOutputs } from '../../../../core/storing/store-outputs.ts';
import { anImage } from '../../../../packages/media/test/images.ts';
import { aVideo } from '../../../../packages/media/test/videos.ts';
import { StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { file, keyOf, ProducedOutputs } from '../../builders/produced-outputs.ts';
import { isSigned, type SignedFile, signedJpeg, signedMp4, signedPng } from '../../builders/signed-media.ts';

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server } = produced;
beforeEach(() => produced.reset());
afterAll(() => server.close());

const expectWhole = (name: string, signed: SignedFile): void => {
  const stored = bucket.objects.get(name)?.bytes ?? Buffer.alloc(0);

  expect(stored.equals(signed.bytes)).toBe(true);
  expect(isSigned(stored, signed)).toBe(true);
};

test.each([
  ['png', '0.png', signedPng],
  ['jpeg', '0.jpg', signedJpeg],
] as const)(
  'A signed %s is stored byte for byte, so that its marks still hold',
  async (format, name, sign) => {
    const signed = sign(await anImage(64, 48, format));
    produced.serve({ '/a': file(signed.bytes) });
    produced.given(['/a']);

    await storeOutputs(REQUEST_ID, new StoppedClock());

    expectWhole(keyOf(name), signed);
    expect(produced.recorded()).toMatchObject([
      { width: 64, height: 48, sizeBytes: signed.bytes.byteLength, provenance: { c2pa: true } },
    ]);
  },
);

test.each(['png', 'jpeg', 'webp'] as const)(
  'A %s without marks is recorded without provenance',
  async (format) => {
    produced.serve({ '/a': file(await anImage(64, 48, format)) });
    produced.given(['/a']);

    await storeOutputs(REQUEST_ID, new StoppedClock());

    expect(produced.recorded()).toEqual([expect.not.objectContaining({ provenance: expect.anything() })]);
  },
);

test.each(['index-first', 'index-last'] as const)(
  'A signed MP4 is stored byte for byte: %s',
  async (layout) => {
    const signed = signedMp4(Buffer.from(await aVideo({ layout, seconds: 2, width: 320, height: 240 })));

    const stored = await storeVideo(Readable.from([signed.bytes]), () => keyOf('0.mp4'));

    expectWhole(keyOf('0.mp4'), signed);
    expect(stored.hasManifest).toBe(true);
  },
);

test('A file with one byte changed holds no longer: the tests above can fail', async () => {
  const signed = signedPng(await anImage(64, 48));
  const changed = Buffer.from(signed.bytes);
  const at = changed.byteLength - 20;
  changed.writeUInt8(changed.readUInt8(at) ^ 1, at);

  expect(isSigned(signed.bytes, signed)).toBe(true);
  expect(isSigned(changed, signed)).toBe(false);
});
