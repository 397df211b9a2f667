import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type LocalRun, type LocalRunParts, startLocalRun } from '../../../../local/run.ts';
import type { AwsEndpoint, AwsEndpointOptions } from '../../src/aws/endpoint.ts';
import { createFaults } from '../../src/aws/faults.ts';
import { createEventBus } from '../../src/events/event-bus.ts';
import type { AwsEvent, Principal, RuleSpec, StateMachineSpec } from '../../src/types.ts';
import { synthesizeFixture } from './a-stack.ts';

const root = mkdtempSync(join(tmpdir(), 'run-'));
const assembly = join(root, 'cdk.out');
const runs: LocalRun[] = [];
let dataDir: string;
let fakes: ReturnType<typeof createFakes>;

/** Stand-ins that keep in `story` what happened to them, in order. */
const createFakes = (storedSecret?: string) => {
  const story: string[] = [];
  const seen = {
    context: {} as Record<string, unknown>,
    endpointOptions: {} as AwsEndpointOptions,
    principals: [] as Principal[],
    stateMachines: [] as StateMachineSpec[],
    publish: undefined as ((event: AwsEvent) => void) | undefined,
    rules: [] as RuleSpec[],
    secretsPut: [] as unknown[],
  };
  let server: Server | undefined;
  const publish = () => undefined;

  const endpointOf = (options: AwsEndpointOptions, url: string): AwsEndpoint => ({
    url,
    addPrincipals: (principals) => {
      story.push('principals');
      seen.principals.push(...principals);
    },
    startStateMachines: async (specs, _invoke, publish) => {
      story.push('state machines');
      seen.stateMachines.push(...specs);
      seen.publish = publish;
    },
    readObject: async (bucket, key) =>
      key === 'a.png'
        ? {
            body: Readable.from([Buffer.from(bucket)]),
            contentType: 'image/png',
            contentLength: bucket.length,
            etag: '"e"',
          }
        : undefined,
    readSecret: (name) =>
      storedSecret ?? options.secrets.find((secret) => secret.name === name)?.initialValue,
    calls: () => ({}),
    faults: createFaults(),
    close: async () => {
      story.push('endpoint closed');
      server?.close();
    },
  });

  const parts: LocalRunParts = {
    startSandbox: async () => {
      story.push('sandbox');
      return { url: 'http://127.0.0.1:9', close: async () => void story.push('sandbox closed') };
    },
    synthesize: async (outputDirectory, context) => {
      story.push('synthesis');
      seen.context = context;
      mkdirSync(outputDirectory, { recursive: true });
      // The fixture is synthesized once; a context of its own changes only its URLs.
      for (const name of ['manifest.json', 'Fixture.template.json', 'Fixture.assets.json']) {
        const text = readFileSync(join(assembly, name), 'utf8').replaceAll('"asset.', `"${assembly}/asset.`);
        writeFileSync(join(outputDirectory, name), text);
      }
    },
    startAwsEndpoint: async (options) => {
      story.push('endpoint');
      seen.endpointOptions = options;
      server = createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        seen.secretsPut.push(JSON.parse(Buffer.concat(chunks).toString()));
        response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end('{}');
      });
      await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
      return endpointOf(options, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    },
    createFirstAccount: async (directory) => {
      story.push('account');
      expect(JSON.parse(readFileSync(join(directory, 'local.json'), 'utf8'))).toMatchObject({
        pid: process.pid,
        operatorAccessKeyId: expect.stringMatching(/^AKIA/),
        awsEndpointUrl: expect.stringMatching(/^http/),
      });
      expect(existsSync(join(dataDir, 'local.json'))).toBe(false);
      return { accountId: 'acc_1', apiKey: 'gsk_1', webhookSecret: 'whsec_1' };
    },
    createEventBus: ({ rules }) => {
      seen.rules.push(...rules);
      return { publish, start: () => story.push('schedules'), close: () => story.push('schedules closed') };
    },
  };
  return { story, seen, parts, publish };
};

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

beforeAll(() => synthesizeFixture(assembly), 60_000);
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  dataDir = join(mkdtempSync(join(root, 'data-')), '.local');
  fakes = createFakes();
});
afterEach(async () => {
  await Promise.all(runs.splice(0).map((run) => run.close()));
});

