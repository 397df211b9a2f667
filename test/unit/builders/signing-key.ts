import { generateKeyPairSync } from 'node:crypto';

/** An ECDSA P-256 key pair like the one file delivery signs with. */
export const aSigningKey = () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), publicKey };
};
