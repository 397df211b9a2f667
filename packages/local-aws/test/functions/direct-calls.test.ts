import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { CallDirectly } from '../../src/aws/direct-calls.ts';
import type { AwsEndpoint } from '../../src/aws/endpoint.ts';
import { createFunctionRuntime, type FunctionRuntime } from '../../src/functions/runtime.ts';
import type { Principal } from '../../src/types.ts';
import {
  allow,
  aPrincipal,
  BUCKET,
  endpointOptions,
  startEndpoint,
  TABLE,
  TABLE_ARN,
} from '../aws/support.ts';
import { aFunction } from '../gateway/a-function.ts';

const logDirectory = mkdtempSync(join(tmpdir(), 'direct-calls-'));
const options = endpointOptions({ secrets: [{ name: 'key', arn: 'arn:key', initialValue: 'x' }] });
const caller = aPrincipal(
  'caller',
  allow(['dynamodb:GetItem', 'dynamodb:PutItem'], TABLE_ARN),
  allow(['secretsmanager:DescribeSecret', 'states:ListStateMachines', 's3:PutObject'], '*'),
);
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:1';

let endpoint: AwsEndpoint;
let runtime: FunctionRuntime;

const aRuntime = (
  awsEndpointUrl: string,
  callAws: CallDirectly,
  principal: Principal = caller,
): FunctionRuntime => {
  const functions = [aFunction('call-aws', { principal, timeoutSeconds: 20, memoryMegabytes: 512 })];
  return createFunctionRuntime({
    functions,
    awsEndpointUrl,
    callAws,
    logDirectory,
    codeCacheDirectory: logDirectory,
  });
};

beforeAll(async () => {
  endpoint = await startEndpoint(options);
  endpoint.addPrincipals([caller]);
  runtime = aRuntime(NOWHERE, endpoint.callDirectly);
});
afterEach(() => endpoint.faults.disarm());
afterAll(async () => {
  await runtime.close();
  await endpoint.close();
  for (const folder of [logDirectory, options.dataDir]) rmSync(folder, { recursive: true, force: true });
});

const keyOf = (id: string) => ({ PK: { S: id }, SK: { S: 'a' } });
const put = (id: string, more: Record<string, unknown> = {}) =>
  call('PutItem', { TableName: TABLE, Item: keyOf(id) }, more);
const call = async (name: string, input: unknown, more: Record<string, unknown> = {}) => {
  const { payload } = await runtime.invoke('call-aws', { call: name, input, ...more });
  return payload as { error?: string; message?: string; status?: number; result?: unknown };
};
const isThere = async (id: string) => {
  const { result } = await call('GetItem', { TableName: TABLE, Key: keyOf(id) });
  return (result as { Item?: unknown }).Item !== undefined;
};

test('A function reaches tables, secrets and state machines without a connection, as itself', async () => {
  const written = await put('zoë');
  const secret = await call('DescribeSecret', { SecretId: 'key' });
  const machines = await call('ListStateMachines', {});

  expect(written).toEqual({ status: 200, result: {} });
  expect(await isThere('zoë')).toBe(true);
  expect(secret.result).toMatchObject({ Name: 'key' });
  expect(machines.result).toEqual({ stateMachines: [] });
  expect(endpoint.calls().caller).toMatchObject({
    'dynamodb:PutItem': 1,
    'secretsmanager:DescribeSecret': 1,
    'states:ListStateMachines': 1,
  });
});

test('Its permissions and the size of its calls are checked all the same', async () => {
  const otherTable = await call('PutItem', { TableName: 'other', Item: keyOf('a') });
  const tooLarge = await put('a', { padding: 16 * 1024 * 1024 });
  const unknownKey = await put('a', {
    client: { credentials: { accessKeyId: 'AKIASTRANGER', secretAccessKey: 'x' } },
  });

  expect(otherTable.error).toBe('AccessDeniedException');
  expect(otherTable.message).toContain('caller is not authorized to perform: dynamodb:PutItem');
  expect(tooLarge.error).toBe('RequestEntityTooLargeException');
  expect(unknownKey.error).toBe('UnrecognizedClientException');
});

test("An engine's own refusal reaches it", async () => {
  expect(await call('GetItem', { TableName: TABLE, Key: { PK: { S: 'a' } } })).toMatchObject({
    error: 'ValidationException',
  });
});

test.each([
  ['throttle', 'ThrottlingException', false],
  ['error', 'InternalServerError', false],
  ['drop', 'TimeoutError', true],
] as const)('A fault that is to %s applies: %s, carried out: %s', async (effect, error, isCarriedOut) => {
  endpoint.faults.arm({ call: 'dynamodb:PutItem', principal: 'caller', effect });

  const failed = await put(effect);

  expect(failed.error).toBe(error);
  expect(failed.message).toContain(effect === 'drop' ? 'socket hang up' : '(a fault that a test armed)');
  expect(await isThere(effect)).toBe(isCarriedOut);
});

test.each([
  [
    'that begins too late',
    { client: { requestHandler: { requestTimeout: 20, throwOnRequestTimeout: true } } },
  ],
  ['after silence', { client: { requestHandler: { socketTimeout: 20 } } }],
])("The SDK's limit on an answer %s ends a call that hangs", async (_limit, limits) => {
  endpoint.faults.arm({ call: 'dynamodb:PutItem', effect: 'hang' });

  expect((await put('hang', limits)).error).toBe('TimeoutError');
  expect(await isThere('hang')).toBe(false);
});

test('A call that hangs can be aborted', async () => {
  endpoint.faults.arm({ call: 'dynamodb:PutItem', effect: 'hang' });

  expect((await put('hang', { abortAfter: 20 })).error).toBe('AbortError');
});

test('Calls of other services, and to other addresses, are made over HTTP', async () => {
  const overHttp = aRuntime(endpoint.url, async () => 'lost');
  try {
    const object = { Bucket: BUCKET, Key: 'files/a', Body: 'bytes' };
    const stored = await overHttp.invoke('call-aws', { call: 'PutObject', input: object });
    const elsewhere = await put('a', { client: { endpoint: 'http://127.0.0.1:2' } });

    expect(stored.payload).toMatchObject({ status: 200 });
    expect(elsewhere.message).toContain('ECONNREFUSED 127.0.0.1:2');
  } finally {
    await overHttp.close();
  }
});
