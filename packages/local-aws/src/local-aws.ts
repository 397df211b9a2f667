import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { obtainDynoxide } from './aws/dynamodb/engine-package.ts';
import type { AwsEndpoint, AwsEndpointOptions } from './aws/endpoint.ts';
import { provisionCustomResources } from './custom-resources.ts';
import { createDelivery, hasOwnBehavior } from './delivery.ts';
import { createEventBus, type EventBus } from './events/event-bus.ts';
import { type AsyncInvocations, createAsyncInvocations } from './functions/async-invocations.ts';
import { type FunctionUrl, startFunctionUrl } from './functions/function-url.ts';
import { createFunctionRuntime, namedError } from './functions/runtime.ts';
import { type OwnRoutes, startFrontDoor } from './gateway/front-door.ts';
import { createGateway } from './gateway/gateway.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { ACCOUNT_ID, REGION } from './template/attributes.ts';
import { readStack, type Stack } from './template.ts';

/** URLs known before the stack is synthesized, so that the stack may contain them. No URL ends with a slash. */
export interface Addresses {
  /** The REST API. */
  baseUrl: string;
  /** The CloudFront distribution. */
  filesUrl: string;
}

/** How to run a cloud assembly. */
export interface LocalAwsOptions {
  /** The directory of the cloud assembly, or a function that synthesizes it and returns the directory. */
  assembly: string | ((addresses: Addresses) => string | Promise<string>);
  /** Where tables, objects, secrets, executions and logs are kept; created when absent. For one run at a time. */
  dataDir: string;
  /** The port of the REST API on loopback; 0 takes any free one. */
  port: number;
  /** A DynamoDB-compatible endpoint. Default: dynoxide is started in the data directory. */
  dynamodbEndpoint?: string;
  /** Values by secret name for secrets of the stack; they replace what an earlier run kept. */
  secretValues?: (stack: Stack) => ReadonlyMap<string, string>;
  /** Runs once the routes answer and before any schedule fires. A rejection ends the start. */
  beforeSchedules?: (run: LocalAws) => Promise<void>;
  /** Paths at the address of the API that the caller answers itself. Open when `beforeSchedules` runs. */
  ownRoutes?: (addresses: Addresses) => OwnRoutes;
  /** A file of extra certificate authorities for the functions. */
  extraCaCertificates?: string;
  /** Invocations of all functions at once, as the account's quota. More are throttled. Default: no limit. */
  maxConcurrency?: number;
  /** Executions that run at once, in all state machines. Default: 1,000,000, as for an account. */
  maxOpenExecutions?: number;
  /** Where to write, on close, which permissions of the roles were used. */
  permissionsFile?: string;
  /** Called with the duration of each step of the start. */
  progress?: (step: string, milliseconds: number) => void;
  /** Aborts the start. */
  signal?: AbortSignal;
}

/** The parts that a caller may wrap or replace, to measure or to test. */
export interface LocalAwsParts {
  startAwsEndpoint(options: AwsEndpointOptions): Promise<AwsEndpoint>;
  createEventBus: typeof createEventBus;
}

/** A running assembly. */
export interface LocalAws extends Addresses {
  stack: Stack;
  endpoint: AwsEndpoint;
  /** Credentials of the operator, who may do everything at the AWS endpoint. */
  operator: { accessKeyId: string; secretAccessKey: string };
  /** Stops everything. Executions that still run begin again at the next start. Safe to call twice. */
  close(): Promise<void>;
}

/** The endpoint is loaded while the stack is synthesized. */
const DEFAULT_PARTS: LocalAwsParts = {
  startAwsEndpoint: async (options) => (await import('./aws/endpoint.ts')).startAwsEndpoint(options),
  createEventBus,
};

const FILES_PATH = '/files';

/** Files and directories of a run in its data directory. */
export const DATA_FILES: readonly string[] = [
  'custom-resources.json',
  'dynamodb.sqlite',
  'dynamodb.sqlite-shm',
  'dynamodb.sqlite-wal',
  'executions',
  'logs',
  'objects',
  'secrets.json',
];

