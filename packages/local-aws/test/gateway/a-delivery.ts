import { generateKeyPairSync } from 'node:crypto';
import { Readable } from 'node:stream';
import { getSignedUrl } from '@aws-sdk/cloudfront-signer';
import { afterEach } from '@jest/globals';
import {
  createDelivery,
  type DeliveryOptions,
  hasOwnBehavior,
  type StoredObject,
} from '../../src/delivery.ts';
import { type FrontDoor, startFrontDoor } from '../../src/gateway/front-door.ts';
import type { DistributionSpec } from '../../src/template/distribution.ts';

const keyPair = () =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
const elliptic = keyPair();
const trustedKeys: ReadonlyMap<string, string> = new Map([
  ['KEC', elliptic.publicKey],
  ['KOTHER', keyPair().publicKey],
]);

const KEY = 'outputs/acc 1/img_1_0+ä.png';
/** Its path. */
export const PATH = '/files/outputs/acc%201/img_1_0%2B%C3%A4.png';
export const CONTENT = Buffer.from('0123456789');
export const EXPIRES_AT = new Date('2026-11-21T09:00:00.000Z');
export const ETAG = '"0a1b"';

/** In two chunks, so that ranges lie within and across chunks. */
export const anObject = (): StoredObject => ({
  body: Readable.from([CONTENT.subarray(0, 4), CONTENT.subarray(4)]),
  contentType: 'image/png',
  contentLength: CONTENT.length,
  etag: ETAG,
});

/** Closed after each test. */
export const doors: FrontDoor[] = [];
afterEach(async () => {
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

/** Starts a delivery of that file and returns the address of its door. */
export const openDelivery = async ({
  now = new Date(EXPIRES_AT.getTime() - 1),
  isSigned = true,
  readObject = async (bucket: string, key: string): Promise<StoredObject | undefined> =>
    bucket === 'outputs' && key === KEY ? anObject() : undefined,
  ...behavior
}: Partial<DistributionSpec & Pick<DeliveryOptions, 'readObject'>> & {
  now?: Date;
  isSigned?: boolean;
} = {}) => {
  const door = await startFrontDoor(0);
  doors.push(door);
  const distribution = { bucketName: 'outputs', ...(isSigned && { trustedKeys }), ...behavior };
  const deliveryBaseUrl = `${door.baseUrl}/files`;
  const handle = createDelivery({ distribution, deliveryBaseUrl, readObject, now: () => now });
  door.open({
    api: async (_request, response) => void response.writeHead(418).end(),
    files: { prefix: '/files/', alsoAt: hasOwnBehavior(distribution), handle },
  });
  return door.baseUrl;
};

/** A signed path. */
export const sign = (
  baseUrl: string,
  path = PATH,
  overrides: Partial<Parameters<typeof getSignedUrl>[0]> = {},
) =>
  getSignedUrl({
    url: baseUrl + path,
    keyPairId: 'KEC',
    privateKey: elliptic.privateKey,
    dateLessThan: EXPIRES_AT.toISOString(),
    algorithm: 'SHA256',
    ...overrides,
  } as Parameters<typeof getSignedUrl>[0]).slice(baseUrl.length);
