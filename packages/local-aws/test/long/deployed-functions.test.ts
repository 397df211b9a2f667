import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import {
  createFunctionRuntime,
  type FunctionRuntime,
  type FunctionRuntimeOptions,
} from '../../src/functions/runtime.ts';
import { aFunction } from '../gateway/a-function.ts';

const folder = mkdtempSync(join(tmpdir(), 'functions-'));
const open: FunctionRuntime[] = [];

const create = (options: Partial<FunctionRuntimeOptions> = {}): FunctionRuntime =>
  createFunctionRuntime({
    functions: [aFunction('behave')],
    awsEndpointUrl: 'http://127.0.0.1:1',
    callAws: async () => 'lost',
    logDirectory: join(folder, 'logs'),
    codeCacheDirectory: join(folder, 'code-cache'),
    ...options,
  });
/** A runtime for one test. */
const aRuntime = (options?: Partial<FunctionRuntimeOptions>): FunctionRuntime => {
  const runtime = create(options);
  open.push(runtime);
  return runtime;
};
/** Runtimes for tests that leave their worker as it was, or that get another one. */
const shared = create();
const failing = create({ functions: [aFunction('behave', { memoryMegabytes: 64, timeoutSeconds: 30 })] });

afterEach(async () => {
  await Promise.all(open.splice(0).map((runtime) => runtime.close()));
});
afterAll(async () => {
  await Promise.all([shared.close(), failing.close()]);
  rmSync(folder, { recursive: true, force: true });
});

test('the compiled code of a function is kept where the run says', async () => {
  const codeCacheDirectory = join(folder, 'kept');
  await aRuntime({ codeCacheDirectory }).invoke('behave', { do: 'environment' });

  const kept = readdirSync(codeCacheDirectory, { recursive: true, withFileTypes: true });
  expect(kept.some((entry) => entry.isFile())).toBe(true);
});

describe('what a function sees', () => {
  test("its own variables and Lambda's, and none of the process", async () => {
    process.env.LEAKED_VARIABLE = 'secret';
    const runtime = aRuntime({
      functions: [
        aFunction('behave', {
          environment: () => ({ TABLE_NAME: 'orders', POWERTOOLS_SERVICE_NAME: 'shop' }),
        }),
        aFunction('behave', { name: 'other' }),
      ],
      extraCaCertificates: '/certificates.pem',
    });

    const { payload } = await runtime.invoke('behave', { do: 'environment' });
    const { payload: other } = await runtime.invoke('other', { do: 'environment' });

    expect(payload).toEqual({
      TABLE_NAME: 'orders',
      POWERTOOLS_SERVICE_NAME: 'shop',
      AWS_REGION: 'us-east-1',
      AWS_LAMBDA_FUNCTION_NAME: 'behave',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '128',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_LOG_GROUP_NAME: 'behave-logs',
      AWS_EXECUTION_ENV: expect.stringMatching(/^AWS_Lambda_nodejs\d+\.x$/),
      AWS_ENDPOINT_URL: 'http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'AKIAbehave',
      AWS_SECRET_ACCESS_KEY: expect.any(String),
      AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
      AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
      AWS_CONFIG_FILE: '/dev/null',
      AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
      NODE_EXTRA_CA_CERTS: '/certificates.pem',
    });
    expect(other).not.toHaveProperty('TABLE_NAME');
    expect((other as Record<string, string>).AWS_SECRET_ACCESS_KEY).not.toBe(
      (payload as Record<string, string>).AWS_SECRET_ACCESS_KEY,
    );
  });

  test("no module of the runtime's that loads undici, a thread's largest module", async () => {
    const { payload } = await shared.invoke('behave', { do: 'modules' });

    expect(payload).toContain('NativeModule http');
    expect((payload as string[]).filter((name) => name.includes('undici'))).toEqual([]);
  });

  test("Lambda's context", async () => {
    const { payload } = await shared.invoke('behave', { do: 'context' });

    expect(payload).toEqual({
      awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      callbackWaitsForEmptyEventLoop: true,
      functionName: 'behave',
      functionVersion: '$LATEST',
      invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:behave',
      logGroupName: 'behave-logs',
      logStreamName: expect.stringMatching(/^\d{4}\/\d\d\/\d\d\/\[\$LATEST\][0-9a-f]{32}$/),
      memoryLimitInMB: '128',
      remaining: expect.any(Number),
    });
    const { remaining } = payload as { remaining: number };
    expect(remaining).toBeGreaterThan(3_000);
    expect(remaining).toBeLessThanOrEqual(5_000);
  });

  test('its output in its own log', async () => {
    await shared.invoke('behave', { do: 'print', text: 'order placed' });

    const log = readFileSync(join(folder, 'logs', 'behave.log'), 'utf8');
    expect(log).toContain('order placed\n');
    expect(log).toContain('order placed on stderr\n');
  });
});

