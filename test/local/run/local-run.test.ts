import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxOptions } from '@generation-service/sandbox';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { namesOfProvider, PROVIDER_IDS, PROVIDERS } from '../../../core/provider-names.ts';
import { type LocalRun, type LocalRunParts, startLocalRun } from '../../../local/run.ts';
import { createFakes } from './a-local-run.ts';

const root = mkdtempSync(join(tmpdir(), 'local-run-'));
const runs: LocalRun[] = [];
let dataDir: string;
let fakes: ReturnType<typeof createFakes>;

const machineArn = (prefix: string) =>
  fakes.seen.stateMachines.find(({ name }) => name.startsWith(prefix))?.arn ?? `no machine ${prefix}`;

const start = async (
  options: Partial<Parameters<typeof startLocalRun>[0]> = {},
  parts: Partial<LocalRunParts> = {},
): Promise<LocalRun> => {
  const run = await startLocalRun(
    { port: 0, dataDir, environment: {}, ...options },
    { ...fakes.parts, ...parts },
  );
  runs.push(run);
  return run;
};

afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  dataDir = join(mkdtempSync(join(root, 'data-')), '.local');
  fakes = createFakes(dataDir);
});
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.close()));
});

describe('a local run', () => {
  test('starts its parts in order, and stops executions before their functions', async () => {
    const run = await start();
    await run.close();

    expect(fakes.story).toEqual([
      ...['sandbox', 'synthesis', 'endpoint', 'principals', 'state machines', 'account', 'schedules'],
      ...['schedules closed', 'endpoint closed', 'sandbox closed'],
    ]);
    for (const name of ['local.json', 'run.lock', 'starting'])
      expect(existsSync(join(dataDir, name))).toBe(false);
  });

  test("puts its addresses into the context; the caller's context wins", async () => {
    const run = await start({ context: { allowPrivateTargets: 'false', outputTtlSeconds: '60' } });

    expect(fakes.seen.context).toEqual({
      publicBaseUrl: run.baseUrl,
      deliveryBaseUrl: `${run.baseUrl}/files`,
      ...Object.fromEntries(
        PROVIDER_IDS.map((id) => [
          namesOfProvider(id).baseUrlContextKey,
          `http://127.0.0.1:9${PROVIDERS[id].sandboxPath}`,
        ]),
      ),
      modelRoutes: expect.objectContaining({ 'xW3.0sPro': expect.anything() }),
      allowPrivateTargets: 'false',
      console: 'true',
      outputTtlSeconds: '60',
    });
  });

  test('describes itself in local.json once it is ready', async () => {
    const run = await start();

    const { close, ...description } = run;
    expect(JSON.parse(readFileSync(join(dataDir, 'local.json'), 'utf8'))).toEqual(description);
    expect(description).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      consoleUrl: expect.stringMatching(`^${description.baseUrl}/console#operator=[\\w-]{32}$`),
      apiKey: 'gsk_1',
      accountId: 'acc_1',
      webhookSecret: 'whsec_1',
      awsEndpointUrl: 'http://127.0.0.1:8',
      tableName: fakes.seen.endpointOptions.tables[0]?.createTable.TableName,
      bucketName: fakes.seen.endpointOptions.buckets[0],
      stateMachines: {
        generation: machineArn('Flow'),
        expiry: machineArn('Expiry'),
        webhookDelivery: machineArn('WebhookDelivery'),
      },
      sandboxUrl: 'http://127.0.0.1:9',
      outputs: expect.objectContaining({ TableName: description.tableName }),
      pid: process.pid,
      operatorAccessKeyId: expect.stringMatching(/^AKIA[0-9A-F]{16}$/),
      operatorSecretAccessKey: expect.any(String),
    });
    expect(close).toEqual(expect.any(Function));
  });

  test('finds its account again at the next start, unless it is reset', async () => {
    const first = await start();
    await first.close();
    fakes = createFakes(dataDir);

    const second = await start();

    expect(fakes.story).not.toContain('account');
    expect(second.apiKey).toBe('gsk_1');
    await second.close();

    fakes = createFakes(dataDir);
    await start({ reset: true });
    expect(fakes.story).toContain('account');
  });

  test('takes its data directory for itself', async () => {
    await start();

    await expect(start()).rejects.toThrow(`A local run (process ${process.pid}) is using ${dataDir}`);
  });
});

