import { chmodSync, mkdirSync, statSync } from 'node:fs';
import { request } from 'node:http';
import {
  DescribeTableCommand,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand, PutSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { ListStateMachinesCommand } from '@aws-sdk/client-sfn';
import { describe, expect, jest, test } from '@jest/globals';
import { startAwsEndpoint } from '../../src/aws/endpoint.ts';
import type { Principal } from '../../src/types.ts';
import {
  allow,
  aPrincipal,
  BUCKET,
  clientsOf,
  endpointOptions,
  rejectionOf,
  removeDirectory,
  secret,
  startEndpoint,
  TABLE,
  TABLE_ARN,
} from './support.ts';
import { useEndpoint } from './use-endpoint.ts';

const endpoint = useEndpoint(endpointOptions());
const keyOf = (PK: string, SK = 'x') => ({ PK: { S: PK }, SK: { S: SK } });

describe('callers', () => {
  test('an unknown access key is refused in the shape of each service', async () => {
    const { dynamodb, s3, sfn, secrets } = clientsOf(endpoint, aPrincipal('stranger'));

    const refusals = await Promise.all([
      rejectionOf(dynamodb.send(new ListTablesCommand({}))),
      rejectionOf(sfn.send(new ListStateMachinesCommand({}))),
      rejectionOf(secrets.send(new GetSecretValueCommand({ SecretId: 'signing-key' }))),
      rejectionOf(s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'a' }))),
    ]);

    expect(refusals.map(({ name }) => name)).toEqual([
      'UnrecognizedClientException',
      'UnrecognizedClientException',
      'UnrecognizedClientException',
      'InvalidAccessKeyId',
    ]);
    for (const refusal of refusals) expect(refusal.$metadata).toMatchObject({ httpStatusCode: 403 });
  });

  test('an unsigned request is refused', async () => {
    const response = await fetch(endpoint.url, { method: 'POST', body: '{}' });

    expect([response.status, (await response.json()) as unknown]).toEqual([
      403,
      { __type: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' },
    ]);
  });

  /** The status of a request that a program, or a web page, sends to the endpoint. */
  const statusOf = (headers: Record<string, string>, path = '/') =>
    new Promise<number | undefined>((resolve, reject) => {
      const call = request(endpoint.url + path, { method: 'POST', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on('error', reject).end('{}');
    });
  const SIGNED = {
    authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/dynamodb/aws4_request',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    'content-type': 'application/x-amz-json-1.0',
  };

  test.each<[string, Record<string, string>]>([
    ['names its origin', { origin: 'https://page.example' }],
    ['names no origin it would share', { origin: 'null' }],
    ['is another local page', { origin: 'http://127.0.0.1:3000' }],
    ['is sent by a browser', { 'sec-fetch-site': 'cross-site' }],
    ['is led here by its own name', { host: 'page.example' }],
    ['is led here without the port', { host: '127.0.0.1' }],
  ])('a web page that %s is refused, whatever it signs', async (_, headers) => {
    const before = JSON.stringify(endpoint.calls());

    expect(await statusOf({ ...SIGNED, ...headers })).toBe(403);
    expect(await statusOf(headers, '/?X-Amz-Credential=AKIAOPERATOR/d/r/s3/aws4_request')).toBe(403);
    expect(JSON.stringify(endpoint.calls())).toBe(before);
    expect(await statusOf(SIGNED)).toBe(200);
  });

  test('calls are counted by caller and operation once they are allowed', async () => {
    const reader = aPrincipal('reader', allow(['dynamodb:GetItem'], TABLE_ARN));
    endpoint.addPrincipals([reader]);
    const { dynamodb } = clientsOf(endpoint, reader);

    await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('a') }));
    await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('b') }));
    const refused = dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf('a') }));

    expect(await rejectionOf(refused)).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(
        `User: reader is not authorized to perform: dynamodb:PutItem on resource: ${TABLE_ARN}`,
      ),
    });
    expect(endpoint.calls().reader).toEqual({ 'dynamodb:GetItem': 2 });
  });

  test('a role with leading keys is refused on other keys', async () => {
    const clerk: Principal = {
      ...aPrincipal('clerk'),
      statements: [
        { ...allow(['dynamodb:GetItem', 'dynamodb:PutItem'], TABLE_ARN), leadingKeys: ['ORDER#*'] },
      ],
    };
    endpoint.addPrincipals([clerk]);
    const { dynamodb } = clientsOf(endpoint, clerk);
    const put = (Item: ReturnType<typeof keyOf>) => ({ Put: { TableName: TABLE, Item } });

    await dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf('ORDER#1') }));
    const refused = await Promise.all(
      [
        dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('ACCOUNT#1') })),
        dynamodb.send(
          new TransactWriteItemsCommand({ TransactItems: [put(keyOf('ORDER#2')), put(keyOf('ACCOUNT#1'))] }),
        ),
      ].map(rejectionOf),
    );

    expect(refused.map(({ name }) => name)).toEqual(['AccessDeniedException', 'AccessDeniedException']);
    const { Item } = await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('ORDER#2') }));
    expect(Item).toBeUndefined();
  });

  test.each(['__proto__', 'constructor', 'toString'])(
    'a service named %s is an unknown one',
    async (service) => {
      const log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
      const answer = await fetch(endpoint.url, {
        method: 'POST',
        headers: {
          authorization: `AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/${service}/aws4_request`,
          'content-type': 'application/x-amz-json-1.0',
        },
        body: '{}',
      });

      expect(answer.status).toBe(501);
      log.mockRestore();
    },
  );

  test("an unknown service is refused in the request's protocol, and logged", async () => {
    const log = jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const call = (contentType: string) =>
      fetch(endpoint.url, {
        method: 'POST',
        headers: {
          authorization: 'AWS4-HMAC-SHA256 Credential=AKIAOPERATOR/20260101/us-east-1/sqs/aws4_request',
          'content-type': contentType,
          'x-amz-target': 'AmazonSQS.SendMessage',
        },
        body: '{}',
      });

    const json = await call('application/x-amz-json-1.0');
    const form = await call('application/x-www-form-urlencoded');

    expect([json.status, await json.json()]).toMatchObject([501, { __type: 'NotImplemented' }]);
    expect(await form.text()).toContain('<Code>NotImplemented</Code>');
    expect(log).toHaveBeenCalledWith(
      expect.stringContaining('operator: The local run has no service "sqs" (POST / SendMessage)'),
    );
    log.mockRestore();
  });
});

