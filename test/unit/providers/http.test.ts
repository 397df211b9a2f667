import '../builders/environment.ts';
import dns from 'node:dns';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { callProvider } from '../../../providers/http.ts';

afterEach(() => {
  jest.restoreAllMocks();
});

/** Has every connection fail with this code, by default before it is there. */
const failingToConnect = (code: string, syscall?: string): void => {
  const failing = (_hostname: string, _options: object, callback: (error: Error) => void): void => {
    process.nextTick(callback, Object.assign(new Error('not connected'), { code, syscall }));
  };
  jest.spyOn(dns, 'lookup').mockImplementation(failing as unknown as typeof dns.lookup);
};

const call = () =>
  callProvider('POST', 'http://provider.example/', {
    headers: {},
    body: {},
    signal: new AbortController().signal,
  });

describe('a call of a provider', () => {
  test.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'CONNECT_TIMEOUT'])(
    'that fails with %s has not reached it, and may be made again',
    async (code) => {
      failingToConnect(code);

      expect(await call()).toEqual({ kind: 'unreached', reason: code });
    },
  );

  test.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'HPE_INVALID_CONSTANT'])(
    'that fails with %s may have reached it',
    async (code) => {
      failingToConnect(code);

      expect(await call()).toEqual({ kind: 'broken', reason: code });
    },
  );

  test.each(['read', 'write'])(
    'whose network becomes unreachable at a %s, after it connected, may have reached it',
    async (syscall) => {
      failingToConnect('EHOSTUNREACH', syscall);

      expect(await call()).toEqual({ kind: 'broken', reason: 'EHOSTUNREACH' });
    },
  );
});
