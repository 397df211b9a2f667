import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetSecretValueCommand } from '@aws-sdk/client-secrets-manager';
import { ListStateMachinesCommand } from '@aws-sdk/client-sfn';
import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { armFault, disarmFaults, faultsLeft } from '../../src/aws/fault-control.ts';
import { createFaults, type Fault } from '../../src/aws/faults.ts';
import { useMachines } from './step-functions-support.ts';
import { allow, aPrincipal, BUCKET, clientsOf, OPERATOR, rejectionOf, TABLE } from './support.ts';

const local = useMachines({});
afterEach(() => local.endpoint.faults.disarm());

const keyOf = (PK: string) => ({ PK: { S: PK }, SK: { S: 'x' } });
const callTo = (
  name: string,
  { principalName = 'GetOrder1234ABCD', text = '' }: { principalName?: string; text?: string } = {},
) => ({ principalName, name, text: () => text });
const put = (key: string) =>
  clientsOf(local.endpoint).dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf(key) }));
const isThere = async (key: string) => {
  const { dynamodb } = clientsOf(local.endpoint);
  const { Item } = await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf(key) }));
  return Item !== undefined;
};

describe('a fault', () => {
  const drop = { effect: 'drop' } as const;

  test.each<[string, Fault, ReturnType<typeof callTo>, boolean]>([
    ['of its call', { call: 'dynamodb:PutItem', ...drop }, callTo('dynamodb:PutItem'), true],
    ['of another call', { call: 'dynamodb:PutItem', ...drop }, callTo('dynamodb:PutItems'), false],
    ['of a call it means by a star', { call: 's3:*', ...drop }, callTo('s3:PutObject'), true],
    [
      'of its caller',
      { call: '*', principal: 'GetOrder*', ...drop },
      callTo('s3:PutObject', { principalName: 'GetOrder1234ABCD' }),
      true,
    ],
    ['of another caller', { call: '*', principal: 'Put*', ...drop }, callTo('s3:PutObject'), false],
    [
      'with its text',
      { call: '*', contains: 'ORDER#1', ...drop },
      callTo('x:Y', { text: '"ORDER#1"' }),
      true,
    ],
    [
      'without its text',
      { call: '*', contains: 'ORDER#1', ...drop },
      callTo('x:Y', { text: 'ORDER' }),
      false,
    ],
  ])('and a call %s', async (_case, fault, call, isMet) => {
    const faults = createFaults();
    faults.arm(fault);

    expect(await faults.meet(call)).toBe(isMet ? 'drop' : undefined);
  });

  test('affects one call, or `times` calls, after those it skips', async () => {
    const faults = createFaults();
    faults.arm({ call: 'a:B', skip: 1, times: 2, ...drop });
    faults.arm({ call: 'a:B', effect: 'kill-after' });

    const met = [];
    for (let at = 0; at < 5; at += 1) met.push(await faults.meet(callTo('a:B')));

    expect(met).toEqual([undefined, 'drop', 'drop', 'kill', undefined]);
    expect(faults.left()).toEqual([0, 0]);
    faults.disarm();
    expect(faults.left()).toEqual([]);
  });

  test('may only delay a call', async () => {
    jest.useFakeTimers();
    const faults = createFaults();
    faults.arm({ call: 'a:B', delayMilliseconds: 500 });
    const met = jest.fn();
    const meeting = faults.meet(callTo('a:B')).then(met);

    await jest.advanceTimersByTimeAsync(499);
    expect(met).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);

    expect(met).toHaveBeenCalledWith(undefined);
    await meeting;
    jest.useRealTimers();
  });

  test.each<[string, object]>([
    ['effect', { call: 'a:B', effect: 'explode' }],
    ['call', { effect: 'drop' }],
    ['times', { call: 'a:B', times: 0, effect: 'drop' }],
    ['colour', { call: 'a:B', effect: 'drop', colour: 'red' }],
    ['effect or delayMilliseconds', { call: 'a:B' }],
  ])('is invalid by its %s', (field, fault) => {
    expect(() => createFaults().arm(fault as Fault)).toThrow(field);
  });
});

