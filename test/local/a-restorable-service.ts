import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AwsEndpoint, startAwsEndpoint } from '@generation-service/local-aws/endpoint';
import { LISTING_INDEX, PRIMARY_KEY, REQUEST_INDEXES, TTL_ATTRIBUTE } from '../../core/table/keys.ts';
import { type Outcome, runCommand } from '../unit/ops/run-command.ts';
import { OPERATOR, TABLE_NAME, writeLocalRun } from './a-service.ts';

const REGION = 'us-east-1';
const ACCOUNT = '000000000000';
const BUCKET = 'the-bucket';
const machineArn = (name: string): string => `arn:aws:states:${REGION}:${ACCOUNT}:stateMachine:${name}`;
const MACHINES = { generation: machineArn('generation'), webhooks: machineArn('webhook-delivery') };

/** An execution that is named `waits` waits, any other ends at once. */
const DEFINITION = {
  StartAt: 'Is it to wait',
  States: {
    'Is it to wait': {
      Type: 'Choice',
      Choices: [{ Variable: '$$.Execution.Name', StringEquals: 'waits', Next: 'Wait' }],
      Default: 'Done',
    },
    Wait: { Type: 'Wait', Seconds: 600, Next: 'Done' },
    Done: { Type: 'Succeed' },
  },
};

/** A service whose table can be restored: an AWS endpoint with the table of the stack, and the command line acting on it. */
interface ARestorableService {
  generation: string;
  /** What each command after `text` is told to act on. */
  ops(...args: string[]): Promise<Outcome>;
  /** Runs a command that must succeed; returns its `--json` value. */
  json<T = unknown>(...args: string[]): Promise<T>;
  stop(): Promise<void>;
}

const tableSpec = () => {
  const indexes = [LISTING_INDEX, ...Object.values(REQUEST_INDEXES)].map((index) => ({
    IndexName: index.name,
    KeySchema: [
      { AttributeName: index.partition, KeyType: 'HASH' },
      { AttributeName: 'sort' in index ? index.sort : PRIMARY_KEY.partition, KeyType: 'RANGE' },
    ],
    Projection: { ProjectionType: 'ALL' },
  }));
  const keys = [
    { AttributeName: PRIMARY_KEY.partition, KeyType: 'HASH' },
    { AttributeName: PRIMARY_KEY.sort, KeyType: 'RANGE' },
  ];
  const named = [keys, ...indexes.map(({ KeySchema }) => KeySchema)].flat();
  const names = new Set(named.map(({ AttributeName }) => AttributeName));
  return {
    ttlAttribute: TTL_ATTRIBUTE,
    pointInTimeRecovery: true,
    createTable: {
      TableName: TABLE_NAME,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [...names].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      KeySchema: keys,
      GlobalSecondaryIndexes: indexes,
    },
  };
};

/** Starts the service, and points this process' AWS clients at it, which keep the address. */
export const startRestorableService = async (): Promise<ARestorableService> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'restore-'));
  const endpoint: AwsEndpoint = await startAwsEndpoint({
    dataDir,
    port: 0,
    region: REGION,
    accountId: ACCOUNT,
    tables: [tableSpec()],
    buckets: [BUCKET],
    secrets: [],
  });
  endpoint.addPrincipals([{ name: 'operator', accessKeyId: OPERATOR.accessKeyId }]);
  const machines = Object.values(MACHINES).map((arn) => {
    const name = arn.split(':').at(-1) ?? '';
    const principal = { name, accessKeyId: `AKIA${name}` };
    return { arn, name, definition: JSON.stringify(DEFINITION), roleName: name, principal };
  });
  await endpoint.startStateMachines(machines, () => Promise.reject(new Error('There is no function.')));
  const outputs = {
    TableName: TABLE_NAME,
    BucketName: BUCKET,
    GenerationStateMachineArn: MACHINES.generation,
    WebhookDeliveryStateMachineArn: MACHINES.webhooks,
    ModelRoutes: '{}',
  };
  await writeLocalRun(dataDir, endpoint.url, { outputs });
  Object.assign(process.env, {
    AWS_ENDPOINT_URL: endpoint.url,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: OPERATOR.accessKeyId,
    AWS_SECRET_ACCESS_KEY: OPERATOR.secretAccessKey,
    TABLE_NAME,
    BUCKET_NAME: BUCKET,
    GENERATION_STATE_MACHINE_ARN: MACHINES.generation,
    WEBHOOK_DELIVERY_STATE_MACHINE_ARN: MACHINES.webhooks,
  });
  const ops = (...args: string[]) => runCommand(...args, '--data-dir', dataDir);
  return {
    generation: MACHINES.generation,
    ops,
    async json<T>(...args: string[]): Promise<T> {
      const { status, stdout, stderr } = await ops(...args, '--json');
      if (status !== 0 || stderr !== '') throw new Error(`${args.join(' ')}: ${status} ${stderr}`);
      return JSON.parse(stdout) as T;
    },
    async stop() {
      await endpoint.close();
      rmSync(dataDir, { recursive: true });
    },
  };
};
