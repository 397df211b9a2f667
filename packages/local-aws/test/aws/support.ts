import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { SFNClient } from '@aws-sdk/client-sfn';

import { type AwsEndpoint, type AwsEndpointOptions, startAwsEndpoint } from '../../src/aws/endpoint.ts';
import type {
  InvocationResult,
  InvokeFunction,
  PolicyStatement,
  Principal,
  StateMachineSpec,
  TableSpec,
} from '../../src/types.ts';

export const REGION = 'us-east-1';
export const ACCOUNT = '000000000000';
export const TABLE = 'service-table';
export const TABLE_ARN = `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${TABLE}`;
export const BUCKET = 'outputs-bucket';
export const machineArn = (name: string) => `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`;
export const executionArn = (machine: string, name: string) =>
  `arn:aws:states:${REGION}:${ACCOUNT}:execution:${machine}:${name}`;
export const functionArn = (name: string) => `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}`;

/** The caller that may do everything. */
export const OPERATOR: Principal = { name: 'operator', accessKeyId: 'AKIAOPERATOR' };

/** A caller with these statements. */
export const aPrincipal = (name: string, ...statements: PolicyStatement[]): Principal => ({
  name,
  accessKeyId: `AKIA${name.toUpperCase()}`,
  statements,
});

/** A statement that allows these actions. */
export const allow = (actions: string[], ...resources: string[]): PolicyStatement => ({
  effect: 'Allow',
  actions,
  resources,
});

const key = (name: string, type = 'S') => ({ AttributeName: name, AttributeType: type });

export const TABLES: TableSpec[] = [
  {
    ttlAttribute: 'ttl',
    createTable: {
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [key('PK'), key('SK'), key('GSI1PK'), key('GSI1SK')],
      KeySchema: [
        { AttributeName: 'PK', KeyType: 'HASH' },
        { AttributeName: 'SK', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'GSI1',
          KeySchema: [
            { AttributeName: 'GSI1PK', KeyType: 'HASH' },
            { AttributeName: 'GSI1SK', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    },
  },
];

export const aDirectory = (): string => mkdtempSync(join(tmpdir(), 'aws-endpoint-'));

/** Options of an endpoint in a directory of its own. */
export const endpointOptions = (changes: Partial<AwsEndpointOptions> = {}): AwsEndpointOptions => ({
  dataDir: changes.dataDir ?? aDirectory(),
  port: 0,
  region: REGION,
  accountId: ACCOUNT,
  tables: TABLES,
  buckets: [BUCKET],
  secrets: [],
  ...changes,
});

/** Options for tests that call no table: no engine is started, and nobody calls the one that is named. */
export const NO_TABLES = {
  tables: [],
  dynamodbEndpoint: 'http://127.0.0.1:9',
} satisfies Partial<AwsEndpointOptions>;

/** Starts an endpoint with the operator as a caller. */
export const startEndpoint = async (options: AwsEndpointOptions): Promise<AwsEndpoint> => {
  const endpoint = await startAwsEndpoint(options);
  endpoint.addPrincipals([OPERATOR]);
  return endpoint;
};

export const removeDirectory = (directory: string): void =>
  rmSync(directory, { recursive: true, force: true });

/** SDK clients of one caller, configured like the functions' own. */
export const clientsOf = (endpoint: Pick<AwsEndpoint, 'url'>, { accessKeyId } = OPERATOR) => {
  const settings = {
    endpoint: endpoint.url,
    region: REGION,
    credentials: { accessKeyId, secretAccessKey: 'secret' },
    maxAttempts: 1,
  };
  return {
    dynamodb: new DynamoDBClient(settings),
    s3: new S3Client({ ...settings, requestChecksumCalculation: 'WHEN_REQUIRED' }),
    sfn: new SFNClient(settings),
    secrets: new SecretsManagerClient(settings),
    settings,
  };
};

/** A state machine. By default its role may do everything. */
export const aMachine = (
  name: string,
  definition: unknown,
  changes: Partial<StateMachineSpec> = {},
): StateMachineSpec => ({
  arn: machineArn(name),
  name,
  definition: JSON.stringify(definition),
  roleName: `${name}-role`,
  principal: { name: `${name}-machine`, accessKeyId: `AKIA${name.toUpperCase()}` },
  ...changes,
});

type Handler = (payload: never) => unknown;

/** Invokes functions by name as Lambda does: a thrown error is the function's failure. */
export const invoker =
  (handlers: Record<string, Handler>): InvokeFunction =>
  async (arn, payload): Promise<InvocationResult> => {
    const handler = handlers[arn.split(':').at(-1) ?? ''];
    if (!handler) {
      throw Object.assign(new Error(`Function not found: ${arn}`), { name: 'ResourceNotFoundException' });
    }
    try {
      return { payload: await handler(payload as never) };
    } catch (error) {
      const { name, message } = error as Error;
      return {
        functionError: 'Unhandled',
        payload: { errorType: name, errorMessage: message, stackTrace: [] },
      };
    }
  };

/** An error as a function throws it. */
export const failure = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** Repeats `ask` until its answer passes; fails after a minute. */
export const eventually = async <T>(
  ask: () => Promise<T> | T,
  isWanted: (answer: T) => boolean,
): Promise<T> => {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > giveUpAt) throw new Error(`still ${JSON.stringify(answer)} after a minute`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

/** The rejection of a promise. */
export const rejectionOf = async (promise: Promise<unknown>): Promise<Error & Record<string, unknown>> => {
  try {
    await promise;
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error('it was not rejected');
};

/** The ARN of a secret of this name. */
export const secretArn = (name: string) =>
  `arn:aws:secretsmanager:${REGION}:${ACCOUNT}:secret:${name}-AbCdEf`;

/** A secret of the template, with or without a first value. */
export const secret = (name: string, initialValue?: string) => ({
  name,
  arn: secretArn(name),
  ...(initialValue !== undefined && { initialValue }),
});
