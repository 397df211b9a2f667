import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import {
  createDynamoDbClient,
  type DynamoDbClient,
  startDynoxide,
} from '@generation-service/local-aws/dynamodb';
import {
  LISTING_INDEX,
  PRIMARY_KEY,
  REQUEST_INDEX_ATTRIBUTES,
  REQUEST_INDEXES,
} from '../../core/table/keys.ts';
import { runCommand } from '../unit/ops/run-command.ts';

const MAIN = fileURLToPath(new URL('../../ops/main.ts', import.meta.url));
/** The table of every service. */
export const TABLE_NAME = 'the-table';
/** The operator's AWS key on the local run. */
export const OPERATOR = { accessKeyId: 'OPERATORKEY', secretAccessKey: 'operator-secret' };

/** The outcome of a command. */
export interface Outcome {
  status: number;
  stdout: string;
  stderr: string;
}

/** An AWS endpoint with a table, secrets and stacks, and the command line acting on it. */
export interface AService {
  endpointUrl: string;
  /** Folder of this service's `local.json`. */
  dataDirectory: string;
  /** Names of the secrets with a value. */
  filledSecrets: Set<string>;
  /** Outputs of the deployed stacks, by stack name. */
  stacks: Map<string, Record<string, string>>;
  /** Access keys that signed calls. */
  callers: Set<string>;
  /** Number of DynamoDB calls, by operation. */
  calls: Map<string, number>;
  dynamoDb: DynamoDbClient;
  /**
   * Runs a command on this service, in this process. The AWS clients keep the endpoint, and `core` its list of credentials, from
   * the first command: a test that changes either needs `runProcess`.
   */
  ops(...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed, in this process; returns its `--json` value. */
  json<T = unknown>(...args: string[]): Promise<T>;
  stop(): Promise<void>;
}

/** This process's environment, with no AWS settings but those in `settings`. */
const environmentWith = (settings: Record<string, string | undefined>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('AWS_'))),
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  ...settings,
});

/** Runs a command in a process of its own, with no AWS settings but those in `environment`. */
export const runProcess = (
  args: readonly string[],
  environment: Record<string, string | undefined> = {},
  cwd?: string,
): Promise<Outcome> =>
  new Promise((resolve) => {
    const env = environmentWith(environment);
    execFile(process.execPath, [MAIN, ...args], { env, cwd }, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr });
    });
  });

/** Starts a command that goes on until it is told to end, in such a process. */
export const startProcess = (
  args: readonly string[],
  environment: Record<string, string | undefined> = {},
): ChildProcess => {
  const env = environmentWith(environment);
  return spawn(process.execPath, [MAIN, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
};

/** Model routes of every service. */
const ROUTES = {
  'xSD4.5': { provider: 'modelark', upstreamModel: 'one' },
  xQI3Pro: { provider: 'modelstudio', upstreamModel: 'two' },
};

const outputsOf = (): Record<string, string> => ({
  TableName: TABLE_NAME,
  BucketName: 'the-bucket',
  BaseUrl: 'https://api.example.com',
  ReferenceUrl: 'https://files.example.com/docs',
  ModelRoutes: JSON.stringify(ROUTES),
  ModelArkBaseUrl: 'https://ark.example.com/api/v3',
  ModelStudioBaseUrl: 'https://studio.example.com',
  ModelArkSecretName: 'ark-key',
  ModelStudioSecretName: 'studio-key',
  FalBaseUrl: 'https://fal.example.com',
  FalSecretName: 'fal-key',
});

/** Starts a service with an empty table. Its stack `Deployed` has the same outputs as its local run. */
export const startService = async (): Promise<AService> => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'ops-'));
  const engine = await startDynoxide(join(dataDirectory, 'dynamodb.sqlite'));
  const dynamoDb = createDynamoDbClient(engine.url);
  await createTable(dynamoDb);
  const state = {
    filledSecrets: new Set(['ark-key', 'studio-key']),
    stacks: new Map([['Deployed', outputsOf()]]),
    callers: new Set<string>(),
    calls: new Map<string, number>(),
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const caller = /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1];
    state.callers.add(caller ?? 'nobody');
    const [service, operation = ''] = String(request.headers['x-amz-target'] ?? '').split('.');
    if (service === 'DynamoDB_20120810') {
      state.calls.set(operation, (state.calls.get(operation) ?? 0) + 1);
      const answer = await dynamoDb.forward(operation, body);
      response.writeHead(answer.status, answer.headers).end(answer.body);
      return;
    }
    if (service === 'secretsmanager') return describeSecret(JSON.parse(body).SecretId, response);
    const query = new URLSearchParams(body);
    if (query.get('Action') === 'GetCallerIdentity') {
      response.writeHead(200, { 'content-type': 'text/xml' }).end(identityXml(caller));
      return;
    }
    return describeStacks(query, response);
  };
  const describeSecret = (id: string, response: ServerResponse): void => {
    const filled = state.filledSecrets.has(id);
    const secret = { Name: id, VersionIdsToStages: filled ? { 1: ['AWSCURRENT'] } : {} };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(secret));
  };
  const describeStacks = (query: URLSearchParams, response: ServerResponse): void => {
    const name = query.get('StackName') ?? '';
    const outputs = state.stacks.get(name);
    response.writeHead(outputs ? 200 : 400, { 'content-type': 'text/xml' });
    response.end(outputs ? stackXml(name, outputs) : missingStackXml(name));
  };

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await writeLocalRun(dataDirectory, endpointUrl);

  const ops = (...args: string[]) => runCommand(...args, '--data-dir', dataDirectory);
  return {
    ...state,
    endpointUrl,
    dataDirectory,
    dynamoDb,
    ops,
    async json<T>(...args: string[]): Promise<T> {
      const { status, stdout, stderr } = await ops(...args, '--json');
      if (status !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${status} ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      dynamoDb.close();
      await engine.stop();
      await rm(dataDirectory, { recursive: true });
    },
  };
};