describe('a local run', () => {
  test('starts its parts in order, and stops them so that no execution takes the stop for a failure', async () => {
    const run = await start();
    await run.close();

    expect(fakes.story).toEqual([
      ...['sandbox', 'synthesis', 'endpoint', 'principals', 'state machines', 'account', 'schedules'],
      ...['schedules closed', 'endpoint closed', 'sandbox closed'],
    ]);
    for (const name of ['local.json', 'run.lock', 'starting'])
      expect(existsSync(join(dataDir, name))).toBe(false);
  });

  test('gives the stack its own addresses, and lets the caller decide over them', async () => {
    const run = await start({ context: { allowPrivateTargets: 'false', outputTtlSeconds: '60' } });

    expect(fakes.seen.context).toEqual({
      publicBaseUrl: run.baseUrl,
      deliveryBaseUrl: `${run.baseUrl}/files`,
      modelArkBaseUrl: 'http://127.0.0.1:9/api/v3',
      modelStudioBaseUrl: 'http://127.0.0.1:9',
      modelRoutes: expect.objectContaining({ 'xW3.0sPro': expect.anything() }),
      allowPrivateTargets: 'false',
      outputTtlSeconds: '60',
    });
  });

  test('describes itself in local.json once it is ready', async () => {
    const run = await start();

    const { endpoint, close, ...description } = run;
    expect(JSON.parse(readFileSync(join(dataDir, 'local.json'), 'utf8'))).toEqual(description);
    expect(description).toEqual({
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: 'gsk_1',
      accountId: 'acc_1',
      webhookSecret: 'whsec_1',
      awsEndpointUrl: endpoint.url,
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

  test("hands the stack's rules to a bus, and to it what executions announce", async () => {
    await start();

    expect(fakes.seen.rules.map(({ name }) => name.replace(/[0-9A-F]{8}$/, ''))).toEqual([
      'Sweep',
      'ExecutionEnded',
    ]);
    expect(fakes.seen.publish).toBe(fakes.publish);
  });

  test('runs the function of a rule with a rate once it is ready, and that of a pattern on an event', async () => {
    const ran: unknown[] = [];
    const heard = Promise.withResolvers<void>();
    await start(
      {},
      {
        createEventBus: ({ rules, invoke }) =>
          createEventBus({
            rules,
            invoke: async (functionArn, payload) => {
              const result = await invoke(functionArn, payload);
              ran.push((result.payload as { body: string }).body);
              if (ran.length === 2) heard.resolve();
              return result;
            },
          }),
      },
    );
    const detail = { status: 'FAILED', stateMachineArn: machineArn('Flow') };

    fakes.seen.publish?.({
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail,
    } as unknown as AwsEvent);
    await heard.promise;

    expect(ran.map((body) => JSON.parse(String(body)).event)).toEqual(
      expect.arrayContaining([{ sweep: true }, expect.objectContaining({ detail })]),
    );
  });

  test('knows the operator, who may do everything, and the roles', async () => {
    const run = await start();

    expect(fakes.seen.principals[0]).toEqual({ name: 'operator', accessKeyId: run.operatorAccessKeyId });
    expect(fakes.seen.principals.map(({ name }) => name.replace(/[0-9A-F]{8}$/, ''))).toEqual([
      ...['operator', 'MakeKeyPair', 'Echo', 'Flow', 'Expiry', 'WebhookDelivery'],
    ]);
  });

  test('runs the functions behind its routes and answers unknown ones as the template says', async () => {
    const run = await start();

    const response = await fetch(`${run.baseUrl}/v1/things/7`);
    const { event, environment } = (await response.json()) as Record<string, Record<string, unknown>>;

    expect(event).toMatchObject({ resource: '/v1/things/{thingId}', pathParameters: { thingId: '7' } });
    expect(environment).toMatchObject({ AWS_ENDPOINT_URL: run.awsEndpointUrl, TABLE_NAME: run.tableName });
    expect(environment?.AWS_ACCESS_KEY_ID).not.toBe(run.operatorAccessKeyId);
    expect((await fetch(`${run.baseUrl}/v1/other`)).status).toBe(404);
    expect((await fetch(`${run.baseUrl}/v1/things`, { method: 'PUT' })).status).toBe(405);
  });

  test('refuses unsigned files, by the key that the custom resource made', async () => {
    const run = await start();
    const { environment } = (await (await fetch(`${run.baseUrl}/v1/things`)).json()) as {
      environment: Record<string, string>;
    };
    expect(environment.PUBLIC_KEY).toContain('BEGIN PUBLIC KEY');

    const file = await fetch(`${run.baseUrl}/files/a.png`);

    expect(file.status).toBe(403);
    expect(await file.text()).toContain('<Code>MissingKey</Code>');
  });

  test('finds its account and its key pair again at the next start', async () => {
    const first = await start();
    const key = async (run: LocalRun) => {
      const { environment } = (await (await fetch(`${run.baseUrl}/v1/things`)).json()) as {
        environment: Record<string, string>;
      };
      return environment.PUBLIC_KEY;
    };
    const firstKey = await key(first);
    await first.close();
    fakes = createFakes();

    const second = await start();

    expect(fakes.story).not.toContain('account');
    expect(second.apiKey).toBe('gsk_1');
    expect(await key(second)).toBe(firstKey);
    await second.close();

    fakes = createFakes();
    await start({ reset: true });
    expect(fakes.story).toContain('account');
  });

  test('belongs to one data directory alone', async () => {
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

  test('are real ones where the environment has them, and then the stack keeps its own address', async () => {
    await start({ environment: { MODELSTUDIO_API_KEY: 'real-key' } });

    expect(Object.values(secretsNamed()).slice(0, 3)).toEqual(['sandbox-key', 'real-key', undefined]);
    expect(fakes.seen.context).toHaveProperty('modelArkBaseUrl');
    expect(fakes.seen.context).not.toHaveProperty('modelStudioBaseUrl');
  });

  test('need no sandbox when all are real', async () => {
    const run = await start({ environment: { MODELSTUDIO_API_KEY: 'a', MODELARK_API_KEY: 'b' } });

    expect(fakes.story).not.toContain('sandbox');
    expect(run.sandboxUrl).toBeNull();
  });

  test('replace what an earlier run kept', async () => {
    fakes = createFakes('kept-key');

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

describe('a start that fails', () => {
  test.each<[string, Partial<LocalRunParts>, string[]]>([
    ['at the sandbox', { startSandbox: () => Promise.reject(new Error('boom')) }, []],
    ['at the synthesis', { synthesize: () => Promise.reject(new Error('boom')) }, ['sandbox closed']],
    ['at the endpoint', { startAwsEndpoint: () => Promise.reject(new Error('boom')) }, ['sandbox closed']],
    [
      'at the account',
      { createFirstAccount: () => Promise.reject(new Error('boom')) },
      ['schedules closed', 'endpoint closed', 'sandbox closed'],
    ],
  ])('%s stops what was started and gives the directory free', async (_title, parts, closed) => {
    await expect(start({}, parts)).rejects.toThrow('boom');

    expect(fakes.story.filter((event) => event.endsWith('closed'))).toEqual(closed);
    expect(existsSync(join(dataDir, 'run.lock'))).toBe(false);
    expect(existsSync(join(dataDir, 'local.json'))).toBe(false);
    await start();
  });

  test('because it was given up ends as well', async () => {
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

describe('the command', () => {
  const command = (...args: string[]) =>
    spawnSync(
      process.execPath,
      [fileURLToPath(new URL('../../../../local/start.ts', import.meta.url)), ...args],
      {
        encoding: 'utf8',
      },
    );

  test.each<[string, string[]]>([
    ['a port that is none', ['--port', '99999']],
    ['context without a value', ['-c', 'outputTtlSeconds']],
    ['an unknown option', ['--colour']],
  ])('refuses %s', (_title, args) => {
    const { status, stderr } = command(...args);

    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: .+\n$/);
  });

  test('says in one line that another run has the data directory', () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'local.json'), JSON.stringify({ pid: process.pid }));

    const { status, stdout, stderr } = command('--data-dir', dataDir, '--port', '0');

    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^The local run did not start: A local run \(process \d+\) is using .+\n$/);
  });
});