describe('the keys of the providers', () => {
  const secretsNamed = () =>
    Object.fromEntries(
      fakes.seen.endpointOptions.secrets.map(({ name, initialValue }) => [
        name.replace(/-\w{12}$/, ''),
        initialValue,
      ]),
    );

  test('are those of the sandbox', async () => {
    await start();

    expect(secretsNamed()).toMatchObject({ 'service/model-studio-key': 'sandbox-key' });
    expect(Object.values(secretsNamed()).slice(0, 3)).toEqual(['sandbox-key', 'sandbox-key', undefined]);
  });

  test("are real ones where the environment has them, with the stack's own address", async () => {
    await start({ environment: { MODELSTUDIO_API_KEY: 'real-key' } });

    expect(Object.values(secretsNamed()).slice(0, 3)).toEqual(['sandbox-key', 'real-key', undefined]);
    expect(fakes.seen.context).toHaveProperty('modelArkBaseUrl');
    expect(fakes.seen.context).not.toHaveProperty('modelStudioBaseUrl');
  });

  test('start no sandbox when all are real', async () => {
    const keys = PROVIDER_IDS.map((id) => [namesOfProvider(id).keyVariable, 'a']);
    const run = await start({ environment: Object.fromEntries(keys) });

    expect(fakes.story).not.toContain('sandbox');
    expect(run.sandboxUrl).toBeNull();
  });

  test('are those of the sandbox when that is asked for, and the stack has none of its own', async () => {
    const run = await start({ context: { providers: 'sandbox', pauseSeconds: '5' } });

    expect(run.sandboxUrl).not.toBeNull();
    expect(fakes.seen.context).toHaveProperty('pauseSeconds', '5');
    expect(fakes.seen.context).not.toHaveProperty('providers');
  });

  test('cannot be the sandbox where the environment has real ones, nor anything else', async () => {
    const environment = { MODELARK_API_KEY: 'a' };

    await expect(start({ environment, context: { providers: 'sandbox' } })).rejects.toThrow(
      'The sandbox takes no real keys: unset MODELARK_API_KEY',
    );
    await expect(start({ context: { providers: 'fake' } })).rejects.toThrow('providers is real or sandbox');
    expect(fakes.story).toEqual([]);
  });

  test('replace those of an earlier run', async () => {
    fakes = createFakes(dataDir, 'kept-key');

    await start();

    expect(fakes.seen.secretsPut).toEqual([
      expect.objectContaining({
        SecretId: expect.stringMatching(/^ModelArkKey/),
        SecretString: 'sandbox-key',
      }),
      expect.objectContaining({ SecretId: 'service/model-studio-key', SecretString: 'sandbox-key' }),
    ]);
  });
});

describe('the sandbox', () => {
  const seenBySandbox = async (context: Record<string, unknown>) => {
    const given: SandboxOptions[] = [];
    const startSandbox: LocalRunParts['startSandbox'] = (options) => {
      given.push(options);
      return fakes.parts.startSandbox(options);
    };
    await start({ context, plainImages: true }, { startSandbox });
    return given;
  };

  test('takes as many calls and tasks at once as the context says, which the stack sees too', async () => {
    expect(await seenBySandbox({ sandboxMaxRunning: '5' })).toEqual([
      { port: 0, apiKey: 'sandbox-key', plainImages: true, maxRunning: 5, allowPrivateTargets: true },
    ]);
    expect(fakes.seen.context).toHaveProperty('sandboxMaxRunning', '5');
  });

  test.each([true, 'true', false, 'false'])(
    'fetches private addresses as allowPrivateTargets=%s says',
    async (given) => {
      expect(await seenBySandbox({ allowPrivateTargets: given })).toMatchObject([
        { allowPrivateTargets: String(given) === 'true' },
      ]);
    },
  );

  test.each([undefined, '', '0', '-1', '1.5', 'many'])(
    'takes any number where it says %j: a wrong value is the synthesis to refuse',
    async (sandboxMaxRunning) => {
      expect(await seenBySandbox({ sandboxMaxRunning })).toMatchObject([{ maxRunning: undefined }]);
    },
  );
});

describe('a start that fails', () => {
  const boom = () => Promise.reject(new Error('boom'));

  test.each<[string, Partial<LocalRunParts>, string[]]>([
    ['at the sandbox', { startSandbox: boom }, []],
    ['at the synthesis', { synthesize: boom }, ['sandbox closed']],
    ['at the endpoint', { startAwsEndpoint: boom }, ['sandbox closed']],
    [
      'at the account',
      { createFirstAccount: boom },
      ['schedules closed', 'endpoint closed', 'sandbox closed'],
    ],
  ])('%s stops what was started and releases the directory', async (_title, parts, closed) => {
    await expect(start({}, parts)).rejects.toThrow('boom');

    expect(fakes.story.filter((event) => event.endsWith('closed'))).toEqual(closed);
    expect(existsSync(join(dataDir, 'run.lock'))).toBe(false);
    expect(existsSync(join(dataDir, 'local.json'))).toBe(false);
    await start();
  });

  test('because it was aborted stops what was started', async () => {
    const giveUp = new AbortController();
    const startSandbox: LocalRunParts['startSandbox'] = async (options) => {
      giveUp.abort();
      return fakes.parts.startSandbox(options);
    };

    await expect(start({ signal: giveUp.signal }, { startSandbox })).rejects.toMatchObject({
      name: 'AbortError',
    });

    expect(fakes.story).toEqual(['sandbox', 'sandbox closed']);
  });
});
