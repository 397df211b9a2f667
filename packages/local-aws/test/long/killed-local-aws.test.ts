import { GetItemCommand, PutItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { DescribeExecutionCommand, StartExecutionCommand } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, test } from '@jest/globals';

import { armFault } from '../../src/aws/fault-control.ts';
import type { Fault } from '../../src/aws/faults.ts';
import { type EndpointProcess, startEndpointProcess } from '../aws/an-endpoint-process.ts';
import {
  aDirectory,
  BUCKET,
  clientsOf,
  executionArn,
  machineArn,
  OPERATOR,
  removeDirectory,
  TABLE,
} from '../aws/support.ts';

const directories: string[] = [];
const processes: EndpointProcess[] = [];
afterEach(async () => {
  for (const running of processes.splice(0)) {
    running.kill();
    await running.ended;
  }
  for (const directory of directories.splice(0)) removeDirectory(directory);
});
const newDirectory = () => {
  const directory = aDirectory();
  directories.push(directory);
  return directory;
};
const startProcess = async (dataDir: string) => {
  const started = await startEndpointProcess(dataDir);
  processes.push(started);
  return started;
};
const arm = ({ url }: EndpointProcess, fault: Fault) =>
  armFault({ awsEndpointUrl: url, operatorAccessKeyId: OPERATOR.accessKeyId }, fault);

type Clients = ReturnType<typeof clientsOf>;
const keyOf = (PK: string) => ({ PK: { S: PK }, SK: { S: 'x' } });

/** One change per service, and a check whether it happened. */
const CHANGES = {
  'dynamodb:PutItem': {
    make: ({ dynamodb }: Clients, id: string) =>
      dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf(`put-${id}`) })),
    isThere: async ({ dynamodb }: Clients, id: string) =>
      (await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf(`put-${id}`) }))).Item !==
      undefined,
  },
  'dynamodb:TransactWriteItems': {
    make: ({ dynamodb }: Clients, id: string) =>
      dynamodb.send(
        new TransactWriteItemsCommand({
          TransactItems: ['one', 'two'].map((part) => ({
            Put: { TableName: TABLE, Item: keyOf(`${part}-${id}`) },
          })),
        }),
      ),
    isThere: async ({ dynamodb }: Clients, id: string) => {
      const parts = await Promise.all(
        ['one', 'two'].map((part) =>
          dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf(`${part}-${id}`) })),
        ),
      );
      const [first, second] = parts.map(({ Item }) => Item !== undefined);
      if (first !== second) throw new Error(`half of transaction ${id} is there`);
      return first === true;
    },
  },
  'states:StartExecution': {
    make: ({ sfn }: Clients, id: string) =>
      sfn.send(
        new StartExecutionCommand({ stateMachineArn: machineArn('work'), name: id, input: `{"id":"${id}"}` }),
      ),
    isThere: async ({ sfn }: Clients, id: string) => {
      try {
        const found = await sfn.send(
          new DescribeExecutionCommand({ executionArn: executionArn('work', id) }),
        );
        return found.status === 'RUNNING' && found.input === `{"id":"${id}"}`;
      } catch (error) {
        if ((error as Error).name === 'ExecutionDoesNotExist') return false;
        throw error;
      }
    },
  },
  's3:PutObject': {
    make: ({ s3 }: Clients, id: string) =>
      s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: `files/${id}`, Body: `file ${id}` })),
    isThere: async ({ s3 }: Clients, id: string) => {
      try {
        const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: `files/${id}` }));
        return (await Body?.transformToString()) === `file ${id}`;
      } catch (error) {
        if ((error as Error).name === 'NoSuchKey') return false;
        throw error;
      }
    },
  },
  'secretsmanager:PutSecretValue': {
    make: ({ secrets }: Clients, id: string) =>
      secrets.send(new PutSecretValueCommand({ SecretId: 'key', SecretString: id })),
    isThere: async ({ secrets }: Clients, id: string) =>
      (await secrets.send(new GetSecretValueCommand({ SecretId: 'key' }))).SecretString === id,
  },
};
const CALLS = Object.entries(CHANGES);

describe('a kill', () => {
  test.each(CALLS)('right before %s leaves no trace of it', async (call, { make, isThere }) => {
    const dataDir = newDirectory();
    const killed = await startProcess(dataDir);
    await arm(killed, { call, effect: 'kill-before' });

    await expect(make(clientsOf(killed), 'lost')).rejects.toThrow();

    expect(await killed.ended).toBe('SIGKILL');
    const next = await startProcess(dataDir);
    expect(await isThere(clientsOf(next), 'lost')).toBe(false);
    await make(clientsOf(next), 'lost');
    expect(await isThere(clientsOf(next), 'lost')).toBe(true);
  });

  test.each(CALLS)('right after %s keeps it, though unanswered', async (call, { make, isThere }) => {
    const dataDir = newDirectory();
    const killed = await startProcess(dataDir);
    await arm(killed, { call, effect: 'kill-after' });

    await expect(make(clientsOf(killed), 'kept')).rejects.toThrow();

    expect(await killed.ended).toBe('SIGKILL');
    expect(await isThere(clientsOf(await startProcess(dataDir)), 'kept')).toBe(true);
  });

  test('in the middle of many calls loses nothing that was answered', async () => {
    const dataDir = newDirectory();
    const killed = await startProcess(dataDir);
    await arm(killed, { call: 'dynamodb:PutItem', skip: 150, effect: 'kill-before' });
    const clients = clientsOf(killed);
    // A secret holds one value only, so it cannot take part.
    const changes = CALLS.filter(([call]) => !call.startsWith('secretsmanager'));
    const answered = changes.map(() => [] as string[]);

    const writers = changes.flatMap(([, { make }], kind) =>
      [0, 1, 2, 3].map(async (writer) => {
        for (let at = 0; ; at += 1) {
          const id = `${writer}-${at}`;
          await make(clients, id);
          answered[kind]?.push(id);
        }
      }),
    );
    await Promise.allSettled(writers);

    expect(await killed.ended).toBe('SIGKILL');
    const next = clientsOf(await startProcess(dataDir));
    for (const [kind, [call, { isThere }]] of changes.entries()) {
      const ids = answered[kind] ?? [];
      const found = await Promise.all(ids.map((id) => isThere(next, id)));
      expect([call, ids.filter((_id, at) => !found[at])]).toEqual([call, []]);
      expect(ids.length).toBeGreaterThan(0);
    }
  });
});
