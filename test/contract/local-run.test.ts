import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from './support/answers.ts';
import { callerWith } from './support/client.ts';
import { history } from './support/ledger.ts';
import {
  discard,
  failToStart,
  newDataDir,
  ops,
  type RunningService,
  startLocalService,
} from './support/local-service.ts';

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

describe('Context that cannot be used', () => {
  test.each([
    ['a wrong value', { imageDeadlineSeconds: 'soon' }],
    ['an empty value', { outputTtlSeconds: '' }],
    ['a value out of range', { retentionDays: -1 }],
  ])('ends the start with a line that names the key: %s', async (_what, context) => {
    const { code, stdout, stderr } = await failToStart(dataDir, { context });

    const [key = ''] = Object.keys(context);
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toContain(key);
    expect(existsSync(runFile())).toBe(false);
  });
});

describe('A first start', () => {
  test('says where the service is, once it takes requests', async () => {
    const lines: string[] = [];
    service = await startLocalService(dataDir, { onLine: (line) => lines.push(line) });

    const { baseUrl, apiKey } = service;
    expect(lines.at(-1)).toMatch(/^ready /);
    expect(lines.join('\n')).toContain(baseUrl);
    expect(lines.join('\n')).toContain(apiKey);
    expect(lines.join('\n')).toMatch(/^curl .*\/v1\/generations/m);
  });

  test('writes local.json, for the eyes of its owner only', async () => {
    const written = JSON.parse(await readFile(runFile(), 'utf8'));

    const loopback = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
    const name = expect.stringMatching(/^\S+$/);
    expect(written).toEqual({
      baseUrl: loopback,
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
      // What the operators' command line needs besides.
      outputs: expect.objectContaining({ TableName: written.tableName, BaseUrl: written.baseUrl }),
      operatorAccessKeyId: name,
      operatorSecretAccessKey: name,
    });
    expect((await stat(runFile())).mode & 0o077).toBe(0);
  });

  test('makes the account demo with 1,000 xTokens, whose key it prints', async () => {
    const accounts = await ops<Record<string, unknown>[]>(running(), 'accounts', 'list');

    expect(accounts).toEqual([
      expect.objectContaining({ accountId: running().accountId, name: 'demo', xTokens: 1000 }),
    ]);
    expect((await demoCaller(running()).get('/v1/balance')).body).toMatchObject({ xTokens: 1000 });
  });
});

describe('A second start on a data directory in use', () => {
  test.each([{ reset: false }, { reset: true }])('is refused in one clear line: %j', async (options) => {
    const { code, stdout, stderr } = await failToStart(dataDir, options);

    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr.trim().split('\n')).toEqual([expect.stringContaining(dataDir)]);
    expect(stderr).toContain(String(running().process.pid));
  });

  test('leaves the first one alone', async () => {
    expect((await demoCaller(running()).get('/v1/balance')).status).toBe(200);
    expect(existsSync(runFile())).toBe(true);
  });
});

describe('Stopping', () => {
  test('with Ctrl-C ends it with 0 and removes local.json', async () => {
    expect(await running().stop('SIGINT')).toBe(0);

    expect(existsSync(runFile())).toBe(false);
    await expect(fetch(running().baseUrl)).rejects.toThrow();
  });
});

describe('A start with --reset', () => {
  test('begins with nothing of what was there', async () => {
    const before = running();
    const foreign = join(dataDir, 'mine.txt');
    await writeFile(foreign, 'kept');

    service = await startLocalService(dataDir, { reset: true });

    expect(service.accountId).not.toBe(before.accountId);
    expect(refusal(await demoCaller(before).get('/v1/balance'))).toEqual([401, 'unauthorized']);
    expect(await history(demoCaller(service))).toHaveLength(1);
    expect(existsSync(foreign)).toBe(true);
  });

  test('stops with SIGTERM as well', async () => {
    expect(await running().stop('SIGTERM')).toBe(0);
    expect(existsSync(runFile())).toBe(false);
  });
});
