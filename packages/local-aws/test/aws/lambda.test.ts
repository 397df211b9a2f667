import {
  GetAccountSettingsCommand,
  GetFunctionCommand,
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
} from '@aws-sdk/client-lambda';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { createConcurrency } from '../../src/functions/concurrency.ts';
import {
  allow,
  aPrincipal,
  clientsOf,
  endpointOptions,
  failure,
  functionArn,
  invoker,
  NO_TABLES,
  OPERATOR,
  rejectionOf,
  removeDirectory,
  startEndpoint,
} from './support.ts';
import { useEndpoint } from './use-endpoint.ts';

const options = endpointOptions(NO_TABLES);
const endpoint = useEndpoint(options);
const started = Promise.withResolvers<void>();
const gate = Promise.withResolvers<string>();
const withConcurrency = createConcurrency({ reserved: new Map([['busy', 1]]) });
/** The events taken for asynchronous invocations. */
const queued: unknown[] = [];
const invoke = invoker({
  double: ({ number }: { number: number }) => ({ number: number * 2 }),
  nothing: () => undefined,
  broken: () => {
    throw failure('OrderTaken', 'The order is taken');
  },
  busy: () => {
    started.resolve();
    return gate.promise;
  },
});

beforeAll(() => {
  endpoint.openFunctions(
    (arn, payload) => withConcurrency(arn.split(':').at(-1) ?? '', () => invoke(arn, payload)),
    (arn, payload) => {
      if (arn !== functionArn('double')) throw failure('ResourceNotFoundException', 'Function not found');
      queued.push(payload);
    },
  );
});
beforeEach(() => endpoint.faults.disarm());

const clientOf = (caller = OPERATOR) => new LambdaClient(clientsOf(endpoint, caller).settings);
const call = async (FunctionName: string, payload?: string, more: Partial<InvokeCommandInput> = {}) => {
  const result = await clientOf().send(
    new InvokeCommand({ FunctionName, ...(payload !== undefined && { Payload: payload }), ...more }),
  );
  const { StatusCode, ExecutedVersion, FunctionError, Payload } = result;
  return {
    StatusCode,
    ExecutedVersion,
    FunctionError,
    payload: JSON.parse(Payload?.transformToString() ?? ''),
  };
};
const refusal = (...given: Parameters<typeof call>) => rejectionOf(call(...given));