describe('calls to the endpoint', () => {
  test("are throttled or fail with a server error, in each service's shape", async () => {
    const { dynamodb, s3, secrets, sfn } = clientsOf(local.endpoint);
    const calls = () => [
      dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: keyOf('a') })),
      s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'a' })),
      secrets.send(new GetSecretValueCommand({ SecretId: 'none' })),
      sfn.send(new ListStateMachinesCommand({})),
    ];
    const refusals = async () =>
      (await Promise.all(calls().map(rejectionOf))).map(({ name, $metadata }) => [
        name,
        ($metadata as { httpStatusCode: number }).httpStatusCode,
      ]);

    local.endpoint.faults.arm({ call: '*', times: 4, effect: 'throttle' });
    const throttled = await refusals();
    local.endpoint.faults.arm({ call: '*', times: 4, effect: 'error' });
    const failed = await refusals();

    expect(throttled).toEqual([
      ['ThrottlingException', 400],
      ['SlowDown', 503],
      ['ThrottlingException', 400],
      ['ThrottlingException', 400],
    ]);
    expect(failed).toEqual([
      ['InternalServerError', 500],
      ['InternalError', 500],
      ['InternalServiceError', 500],
      ['InternalServerError', 500],
    ]);
  });

  test.each<[Fault['effect'], boolean]>([
    ['throttle', false],
    ['error', false],
    ['drop', true],
  ])('that meet %s: carried out: %s', async (effect, isCarriedOut) => {
    local.endpoint.faults.arm({ call: 'dynamodb:PutItem', contains: `order-${effect}`, effect });
    await put('unharmed');

    await expect(put(`order-${effect}`)).rejects.toThrow();

    expect(await isThere(`order-${effect}`)).toBe(isCarriedOut);
    await put(`order-${effect}`);
  });

  test('that hang are never carried out or answered, even after the fault is gone', async () => {
    local.endpoint.faults.arm({ call: 'dynamodb:PutItem', contains: 'order-hang', effect: 'hang' });
    const { dynamodb } = clientsOf(local.endpoint);
    const abort = new AbortController();
    const hanging = dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: keyOf('order-hang') }), {
      abortSignal: abort.signal,
    });
    const ended = rejectionOf(hanging);
    while (local.endpoint.faults.left()[0] !== 0) await put('unharmed');

    local.endpoint.faults.disarm();
    await put('unharmed');
    abort.abort();

    expect((await ended).name).toBe('AbortError');
    expect(await isThere('order-hang')).toBe(false);
  });

  test('that are dropped fail like a lost connection, on S3 too', async () => {
    const { s3 } = clientsOf(local.endpoint);
    local.endpoint.faults.arm({ call: 's3:PutObject', contains: '/files/a', effect: 'drop' });

    const dropped = s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'files/a', Body: 'bytes' }));

    expect((await rejectionOf(dropped)).message).toContain('socket hang up');
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'files/a' }));
    expect(await Body?.transformToString()).toBe('bytes');
  });
});

describe("a machine's tasks", () => {
  test("are affected too, with Step Functions' errors", async () => {
    const machine = { principal: 'failing-machine', call: 'lambda:Invoke' };
    local.endpoint.faults.arm({ ...machine, effect: 'drop' });
    const dropped = await local.run('failing', { id: 'dropped', failures: 0 });
    local.endpoint.faults.arm({ ...machine, effect: 'throttle' });
    const throttled = await local.run('failing', { id: 'throttled', failures: 0 });

    expect([dropped.error, throttled.error]).toEqual([
      'Lambda.SdkClientException',
      'Lambda.TooManyRequestsException',
    ]);
    expect(local.calls.filter((call) => ['dropped', 'throttled'].includes(call))).toEqual(['dropped']);
  });
});

describe('faults from another process', () => {
  const target = (accessKeyId = OPERATOR.accessKeyId) => ({
    awsEndpointUrl: local.endpoint.url,
    operatorAccessKeyId: accessKeyId,
  });

  test('can be armed, counted and removed by the operator', async () => {
    await armFault(target(), { call: 'dynamodb:PutItem', contains: 'remote', effect: 'error', times: 2 });

    await expect(put('remote')).rejects.toThrow();

    expect(await faultsLeft(target())).toEqual([1]);
    await disarmFaults(target());
    await put('remote');
    expect(await faultsLeft(target())).toEqual([]);
  });

  test('can be armed by no other caller', async () => {
    const stranger = aPrincipal('faultless', allow(['*'], '*'));
    local.endpoint.addPrincipals([stranger]);
    const fault: Fault = { call: '*', effect: 'kill-before' };

    await expect(armFault(target(stranger.accessKeyId), fault)).rejects.toThrow(/403 .*may not arm faults/);
    await expect(armFault(target('AKIANOBODY'), fault)).rejects.toThrow(/403/);

    expect(local.endpoint.faults.left()).toEqual([]);
  });

  test('are refused when invalid', async () => {
    await expect(armFault(target(), { call: '' })).rejects.toThrow('Faults: 400 No fault has such a call');
  });
});
