import { mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { CallDirectly } from '../aws/direct-calls.ts';
import { ACCOUNT_ID, PARTITION, REGION } from '../template/attributes.ts';
import type { FunctionSpec } from '../template/functions.ts';
import { secretAccessKeyOf } from '../template/roles.ts';
import type { InvokeFunction } from '../types.ts';
import { createConcurrency } from './concurrency.ts';
import { createLoad } from './load.ts';
import { createPool, type PoolLimits, type WorkerPool } from './pool.ts';
import { MAX_PAYLOAD_BYTES, startWorker } from './worker.ts';

/** What a runtime works with. */
export interface FunctionRuntimeOptions {
  functions: FunctionSpec[];
  /** The functions' `AWS_ENDPOINT_URL`. */
  awsEndpointUrl: string;
  /** Answers their calls to that endpoint without HTTP, where a call's protocol is JSON by `X-Amz-Target`. */
  callAws: CallDirectly;
  /** Each function's output is appended to `<logDirectory>/<logical id>.log`. */
  logDirectory: string;
  /** Keeps the compiled code of functions, for the next thread and the next run. */
  codeCacheDirectory: string;
  /** A file of extra certificate authorities for the functions (`NODE_EXTRA_CA_CERTS`). */
  extraCaCertificates?: string;
  limits?: Partial<PoolLimits>;
  /** Invocations of all functions at once; more are refused. Default: no limit but that of the workers. */
  maxConcurrency?: number;
}

/** Runs the functions of a stack in worker threads. */
export interface FunctionRuntime {
  /** `InvokeFunction`. Rejects as Lambda does: `ResourceNotFoundException`, `RequestTooLargeException`, `TooManyRequestsException`. */
  invoke: InvokeFunction;
  /** Ends the workers that run no event. */
  endIdle(): void;
  /** Ends every worker and rejects running invocations. */
  close(): Promise<void>;
}

/** A loaded function takes about 30 MB, and a thread starts in some 100 ms. */
const DEFAULT_LIMITS: PoolLimits = { maxWorkers: 12, idleMilliseconds: 60_000, patienceMilliseconds: 200 };

const FUNCTION_ARN = new RegExp(`^arn:${PARTITION}:lambda:${REGION}:${ACCOUNT_ID}:function:([^:]+)`);

/** An error by which the local services know its kind. */
export const namedError = (name: string, message: string) => Object.assign(new Error(message), { name });

/** A function's own variables, and those Lambda sets. */
const environmentOf = (spec: FunctionSpec, options: FunctionRuntimeOptions): Record<string, string> => ({
  ...spec.environment(),
  AWS_REGION: REGION,
  AWS_LAMBDA_FUNCTION_NAME: spec.name,
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(spec.memoryMegabytes),
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_LOG_GROUP_NAME: spec.logGroupName,
  AWS_EXECUTION_ENV: `AWS_Lambda_nodejs${process.versions.node.split('.')[0]}.x`,
  AWS_ENDPOINT_URL: options.awsEndpointUrl,
  AWS_ACCESS_KEY_ID: spec.principal.accessKeyId,
  AWS_SECRET_ACCESS_KEY: secretAccessKeyOf(spec.principal.accessKeyId),
  // The local S3 stores no checksums, so computing them would be wasted.
  AWS_REQUEST_CHECKSUM_CALCULATION: 'when_required',
  AWS_RESPONSE_CHECKSUM_VALIDATION: 'when_required',
  // The developer's own AWS profile must not affect the functions.
  AWS_CONFIG_FILE: devNull,
  AWS_SHARED_CREDENTIALS_FILE: devNull,
  ...(options.extraCaCertificates && { NODE_EXTRA_CA_CERTS: options.extraCaCertificates }),
});

/** A runtime for the functions of a stack. Starts no thread before its first event. */
export const createFunctionRuntime = (options: FunctionRuntimeOptions): FunctionRuntime => {
  mkdirSync(options.logDirectory, { recursive: true });
  const limits = { ...DEFAULT_LIMITS, ...options.limits };

  const load = createLoad();
  const poolOf = (spec: FunctionSpec): WorkerPool =>
    createPool(
      () =>
        startWorker(spec, {
          environment: environmentOf(spec, options),
          callAws: options.callAws,
          logFile: join(options.logDirectory, `${spec.logicalId}.log`),
          codeCacheDirectory: options.codeCacheDirectory,
        }),
      limits,
      load,
    );
  const pools = new Map(options.functions.map((spec) => [spec.name, poolOf(spec)] as const));

  const withConcurrency = createConcurrency({
    account: options.maxConcurrency,
    reserved: new Map(
      options.functions.flatMap(({ name, reservedConcurrency }) =>
        reservedConcurrency === undefined ? [] : [[name, reservedConcurrency] as const],
      ),
    ),
  });

  const findPool = (nameOrArn: string): WorkerPool => {
    const pool = pools.get(FUNCTION_ARN.exec(nameOrArn)?.[1] ?? nameOrArn);
    if (!pool) throw namedError('ResourceNotFoundException', `Function not found: ${nameOrArn}`);
    return pool;
  };

  return {
    invoke: async (functionArn, payload, takeChunk) => {
      const pool = findPool(functionArn);
      const text = JSON.stringify(payload ?? null);
      if (Buffer.byteLength(text) > MAX_PAYLOAD_BYTES) {
        throw namedError(
          'RequestTooLargeException',
          `Request must be smaller than ${MAX_PAYLOAD_BYTES} bytes for the InvokeFunction operation`,
        );
      }
      return withConcurrency(FUNCTION_ARN.exec(functionArn)?.[1] ?? functionArn, () =>
        pool.invoke(text, takeChunk),
      );
    },
    endIdle: () => {
      for (const pool of pools.values()) while (pool.endIdle());
    },
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.close()));
    },
  };
};