/** Writes a `local.json` with this process's id into a folder. */
export const writeLocalRun = (
  directory: string,
  endpointUrl: string,
  changes: Record<string, unknown> = {},
): Promise<void> =>
  writeFile(
    join(directory, 'local.json'),
    JSON.stringify({
      awsEndpointUrl: endpointUrl,
      tableName: TABLE_NAME,
      pid: process.pid,
      operatorAccessKeyId: OPERATOR.accessKeyId,
      operatorSecretAccessKey: OPERATOR.secretAccessKey,
      outputs: outputsOf(),
      ...changes,
    }),
  );

const createTable = async (dynamoDb: DynamoDbClient): Promise<void> => {
  const schemaOf = ({ partition, sort }: { partition: string; sort: string }) => [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ];
  const requestIndexes = Object.values(REQUEST_INDEXES).map((index) => ({
    ...index,
    sort: PRIMARY_KEY.partition,
  }));
  const names = [PRIMARY_KEY, LISTING_INDEX, ...requestIndexes].flatMap(({ partition, sort }) => [
    partition,
    sort,
  ]);
  await dynamoDb.call('CreateTable', {
    TableName: TABLE_NAME,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [...new Set(names)].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: schemaOf(PRIMARY_KEY),
    GlobalSecondaryIndexes: [
      {
        IndexName: LISTING_INDEX.name,
        KeySchema: schemaOf(LISTING_INDEX),
        Projection: { ProjectionType: 'ALL' },
      },
      ...requestIndexes.map((index) => ({
        IndexName: index.name,
        KeySchema: schemaOf(index),
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: REQUEST_INDEX_ATTRIBUTES },
      })),
    ],
  });
};

const xmlText = (value: string): string => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** The identity behind an access key. */
export const identityOf = (accessKeyId: string): string => `arn:aws:iam::111122223333:user/${accessKeyId}`;

const identityXml = (accessKeyId = 'nobody'): string =>
  `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
    <Arn>${identityOf(accessKeyId)}</Arn></GetCallerIdentityResult></GetCallerIdentityResponse>`;

const stackXml = (name: string, outputs: Record<string, string>): string => {
  const members = Object.entries(outputs).map(
    ([key, value]) =>
      `<member><OutputKey>${key}</OutputKey><OutputValue>${xmlText(value)}</OutputValue></member>`,
  );
  return `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
    <StackName>${xmlText(name)}</StackName><CreationTime>2026-01-01T00:00:00Z</CreationTime><StackStatus>CREATE_COMPLETE</StackStatus>
    <Outputs>${members.join('')}</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`;
};

const missingStackXml = (name: string): string =>
  `<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type><Code>ValidationError</Code>
    <Message>Stack with id ${xmlText(name)} does not exist</Message></Error></ErrorResponse>`;
