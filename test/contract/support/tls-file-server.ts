import { execFile } from 'node:child_process';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAllowedAddress } from '../../../core/guarded-http/target-rules.ts';

/** A server of one file, by TLS at port 443 of this machine, which is called by the machine's name. */
export interface TlsFileServer {
  /** `http://` and the machine's name: nothing answers there. */
  plainUrl: string;
  /** A file with the certificate authority to trust. */
  certificates: string;
  /** What was fetched, and by whom: the `User-Agent`. */
  fetched: { path: string; agent: string | undefined }[];
  close(): Promise<void>;
}

/** Why there can be no such server here. */
const UNABLE = new Set(['EACCES', 'EADDRINUSE', 'EADDRNOTAVAIL', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Serves these bytes at every path. Returns undefined with a warning if port 443 cannot be opened or `openssl` is
 * missing. So too if the machine's name is `localhost`, or does not resolve to an address that a local run may call.
 */
export const openTlsFileServer = async (bytes: Buffer): Promise<TlsFileServer | undefined> => {
  const host = hostname().toLowerCase();
  const folder = await mkdtemp(join(tmpdir(), 'tls-file-server-'));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  const fetched: TlsFileServer['fetched'] = [];
  try {
    const { address } = await lookup(host);
    if (host === 'localhost' || !isAllowedAddress(address, 'https:', true)) {
      throw Object.assign(new Error(`${host} is ${address}`), { code: 'EADDRNOTAVAIL' });
    }
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2'],
      ...['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`],
      ...['-keyout', key, '-out', certificate],
    ]);
    const server = createServer(
      { key: await readFile(key), cert: await readFile(certificate) },
      ({ url = '', headers }, response) => {
        fetched.push({ path: url, agent: headers['user-agent'] });
        response.end(bytes);
      },
    );
    server.listen(443, address);
    await once(server, 'listening');
    return {
      ...{ plainUrl: `http://${host}`, certificates: certificate, fetched },
      close: async () => {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
        await rm(folder, { recursive: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true });
    if (!UNABLE.has(String((error as NodeJS.ErrnoException).code))) throw error;
    console.warn(`There is no TLS server of files: ${(error as Error).message}`);
    return undefined;
  }
};