const createOperator = () => ({
  accessKeyId: `AKIA${randomBytes(8).toString('hex').toUpperCase()}`,
  secretAccessKey: randomBytes(30).toString('base64url'),
});

/** Closes parts in the order given. Throws an `AggregateError` once all were tried. */
const closeAll = async (parts: ({ close(): Promise<void> } | undefined)[]): Promise<void> => {
  const problems: unknown[] = [];
  for (const part of parts) await part?.close().catch((error: unknown) => problems.push(error));
  if (problems.length > 0) throw new AggregateError(problems, 'The local run did not stop cleanly');
};

/**
 * Runs the one stack of a cloud assembly on loopback; resolves when its routes answer and its schedules run.
 *
 * 1. Binds the port.
 * 2. Synthesizes and reads the assembly.
 * 3. Starts the AWS endpoint with the stack's tables, buckets, secrets and roles.
 * 4. Opens the function URLs, creates the custom resources, starts the state machines, opens the routes.
 * 5. Calls `beforeSchedules`, then starts the schedules.
 *
 * When a step fails, stops everything and rejects: with `TemplateError` for a stack that cannot run locally, with
 * `NoDynamoDbEngineError` if dynoxide cannot be had and no endpoint is given.
 */
export const startLocalAws = async (
  options: LocalAwsOptions,
  replacedParts: Partial<LocalAwsParts> = {},
): Promise<LocalAws> => {
  const parts = { ...DEFAULT_PARTS, ...replacedParts };
  const { signal, progress = () => undefined } = options;
  const dataDir = resolve(options.dataDir);
  const logDirectory = join(dataDir, 'logs');
  const started: Partial<Record<'frontDoor' | 'endpoint' | 'runtime', { close(): Promise<void> }>> & {
    bus?: EventBus;
    invocations?: AsyncInvocations;
    functionUrls: FunctionUrl[];
  } = { functionUrls: [] };

  let stopped: Promise<void> | undefined;
  const close = () => {
    started.bus?.close();
    started.invocations?.close();
    // Executions stop before the functions that they wait for, or an execution would take the stop for a failure.
    stopped ??= closeAll([started.frontDoor, ...started.functionUrls, started.endpoint, started.runtime]);
    return stopped;
  };

  const step = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const result = await work();
    progress(name, Math.round(performance.now() - startedAt));
    return result;
  };

  const log = (name: string) => (line: string) =>
    appendFileSync(join(logDirectory, `${name}.log`), `${new Date().toISOString()} ${line}\n`);

  const readAssembly = async (addresses: Addresses): Promise<Stack> => {
    const { assembly } = options;
    return readStack(typeof assembly === 'string' ? assembly : await assembly(addresses));
  };

  const startEndpoint = async (stack: Stack, operator: LocalAws['operator']): Promise<AwsEndpoint> => {
    const values = options.secretValues?.(stack) ?? new Map<string, string>();
    const endpoint = await parts.startAwsEndpoint({
      dataDir,
      port: 0,
      region: REGION,
      accountId: ACCOUNT_ID,
      tables: stack.tables,
      buckets: stack.buckets,
      cors: stack.cors,
      secrets: stack.secrets.map((secret) => {
        const initialValue = values.get(secret.name);
        return initialValue === undefined ? secret : { ...secret, initialValue };
      }),
      dynamodbEndpoint: options.dynamodbEndpoint,
      ...(options.maxOpenExecutions !== undefined && { maxOpenExecutions: options.maxOpenExecutions }),
      ...(options.permissionsFile !== undefined && { permissionsFile: options.permissionsFile }),
      ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
      reservedConcurrency: stack.functions.flatMap(({ reservedConcurrency = [] }) => reservedConcurrency),
    });
    started.endpoint = endpoint;
    endpoint.addPrincipals([
      { name: 'operator', accessKeyId: operator.accessKeyId },
      ...stack.functions.map(({ principal }) => principal),
      ...stack.stateMachines.map(({ principal }) => principal),
    ]);
    for (const [name, value] of values) {
      if (endpoint.readSecret(name) !== value) endpoint.writeSecret(name, value);
    }
    return endpoint;
  };

  try {
    if (options.dynamodbEndpoint === undefined) await obtainDynoxide(signal);
    makePrivateDirectory(dataDir);
    mkdirSync(logDirectory, { recursive: true });
    const frontDoor = await step('front door', () => startFrontDoor(options.port));
    started.frontDoor = frontDoor;
    const { baseUrl } = frontDoor;
    const addresses: Addresses = { baseUrl, filesUrl: baseUrl + FILES_PATH };
    const stack = await step('assembly', () => readAssembly(addresses));
    const operator = createOperator();
    const endpoint = await step('AWS endpoint', () => startEndpoint(stack, operator));

    const runtime = createFunctionRuntime({
      functions: stack.functions,
      awsEndpointUrl: endpoint.url,
      callAws: endpoint.callDirectly,
      logDirectory,
      codeCacheDirectory: join(dataDir, 'code-cache'),
      ...(options.extraCaCertificates && { extraCaCertificates: options.extraCaCertificates }),
      ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
    });
    started.runtime = runtime;
    const { invoke } = runtime;
    const invocations = createAsyncInvocations(invoke);
    started.invocations = invocations;
    endpoint.openFunctions(invoke, (functionArn, payload) => {
      const settings = stack.asyncSettings.get(functionArn);
      if (!settings) throw namedError('ResourceNotFoundException', `Function not found: ${functionArn}`);
      invocations.add({ functionArn, ...settings }, payload, 'asynchronous invocation');
    });

    await step('function URLs', async () => {
      for (const { logicalId, functionArn } of stack.functionUrls) {
        const server = await startFunctionUrl(functionArn, invoke, log('function-urls'));
        started.functionUrls.push(server);
        stack.customResources.set(logicalId, {
          physicalResourceId: functionArn,
          data: { FunctionUrl: server.url, FunctionArn: functionArn },
        });
      }
    });
    await step('custom resources', () =>
      provisionCustomResources({
        resolver: stack.resolver,
        customResources: stack.customResources,
        invoke,
        stateFile: join(dataDir, 'custom-resources.json'),
      }),
    );
    for (const { environment } of stack.functions) environment();
    const bus = parts.createEventBus({
      rules: stack.rules,
      invocations,
      startExecution: ({ principal, stateMachineArn }, input) =>
        endpoint.startExecution(principal, stateMachineArn, input),
    });
    started.bus = bus;
    // Before the routes: those start executions as soon as they are open.
    await step('state machines', () => endpoint.startStateMachines(stack.stateMachines, invoke, bus.publish));
    await step('routes', () => {
      if (!stack.api) throw new Error('The stack has no REST API');
      const distribution = stack.distribution();
      frontDoor.open({
        api: createGateway({
          api: stack.api,
          invoke,
          domainName: new URL(baseUrl).hostname,
          log: log('gateway'),
        }),
        ...(options.ownRoutes && { own: options.ownRoutes(addresses) }),
        ...(distribution && {
          files: {
            prefix: `${FILES_PATH}/`,
            alsoAt: hasOwnBehavior(distribution),
            handle: createDelivery({
              distribution,
              deliveryBaseUrl: addresses.filesUrl,
              readObject: endpoint.readObject.bind(endpoint),
              log: log('delivery'),
            }),
          },
        }),
      });
    });

    const run: LocalAws = { ...addresses, stack, endpoint, operator, close };
    await options.beforeSchedules?.(run);
    signal?.throwIfAborted();
    // Functions of custom resources have no other work.
    runtime.endIdle();
    bus.start();
    return run;
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
};
