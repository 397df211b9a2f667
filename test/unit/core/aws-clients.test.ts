import { createServer, type Server, type Socket } from 'node:net';
import { ApplyGuardrailCommand, BedrockRuntimeClient } from '@aws-sdk/client-bedrock-runtime';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { CALL_LIMITS, type CallKind, clientOptions } from '../../../core/aws-clients.ts';
import { readSources } from '../architecture/source-graph.ts';
import { CALL_KINDS, longestCallMs } from '../builders/call-limits.ts';

describe('the clients of the service', () => {
  test('take their limits from the one table', () => {
    const clients = [...readSources('core', 'functions', 'providers', 'ops')].flatMap(([path, source]) =>
      [...source.matchAll(/new (\w+Client)\(\s*(?:\{\s*\.\.\.)?(?:clientOptions\('(\w+)'\))?/g)].map(
        ([, client, kind]) => [path, client, kind],
      ),
    );

    expect(clients).toEqual([
      ['core/concurrency/waiting-limits.ts', 'LambdaClient', 'invocations'],
      ['core/creation/guardrail.ts', 'BedrockRuntimeClient', 'contentFilter'],
      ['core/creation/invoke-measure-clips.ts', 'LambdaClient', 'measuring'],
      ['core/executions/executions.ts', 'SFNClient', 'stepFunctions'],
      ['core/executions/invoke-later.ts', 'LambdaClient', 'invocations'],
      ['core/files/bucket.ts', 'S3Client', 'files'],
      ['core/files/bucket.ts', 'S3Client', 'upload'],
      ['core/files/bucket.ts', 'S3Client', 'copy'],
      ['core/secrets.ts', 'SecretsManagerClient', 'secrets'],
      ['core/table/table.ts', 'DynamoDBClient', 'table'],
      ['functions/events/create-signing-key.ts', 'SecretsManagerClient', 'secrets'],
      ['functions/events/stop-executions.ts', 'CloudFormationClient', 'stack'],
      ['ops/actor.ts', 'STSClient', 'stack'],
      ['ops/restore/restored-table.ts', 'DynamoDBClient', 'stack'],
      ...['CloudWatchClient', 'SNSClient', 'LambdaClient', 'ServiceQuotasClient'].map((client) => [
        'ops/smoke/aws-account.ts',
        client,
        'stack',
      ]),
      ['ops/target.ts', 'CloudFormationClient', 'stack'],
    ]);
  });

  test('are made by no helper of a package', () => {
    const sources = [...readSources('core', 'functions', 'providers', 'ops')];
    const using = (pattern: RegExp) =>
      sources.filter(([, source]) => pattern.test(source)).map(([path]) => path);

    expect(using(/\bgetSecret\(|\bgetParameter/)).toEqual(['core/secrets.ts']);
    expect(using(/awsSdkV3Client: secretsManager/)).toEqual(['core/secrets.ts']);
    expect(using(/new NodeHttpHandler\((?!clientOptions\()/)).toEqual([]);
  });
});

describe('the limits', () => {
  // 27 s: where an API function stops waiting for its route.
  test.each(CALL_KINDS.filter((kind) => kind !== 'upload' && kind !== 'stack'))(
    'of %s keep a call, attempts and back-off included, inside the time of an API function',
    (kind) => {
      expect(longestCallMs(kind)).toBeLessThanOrEqual(27_000);
    },
  );

  test('of an upload keep a part inside a fourteenth of the 900 s that storing has', () => {
    expect(longestCallMs('upload')).toBeLessThanOrEqual(64_000);
  });
});

/** How much shorter the limits are here. */
const SPEEDUP = 25;

/** How often a server that never comes to the end of its answer sends a byte: it is never silent for long. */
const DRIP_MS = 10;

/**
 * A TCP server that counts connections, one for each request. It sends `begin`, the start of an answer, and then
 * falls silent. With `drips` it goes on byte by byte.
 */
class SilentServer {
  requests = 0;
  private readonly drips: NodeJS.Timeout[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  constructor(begin: string, drips = false) {
    this.server = createServer((socket) => {
      this.requests += 1;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', () => {
        if (begin !== '') socket.write(begin);
        if (drips) this.drips.push(setInterval(() => socket.writable && socket.write('-'), DRIP_MS));
      });
      socket.resume();
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get url(): string {
    const address = this.server.address();
    return typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
  }

  async close(): Promise<void> {
    for (const drip of this.drips) clearInterval(drip);
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

/** One call of each kind to an endpoint, under shortened limits. */
const CALLS: Record<CallKind, (endpoint: string) => Promise<unknown>> = {
  table: (endpoint) =>
    new DynamoDBClient({ ...clientOptions('table', SPEEDUP), endpoint }).send(
      new GetItemCommand({ TableName: 'table', Key: { PK: { S: 'a' } } }),
    ),
  stepFunctions: (endpoint) =>
    new SFNClient({ ...clientOptions('stepFunctions', SPEEDUP), endpoint }).send(
      new DescribeExecutionCommand({ executionArn: 'arn:aws:states:us-east-1:111122223333:execution:a:b' }),
    ),
  secrets: (endpoint) =>
    new SecretsManagerClient({ ...clientOptions('secrets', SPEEDUP), endpoint }).send(
      new GetSecretValueCommand({ SecretId: 'arn:secret' }),
    ),
  files: (endpoint) => s3('files', endpoint).send(new ListObjectsV2Command({ Bucket: 'bucket' })),
  upload: (endpoint) =>
    s3('upload', endpoint).send(
      new PutObjectCommand({ Bucket: 'bucket', Key: 'part', Body: Buffer.alloc(5 * 1024 * 1024) }),
    ),
  copy: (endpoint) =>
    s3('copy', endpoint).send(
      new PutObjectCommand({ Bucket: 'bucket', Key: 'part', Body: Buffer.alloc(5 * 1024 * 1024) }),
    ),
  contentFilter: (endpoint) => {
    const options = clientOptions('contentFilter', SPEEDUP);
    const requestHandler = new NodeHttpHandler(options.requestHandler);
    return new BedrockRuntimeClient({ ...options, requestHandler, endpoint }).send(
      new ApplyGuardrailCommand({
        guardrailIdentifier: 'guardrail',
        guardrailVersion: '1',
        source: 'INPUT',
        content: [{ text: { text: 'a lighthouse' } }],
      }),
    );
  },
  measuring: (endpoint) =>
    new LambdaClient({ ...clientOptions('measuring', SPEEDUP), endpoint }).send(
      new InvokeCommand({ FunctionName: 'measure-clips', Payload: '{}' }),
    ),
  invocations: (endpoint) =>
    new LambdaClient({ ...clientOptions('invocations', SPEEDUP), endpoint }).send(
      new InvokeCommand({ FunctionName: 'reconcile', InvocationType: 'Event', Payload: '{}' }),
    ),
  stack: (endpoint) =>
    new CloudFormationClient({ ...clientOptions('stack', SPEEDUP), endpoint }).send(
      new DescribeStacksCommand({ StackName: 'stack' }),
    ),
};
const s3 = (kind: CallKind, endpoint: string): S3Client =>
  new S3Client({ ...clientOptions(kind, SPEEDUP), endpoint, forcePathStyle: true });

beforeAll(async () => {
  // The first call of a client loads modules, which counts against its limits.
  const server = await new SilentServer('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n').start();
  await Promise.allSettled(CALL_KINDS.map((kind) => CALLS[kind](server.url)));
  await server.close();
});

/** Counts by how many milliseconds this process runs its timers late, until the returned function is called. */
const countLateness = (): (() => number) => {
  let [lateMs, tickedAt] = [0, performance.now()];
  const tick = (): void => {
    const now = performance.now();
    lateMs += Math.max(0, now - tickedAt - TICK_MS);
    tickedAt = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return () => {
    clearInterval(timer);
    tick();
    return lateMs;
  };
};
const TICK_MS = 20;

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n';

describe.each([
  ['accepts connections and never answers', '', false],
  ['begins an answer and falls silent', `${HEAD}{`, false],
  ['sends the head of its answer byte by byte', 'HTTP/1.1 200 OK\r\nServer: ', true],
])('a server that %s', (_, begin, drips) => {
  interface Outcome {
    error: unknown;
    milliseconds: number;
    requests: number;
  }
  const outcomes = new Map<CallKind, Outcome>();
  let lateMs = 0;
  beforeAll(async () => {
    const endLateness = countLateness();
    // All at once: the slowest takes as long as all.
    await Promise.all(
      CALL_KINDS.map(async (kind) => {
        const server = await new SilentServer(begin, drips).start();
        const startedAt = performance.now();
        const error = await CALLS[kind](server.url).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        const milliseconds = performance.now() - startedAt;
        outcomes.set(kind, { error, milliseconds, requests: server.requests });
        await server.close();
      }),
    );
    lateMs = endLateness();
  });

  test.each(CALL_KINDS)('is given up by %s after all its attempts, within its limits', (kind) => {
    const { maxAttempts, answerMs, silenceMs } = CALL_LIMITS[kind];
    const { error, milliseconds, requests } = outcomes.get(kind) as Outcome;

    expect(error).toMatchObject({ name: 'TimeoutError', $metadata: { attempts: maxAttempts } });
    expect(requests).toBe(maxAttempts);
    const backOffMs = 50 * (2 ** (maxAttempts - 1) - 1);
    const limitMs = (maxAttempts * (answerMs + silenceMs)) / SPEEDUP + backOffMs;
    // And half a second, as timers are not the only thing that is late on a busy machine.
    expect(milliseconds).toBeLessThan(limitMs + lateMs + 500);
  });
});

describe('a file that stops coming', () => {
  let server: SilentServer;
  beforeAll(async () => {
    server = await new SilentServer(`${HEAD}bytes`).start();
  });
  afterAll(() => server.close());

  test('is an error of its reader', async () => {
    const { Body } = await s3('files', server.url).send(
      new GetObjectCommand({ Bucket: 'bucket', Key: 'video' }),
    );

    await expect(Body?.transformToByteArray()).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