describe('finding and loading a function', () => {
  test.each([
    'behave',
    'arn:aws:lambda:us-east-1:000000000000:function:behave',
    'arn:aws:lambda:us-east-1:000000000000:function:behave:$LATEST',
  ])('works by %s', async (name) => {
    expect(await shared.invoke(name, { do: 'nothing' })).toEqual({ payload: null });
  });

  test('rejects an unknown name', async () => {
    await expect(shared.invoke('missing', {})).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    });
  });

  test('runs a CommonJS bundle', async () => {
    const runtime = aRuntime({ functions: [aFunction('common-js', { file: 'index.js' })] });

    expect(await runtime.invoke('common-js', { id: 1 })).toEqual({
      payload: { from: 'CommonJS', event: { id: 1 } },
    });
  });

  test('fails every waiting event when the bundle cannot be loaded', async () => {
    const runtime = aRuntime({ functions: [aFunction('broken')] });
    const failure = {
      functionError: 'Unhandled',
      payload: { errorType: 'TypeError', errorMessage: 'the module cannot be loaded', stackTrace: [] },
    };

    expect(await Promise.all([runtime.invoke('broken', {}), runtime.invoke('broken', {})])).toEqual([
      failure,
      failure,
    ]);
  });

  test('reports a handler that is not exported', async () => {
    const runtime = aRuntime({ functions: [aFunction('behave', { handlerExport: 'main' })] });

    expect(await runtime.invoke('behave', {})).toMatchObject({
      functionError: 'Unhandled',
      payload: { errorType: 'Runtime.HandlerNotFound' },
    });
  });

  test('rejects while a variable is unknown', async () => {
    const environment = () => {
      throw new Error('KeyPair has not been made yet');
    };
    const runtime = aRuntime({ functions: [aFunction('behave', { environment })] });

    await expect(runtime.invoke('behave', {})).rejects.toThrow('KeyPair has not been made yet');
  });
});