describe('starting and stopping', () => {
  test('a second start finds tables, objects and secrets unchanged', async () => {
    const again = endpointOptions({ secrets: [secret('kept', 'first')] });
    const first = await startEndpoint(again);
    await clientsOf(first).dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf('kept') }));
    await clientsOf(first).secrets.send(
      new PutSecretValueCommand({ SecretId: 'kept', SecretString: 'second' }),
    );
    const startedClosing = Date.now();
    await first.close();
    // It waits for no connection that is kept for later: two minutes.
    expect(Date.now() - startedClosing).toBeLessThan(20_000);

    const second = await startEndpoint(again);

    const { Item } = await clientsOf(second).dynamodb.send(
      new GetItemCommand({ TableName: TABLE, Key: keyOf('kept') }),
    );
    expect(Item).toEqual(keyOf('kept'));
    expect(second.readSecret('kept')).toBe('second');
    await second.close();
    removeDirectory(again.dataDir);
  });

  test('with a DynamoDB endpoint, tables are created there, for all callers', async () => {
    const [outerOptions, innerOptions] = [endpointOptions({ tables: [] }), endpointOptions()];
    const outer = await startEndpoint(outerOptions);
    outer.addPrincipals([{ name: 'local', accessKeyId: 'local' }]);
    const inner = await startEndpoint({ ...innerOptions, dynamodbEndpoint: outer.url });

    const { Table } = await clientsOf(inner).dynamodb.send(new DescribeTableCommand({ TableName: TABLE }));

    expect(Table?.TableStatus).toBe('ACTIVE');
    expect(outer.calls().local).toMatchObject({ 'dynamodb:CreateTable': 1, 'dynamodb:DescribeTable': 1 });
    await inner.close();
    await outer.close();
    for (const { dataDir } of [outerOptions, innerOptions]) removeDirectory(dataDir);
  });

  test('nobody else may enter the data directory, new or old', async () => {
    const [fresh, old] = [endpointOptions(), endpointOptions()];
    mkdirSync(old.dataDir, { recursive: true });
    chmodSync(old.dataDir, 0o755);

    for (const each of [fresh, old]) {
      await (await startEndpoint(each)).close();
      expect(statSync(each.dataDir).mode & 0o777).toBe(0o700);
      removeDirectory(each.dataDir);
    }
  });

  test('a start on a taken port fails and leaves nothing running', async () => {
    const taken = endpointOptions({ port: Number(new URL(endpoint.url).port) });

    expect(await rejectionOf(startAwsEndpoint(taken))).toMatchObject({ code: 'EADDRINUSE' });

    const free = await startEndpoint({ ...taken, port: 0 });
    await free.close();
    removeDirectory(taken.dataDir);
  });
});
