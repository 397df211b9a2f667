import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '../contract/support/answers.ts';
import {
  type AnyRecord,
  accepted,
  type Caller,
  callerWith,
  eventually,
  read,
  settled,
  unique,
} from '../contract/support/client.ts';
import { fetchFile, measure } from '../contract/support/files.ts';
import { balance, expectPaidOnce, history } from '../contract/support/ledger.ts';
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
let caller: Caller;
/** What the first start printed. */
const lines: string[] = [];
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

/** Unfinished requests of every kind: in a call, as a task, waiting to retry a busy provider, just created. */
const createUnfinished = async (): Promise<AnyRecord[]> => {
  const begun = await Promise.all(
    [
      { model: 'xZI1.0Pro', prompt: unique('[delay=60]') },
      { model: 'xQI3Pro', size: '512x512', prompt: unique('[delay=60]') },
      { model: 'xZI1.0Pro', size: '512x512', prompt: unique('[flaky=3]') },
      { model: 'xZI1.0Pro', size: '512x512', prompt: unique('[flaky=3]') },
    ].map((body) => accepted(caller, body)),
  );
  for (const { requestId } of begun) {
    await eventually(
      () => read(caller, requestId),
      ({ status }) => status !== 'queued',
    );
  }
  return [...begun, await accepted(caller, { size: '512x512' })];
};

/** Waits until every request has ended and expects that each was paid once, or refunded if it failed. */
const expectAllEnded = async (begun: AnyRecord[]): Promise<void> => {
  const ended = await Promise.all(begun.map(({ requestId }) => settled(caller, requestId)));
  await expectPaidOnce(caller, ended);
  // A call under way is lost with the run. Two requests wait to retry and are rarely in a call. At least one was
  // outside a call when the run stopped, and continues as if nothing had happened.
  expect(ended.slice(2, 4).map(({ status }) => status)).toContain('succeeded');
};

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
  beforeAll(async () => {
    const onLine = (line: string) => lines.push(line);
    service = await startLocalService(dataDir, { context: { pollIntervalSeconds: 1 }, onLine });
  });

  test("prints the service's URL once it accepts requests", () => {
    const { baseUrl, apiKey } = running();
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

  test('creates the account demo with 1,000 xTokens, and prints its key, which has a default end-user', async () => {
    const accounts = await ops<Record<string, unknown>[]>(running(), 'accounts', 'list');

    expect(accounts).toEqual([
      expect.objectContaining({ accountId: running().accountId, name: 'demo', xTokens: 1000 }),
    ]);
    expect((await demoCaller(running()).get('/v1/balance')).body).toMatchObject({ xTokens: 1000 });
    expect(await ops(running(), 'keys', 'list', '--account', running().accountId)).toEqual([
      expect.objectContaining({ label: 'demo', endUser: 'demo@example.com' }),
    ]);
  });
});

/** State before the stop. */
let before: { caller: Caller; entries: unknown; record: AnyRecord; bytes: Buffer };
let begun: AnyRecord[];

describe('Stopping', () => {
  beforeAll(async () => {
    caller = demoCaller(running());
    const { requestId } = await accepted(caller, { size: '512x512' });
    const record = await settled(caller, requestId);
    const { bytes } = await fetchFile(record.images?.[0]?.url);
    before = { caller, entries: await history(caller), record, bytes };
    begun = await createUnfinished();
  });

  test('with Ctrl-C exits with 0 and removes local.json', async () => {
    expect(await running().stop('SIGINT')).toBe(0);

    expect(existsSync(runFile())).toBe(false);
    await expect(fetch(running().baseUrl)).rejects.toThrow();
  });
});

describe('After a restart on the same data directory', () => {
  beforeAll(async () => {
    service = await startLocalService(dataDir, { context: { pollIntervalSeconds: 1 } });
    caller = demoCaller(service);
  });

  test('the key still opens the account, with its whole history', async () => {
    expect([caller.key, caller.accountId]).toEqual([before.caller.key, before.caller.accountId]);
    const known = before.entries as unknown[];
    expect((await history(caller)).slice(-known.length)).toEqual(known);
  });

  test('a record reads as before, with a freshly signed file URL', async () => {
    const record = await read(caller, before.record.requestId);

    const { images = [], ...rest } = record;
    const { images: imagesBefore = [], ...restBefore } = before.record;
    expect(rest).toEqual(restBefore);
    expect(images).toEqual([{ ...imagesBefore[0], url: expect.any(String) }]);
    const file = await fetchFile(images[0]?.url);
    expect(file.status).toBe(200);
    expect(file.bytes.equals(before.bytes)).toBe(true);
    expect(await measure(file)).toEqual({ format: 'png', size: '512x512' });
  });

  test('unfinished requests continue until they end, each paid or refunded once', async () => {
    await expectAllEnded(begun);
  });

  test('new requests are served', async () => {
    const { requestId } = await accepted(caller, { size: '512x512' });

    expect(await settled(caller, requestId)).toMatchObject({ status: 'succeeded', cost: 1 });
    expect(await balance(caller)).toBeLessThan(1000);
  });
});

describe('A start with --reset', () => {
  beforeAll(() => running().stop());

  test("removes the service's data, but no other file", async () => {
    const previous = running();
    const foreign = join(dataDir, 'mine.txt');
    await writeFile(foreign, 'kept');

    service = await startLocalService(dataDir, { reset: true });

    expect(service.accountId).not.toBe(previous.accountId);
    expect(refusal(await demoCaller(previous).get('/v1/balance'))).toEqual([401, 'unauthorized']);
    expect(await history(demoCaller(service))).toHaveLength(1);
    expect(existsSync(foreign)).toBe(true);
  });

  test('also stops with SIGTERM', async () => {
    expect(await running().stop('SIGTERM')).toBe(0);
    expect(existsSync(runFile())).toBe(false);
  });
});
