import { existsSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { callerWith } from '../contract/support/client.ts';
import {
  discard,
  failToStart,
  newDataDir,
  ops,
  type RunningService,
  startLocalService,
} from '../contract/support/local-service.ts';

let dataDir: string;
let service: RunningService | undefined;
beforeAll(async () => {
  dataDir = await newDataDir();
});
afterAll(async () => {
  await discard(service);
  await rm(dataDir, { recursive: true, force: true });
});

const runFile = () => join(dataDir, 'local.json');
const running = (): RunningService => {
  if (!service) throw new Error('The local run did not start.');
  return service;
};
const demoCaller = ({ accountId, apiKey }: { accountId: string; apiKey: string }) =>
  callerWith(running(), accountId, apiKey);

describe('An invalid context value', () => {
  // test/unit/lib/context.test.ts covers which values are invalid.
  test('fails the start with a message that names the key', async () => {
    const { code, stdout, stderr } = await failToStart(dataDir, {
      context: { imageDeadlineSeconds: 'soon' },
    });

    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain('imageDeadlineSeconds');
    expect(existsSync(runFile())).toBe(false);
  });
});

describe('A first start', () => {
  test("prints the service's URL once it accepts requests", async () => {
    const lines: string[] = [];
    service = await startLocalService(dataDir, {
      context: { pollIntervalSeconds: 1 },
      onLine: (line) => lines.push(line),
    });

    const { baseUrl, apiKey } = service;
    expect(lines.at(-1)).toMatch(/^ready /);
    expect(lines.join('\n')).toContain(baseUrl);
    expect(lines.join('\n')).toContain(apiKey);
    expect(lines.join('\n')).toMatch(/^curl .*\/v1\/generations/m);
  });

  test('writes local.json, readable only by its owner', async () => {
    const written = JSON.parse(await readFile(runFile(), 'utf8'));

    const loopback = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    const name = expect.stringMatching(/^\S+$/);
    expect(written).toEqual({
      baseUrl: loopback,
      consoleUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/console#operator=[\w-]{32}$/),
      apiKey: expect.stringMatching(/^gsk_/),
      accountId: expect.stringMatching(/^acc_/),
      webhookSecret: expect.stringMatching(/^whsec_/),
      awsEndpointUrl: loopback,
      tableName: name,
      bucketName: name,
      stateMachines: expect.objectContaining({
        generation: expect.stringMatching(/^arn:aws:states:[\w-]+:\d{12}:stateMachine:/),
      }),
      sandboxUrl: loopback,
      pid: running().process.pid,
      // For the operators' command line.
      outputs: expect.objectContaining({ TableName: written.tableName, BaseUrl: written.baseUrl }),
      operatorAccessKeyId: name,
      operatorSecretAccessKey: name,
    });
    expect((await stat(runFile())).mode & 0o077).toBe(0);
  });

  test('creates the account demo with 1,000 xTokens and prints its key', async () => {
    const accounts = await ops<Record<string, unknown>[]>(running(), 'accounts', 'list');

    expect(accounts).toEqual([
      expect.objectContaining({ accountId: running().accountId, name: 'demo', xTokens: 1000 }),
    ]);
    expect((await demoCaller(running()).get('/v1/balance')).body).toMatchObject({ xTokens: 1000 });
  });
});

describe('A second start on a data directory in use', () => {
  test.each([{ reset: false }, { reset: true }])(
    'is refused with one line that names the directory and the process: %j',
    async (options) => {
      const { code, stdout, stderr } = await failToStart(dataDir, options);

      expect(code).not.toBe(0);
      expect(stdout).toBe('');
      expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(dataDir)]);
      expect(stderr).toContain(String(running().process.pid));
    },
  );

  test('does not affect the first', async () => {
    expect((await demoCaller(running()).get('/v1/balance')).status).toBe(200);
    expect(existsSync(runFile())).toBe(true);
  });
});

describe('Ctrl-C', () => {
  test('stops the run with 0 and removes local.json', async () => {
    expect(await running().stop('SIGINT')).toBe(0);

    expect(existsSync(runFile())).toBe(false);
    await expect(fetch(running().baseUrl)).rejects.toThrow();
  });
});