describe('GetAccountSettings', () => {
  const settings = (caller = OPERATOR) => clientOf(caller).send(new GetAccountSettingsCommand());

  test('tells how many functions may run at once, and how many without reservations', async () => {
    const limits = { maxConcurrency: 60, reservedConcurrency: [10, 5] };
    const limited = await startEndpoint({ ...endpointOptions(NO_TABLES), ...limits });
    const client = new LambdaClient(clientsOf(limited, OPERATOR).settings);
    const { AccountLimit } = await client.send(new GetAccountSettingsCommand());
    await limited.close();

    expect(AccountLimit).toEqual({ ConcurrentExecutions: 60, UnreservedConcurrentExecutions: 45 });
    expect((await settings()).AccountLimit).toMatchObject({ ConcurrentExecutions: 1_000 });
  });

  test('needs a permission', async () => {
    const stranger = aPrincipal('stranger', allow(['lambda:InvokeFunction'], '*'));
    endpoint.addPrincipals([stranger]);

    expect(await rejectionOf(settings(stranger))).toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('Invoke', () => {
  test.each([
    ['its name', 'double'],
    ['its ARN', functionArn('double')],
    ['its account and name', '000000000000:function:double'],
    ['its only version', `${functionArn('double')}:$LATEST`],
  ])('runs a function, given by %s, and returns its result', async (_, name) => {
    expect(await call(name, '{"number":21}')).toEqual({
      StatusCode: 200,
      ExecutedVersion: '$LATEST',
      FunctionError: undefined,
      payload: { number: 42 },
    });
  });

  test('takes the event of an asynchronous invocation, and does not wait for its function', async () => {
    const {
      StatusCode,
      FunctionError,
      Payload = [],
    } = await clientOf().send(
      new InvokeCommand({ FunctionName: 'double', InvocationType: 'Event', Payload: '{"number":21}' }),
    );

    expect([StatusCode, FunctionError, Payload?.length ?? 0]).toEqual([202, undefined, 0]);
    expect(queued).toEqual([{ number: 21 }]);
  });

  test('returns null for a function that returns nothing, without a payload too', async () => {
    expect((await call('nothing')).payload).toBeNull();
  });

  test('returns the error of a function that fails, as an answer', async () => {
    expect(await call('broken', '{}')).toMatchObject({
      StatusCode: 200,
      FunctionError: 'Unhandled',
      payload: { errorType: 'OrderTaken', errorMessage: 'The order is taken' },
    });
  });

  test.each<[string, Parameters<typeof call>, string, number]>([
    ['a function that does not exist', ['none', '{}'], 'ResourceNotFoundException', 404],
    ['a version', ['double', '{}', { Qualifier: '7' }], 'ResourceNotFoundException', 404],
    ['an alias', [functionArn('double:live'), '{}'], 'ResourceNotFoundException', 404],
    ['a payload that is no JSON', ['double', '{'], 'InvalidRequestContentException', 400],
    [
      'an asynchronous invocation of no function',
      ['none', '{}', { InvocationType: 'Event' }],
      'ResourceNotFoundException',
      404,
    ],
    ['a dry run', ['double', '{}', { InvocationType: 'DryRun' }], 'NotImplemented', 501],
    ['the end of the log', ['double', '{}', { LogType: 'Tail' }], 'NotImplemented', 501],
  ])('refuses %s', async (_, given, name, httpStatusCode) => {
    expect(await refusal(...given)).toMatchObject({ name, $metadata: { httpStatusCode } });
  });

  test('is throttled beyond the concurrency of a function, until an invocation ends', async () => {
    const running = call('busy', '{}');
    await started.promise;

    expect(await refusal('busy', '{}')).toMatchObject({
      name: 'TooManyRequestsException',
      $metadata: { httpStatusCode: 429 },
    });
    gate.resolve('done');
    expect((await running).payload).toBe('done');
    expect((await call('busy', '{}')).payload).toBe('done');
  });

  test('meets faults, by the function and the payload', async () => {
    endpoint.faults.arm({ call: 'lambda:Invoke', contains: '"number":7', effect: 'throttle' });
    endpoint.faults.arm({ call: 'lambda:Invoke', contains: 'double', effect: 'error' });

    expect(await refusal('double', '{"number":7}')).toMatchObject({ name: 'TooManyRequestsException' });
    expect(await refusal('double', '{"number":8}')).toMatchObject({ name: 'ServiceException' });
    expect((await call('double', '{"number":9}')).payload).toEqual({ number: 18 });
  });

  test('is the only call', async () => {
    const refused = clientOf().send(new GetFunctionCommand({ FunctionName: 'double' }));

    expect(await rejectionOf(refused)).toMatchObject({
      name: 'UnknownOperationException',
      $metadata: { httpStatusCode: 404 },
    });
  });
});

describe('permission to invoke', () => {
  test('is per function; allowed calls are counted', async () => {
    const creator = aPrincipal('creator', allow(['lambda:InvokeFunction'], functionArn('double')));
    endpoint.addPrincipals([creator]);
    const send = (FunctionName: string) =>
      clientOf(creator).send(new InvokeCommand({ FunctionName, Payload: '{"number":1}' }));

    await send('double');

    expect(await rejectionOf(send('nothing'))).toMatchObject({
      name: 'AccessDeniedException',
      message: expect.stringContaining(
        `is not authorized to perform: lambda:InvokeFunction on resource: ${functionArn('nothing')}`,
      ),
      $metadata: { httpStatusCode: 403 },
    });
    expect(endpoint.calls().creator).toEqual({ 'lambda:Invoke': 1 });
  });
});

test('before its functions are opened an endpoint has none', async () => {
  const bare = endpointOptions(NO_TABLES);
  const closed = await startEndpoint(bare);
  const client = new LambdaClient(clientsOf(closed).settings);

  const refused = await rejectionOf(
    client.send(new InvokeCommand({ FunctionName: 'double', Payload: '{}' })),
  );
  await closed.close();
  removeDirectory(bare.dataDir);

  expect(refused).toMatchObject({ name: 'ResourceNotFoundException' });
});