describe('a failing function', () => {
  test.each([
    ['an error', { do: 'throw' }, 'OrderTaken', 'The order is taken'],
    ['a thrown text', { do: 'throw text' }, 'string', 'just text'],
    ['a value that is not JSON', { do: 'return bigint' }, 'Runtime.MarshalError', /BigInt/],
    ['a payload over the limit', { do: 'return too much' }, 'Function.ResponseSizeTooLarge', /6291556/],
    ['an exit', { do: 'exit', status: 3 }, 'Runtime.ExitError', /^RequestId: \S+ Error: .* exit status 3$/],
    ['a quiet exit', { do: 'exit', status: 0 }, 'Runtime.ExitError', /without providing a reason$/],
    [
      'a rejection nobody handles',
      { do: 'reject unhandled' },
      'Runtime.UnhandledPromiseRejection',
      'nobody listens',
    ],
    ['an error outside the handler', { do: 'throw later' }, 'RangeError', 'out of any handler'],
    ['memory that runs out', { do: 'fill memory' }, 'Runtime.ExitError', /signal: killed$/],
  ])('is reported: %s', async (_title, event, errorType, errorMessage) => {
    expect(await failing.invoke('behave', event)).toEqual({
      functionError: 'Unhandled',
      payload: {
        errorType,
        errorMessage: typeof errorMessage === 'string' ? errorMessage : expect.stringMatching(errorMessage),
        stackTrace: [],
      },
    });
    expect(await failing.invoke('behave', { do: 'nothing' })).toEqual({ payload: null });
  });

  test('ends at its time limit, whether it waits or computes', async () => {
    const ends = ['hang', 'spin'].map(async (behaviour) => {
      const runtime = aRuntime({ functions: [aFunction('behave', { timeoutSeconds: 0.2 })] });

      expect(await runtime.invoke('behave', { do: behaviour })).toEqual({
        functionError: 'Unhandled',
        payload: {
          errorType: 'Sandbox.Timedout',
          errorMessage: expect.stringMatching(/^RequestId: \S+ Error: Task timed out after 0\.20 seconds$/),
          stackTrace: [],
        },
      });
      expect(await runtime.invoke('behave', { do: 'nothing' })).toEqual({ payload: null });
    });
    await Promise.all(ends);
  });

  test('refuses an event over the limit', async () => {
    await expect(shared.invoke('behave', { text: 'x'.repeat(6_291_556) })).rejects.toMatchObject({
      name: 'RequestTooLargeException',
    });
  });
});

describe('scaling', () => {
  test('starts workers until all events run', async () => {
    const count = 3;
    const event = { do: 'meet', folder: join(folder, 'meeting'), count };
    const runtime = aRuntime({ functions: [aFunction('behave', { timeoutSeconds: 60 })] });

    const results = await Promise.all(Array.from({ length: count }, () => runtime.invoke('behave', event)));

    expect(new Set(results.map(({ payload }) => payload)).size).toBe(count);
  });

  test('gives a worker one event at a time, and queues events beyond the limit', async () => {
    const runtime = aRuntime({ limits: { maxWorkers: 2 } });

    const results = await Promise.all(
      Array.from({ length: 10 }, () => runtime.invoke('behave', { do: 'overlap' })),
    );

    const payloads = results.map(({ payload }) => payload as { mostRunning: number; thread: string });
    expect(payloads.every(({ mostRunning }) => mostRunning === 1)).toBe(true);
    expect(new Set(payloads.map(({ thread }) => thread)).size).toBeLessThanOrEqual(2);
  });

  test('lets an event wait for a busy worker rather than start another', async () => {
    const runtime = aRuntime({ limits: { patienceMilliseconds: 60_000 } });

    const results = await Promise.all([1, 2, 3].map(() => runtime.invoke('behave', { do: 'thread' })));

    expect(new Set(results.map(({ payload }) => payload)).size).toBe(1);
  });

  test('reuses a warm worker', async () => {
    const first = await shared.invoke('behave', { do: 'thread' });
    const second = await shared.invoke('behave', { do: 'thread' });

    expect(second).toEqual(first);
  });

  test('ends an idle worker', async () => {
    const runtime = aRuntime({ limits: { idleMilliseconds: 0 } });
    const threads = new Set<unknown>();

    for (let tries = 0; tries < 100 && threads.size < 2; tries += 1) {
      threads.add((await runtime.invoke('behave', { do: 'thread' })).payload);
      await wait(2 + tries);
    }

    expect(threads.size).toBe(2);
  });

  test('rejects running events when it is closed', async () => {
    const runtime = aRuntime();
    await runtime.invoke('behave', { do: 'thread' });
    const invocation = expect(runtime.invoke('behave', { do: 'hang' })).rejects.toThrow('stopping');

    await runtime.close();

    await invocation;
    await expect(runtime.invoke('behave', {})).rejects.toThrow('stopping');
  });
});
