import { Readable } from 'node:stream';
import { afterAll, expect, jest, test } from '@jest/globals';
import { StoppedClock } from '../../builders/clocks.ts';
import { REQUEST_ID } from '../../builders/entities.ts';
import { keyOf, ProducedOutputs } from '../../builders/produced-outputs.ts';

const MIB = 1024 * 1024;
/** The limit of an image in place of the real one, whose file the fake bucket would hold in memory. */
const LIMIT_BYTES = 12 * MIB;
/** The real limits, as the uploads were asked for. */
const limits: number[] = [];
const upload = await import('../../../../core/files/upload.ts');
const uploadFile: typeof upload.uploadFile = (body, kind, keyOfFile, way) => {
  limits.push(kind.maxBytes);
  return upload.uploadFile(body, { ...kind, maxBytes: LIMIT_BYTES }, keyOfFile, way);
};
jest.unstable_mockModule('../../../../core/files/upload.ts', () => ({ ...upload, uploadFile }));
const { storeOutputs } = await import('../../../../core/storing/store-outputs.ts');

process.env.ALLOW_PRIVATE_TARGETS = 'true';
const produced = await new ProducedOutputs().start();
const { bucket, server, png } = produced;
afterAll(() => server.close());

test('an output that cannot be stored because it is larger than 256 MiB is given up, and leaves no parts behind', async () => {
  const parts = function* () {
    yield png;
    for (let count = 0; count < 12; count++) yield Buffer.alloc(MIB);
  };
  produced.serve({ '/a': (response) => Readable.from(parts()).pipe(response.writeHead(200)) });
  produced.given(['/a']);
  await storeOutputs(REQUEST_ID, new StoppedClock());

  expect(limits).toEqual([256 * MIB]);
  expect(produced.recorded()).toStrictEqual([{ index: 0 }]);
  expect(bucket.objects.size).toBe(0);
  expect(produced.requestedPaths()).toHaveLength(1);
  expect(bucket.abortedUploads).toEqual([keyOf('0.png')]);
});
