import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { GenerationClient } from '../src/index.ts';
import { startServer } from './a-client.ts';
import { json } from './server.ts';

const { server } = await startServer();
const NAMES = ['GENERATION_BASE_URL', 'GENERATION_API_KEY'] as const;
const before = NAMES.map((name) => process.env[name]);
const set = (values: readonly (string | undefined)[]): void => {
  for (const [index, name] of NAMES.entries()) {
    const value = values[index];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
};
beforeEach(() => set([]));
afterEach(() => set(before));

describe("Node's time limit for one of several addresses", () => {
  const NODE_LIMIT_MS = 250;
  const limitAfter = (own: number, options: object): number => {
    setDefaultAutoSelectFamilyAttemptTimeout(own);
    new GenerationClient({ baseUrl: server.url, apiKey: 'gsk_test', allowHttp: true, ...options });
    return getDefaultAutoSelectFamilyAttemptTimeout();
  };
  afterEach(() => setDefaultAutoSelectFamilyAttemptTimeout(NODE_LIMIT_MS));

  test('is raised where it is the default, so that a distant host of both families can be reached', () => {
    expect([NODE_LIMIT_MS, 500].map((own) => limitAfter(own, {}))).toEqual([2_500, 2_500]);
  });

  test('stays as the process has set it, and where the client is given a fetch of its own', () => {
    expect(limitAfter(1_000, {})).toBe(1_000);
    expect(limitAfter(NODE_LIMIT_MS, { fetch })).toBe(NODE_LIMIT_MS);
  });
});

describe('a client', () => {
  test('takes its base URL and key from the environment', async () => {
    set([`${server.url}/`, 'gsk_environment']);
    server.answer(json(200, {}));
    await new GenerationClient().getBalance();

    expect(server.seen[0]).toMatchObject({
      path: '/v1/balance',
      headers: { authorization: 'Bearer gsk_environment' },
    });
  });

  test('prefers what it is given', async () => {
    set(['https://elsewhere.example', 'gsk_environment']);
    server.answer(json(200, {}));
    const client = new GenerationClient({ baseUrl: `${server.url}/`, apiKey: 'gsk_given' });
    await client.getBalance();

    expect(server.seen[0]?.headers.authorization).toBe('Bearer gsk_given');
    expect(client.baseUrl).toBe(server.url);
  });

  test.each([undefined, ''])('says plainly that it has no base URL: %j', (baseUrl) => {
    set([undefined, 'gsk_environment']);

    expect(() => new GenerationClient({ baseUrl })).toThrow(
      new TypeError('baseUrl is missing: give it to the client, or set GENERATION_BASE_URL'),
    );
  });

  test.each([undefined, ''])('says plainly that it has no key: %j', (apiKey) => {
    expect(() => new GenerationClient({ baseUrl: server.url, apiKey })).toThrow(
      new TypeError('apiKey is missing: give it to the client, or set GENERATION_API_KEY'),
    );
  });

  test('says so too where a platform has no environment', () => {
    const { process } = globalThis;
    try {
      Object.assign(globalThis, { process: undefined });
      expect(() => new GenerationClient()).toThrow(/^baseUrl is missing/);
    } finally {
      Object.assign(globalThis, { process });
    }
  });

  test('refuses a base URL of the environment that would show the key on the way', () => {
    set(['http://api.example.com', 'gsk_environment']);

    expect(() => new GenerationClient()).toThrow('baseUrl is not https:');
  });
});
