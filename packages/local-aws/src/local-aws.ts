import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { obtainDynoxide } from './aws/dynamodb/engine-package.ts';
import type { AwsEndpoint } from './aws/endpoint.ts';
import { provisionCustomResources } from './custom-resources.ts';
import { createDelivery, hasOwnBehavior } from './delivery.ts';
import { createEventBus, type EventBus } from './events/event-bus.ts';
import { type AsyncInvocations, createAsyncInvocations } from './functions/async-invocations.ts';
import { type FunctionUrl, startFunctionUrl } from './functions/function-url.ts';
import { createFunctionRuntime, type FunctionRuntime, namedError } from './functions/runtime.ts';
import { type FrontDoor, startFrontDoor } from './gateway/front-door.ts';
import { createGateway } from './gateway/gateway.ts';
import type { Addresses, LocalAws, LocalAwsOptions, LocalAwsParts } from './options.ts';
import { makePrivateDirectory } from './private-directory.ts';
import { ACCOUNT_ID, REGION } from './template/attributes.ts';
import { readStack, type Stack } from './template.ts';
import type { InvokeFunction } from './types.ts';

export type { Addresses, LocalAws, LocalAwsOptions, LocalAwsParts } from './options.ts';

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

/** What a start works with, complete and with absolute paths. */
interface StartContext {
  options: LocalAwsOptions;
  parts: LocalAwsParts;
  dataDir: string;
  logDirectory: string;
}

/** A start of a run: what was started so far, and the steps that start the rest. */
class Start {
  private readonly context: StartContext;
  private readonly functionUrls: FunctionUrl[] = [];
  private frontDoor: FrontDoor | undefined;
  private endpoint: AwsEndpoint | undefined;
  private runtime: FunctionRuntime | undefined;
  private invocations: AsyncInvocations | undefined;
  private bus: EventBus | undefined;
  private stopped: Promise<void> | undefined;

  constructor(context: StartContext) {
    this.context = context;
  }

  async run(): Promise<LocalAws> {
    const { options, dataDir, logDirectory } = this.context;
    if (options.dynamodbEndpoint === undefined) await obtainDynoxide(options.signal);
    makePrivateDirectory(dataDir);
    mkdirSync(logDirectory, { recursive: true });
    const frontDoor = await this.step('front door', () => startFrontDoor(options.port));
    this.frontDoor = frontDoor;
    const { baseUrl } = frontDoor;
    const addresses: Addresses = { baseUrl, filesUrl: baseUrl + FILES_PATH };
    const stack = await this.step('assembly', () => this.readAssembly(addresses));
    const operator = createOperator();
    const endpoint = await this.step('AWS endpoint', () => this.startEndpoint(stack, operator));
    const { runtime, invocations } = this.startRuntime(stack, endpoint);
    const { invoke } = runtime;
    await this.openResources(stack, invoke);
    const bus = await this.startMachines(stack, { invoke, invocations, endpoint });
    await this.step('routes', () => this.openRoutes(frontDoor, addresses, { stack, endpoint, invoke }));

    const run: LocalAws = { ...addresses, stack, endpoint, operator, close: () => this.close() };
    await options.beforeSchedules?.(run);
    options.signal?.throwIfAborted();
    // Functions of custom resources have no other work.
    runtime.endIdle();
    bus.start();
    return run;
  }

  /** Stops what was started. */
  close(): Promise<void> {
    this.bus?.close();
    this.invocations?.close();
    // Executions stop before the functions that they wait for, or an execution would take the stop for a failure.
    this.stopped ??= closeAll([this.frontDoor, ...this.functionUrls, this.endpoint, this.runtime]);
    return this.stopped;
  }

  /** Does one step, unless the start is aborted, and reports how long it took. */
  private async step<T>(name: string, work: () => T | Promise<T>): Promise<T> {
    const { signal, progress } = this.context.options;
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const result = await work();
    progress?.(name, Math.round(performance.now() - startedAt));
    return result;
  }

  private log(name: string): (line: string) => void {
    const file = join(this.context.logDirectory, `${name}.log`);
    return (line) => appendFileSync(file, `${new Date().toISOString()} ${line}\n`);
  }

  private async readAssembly(addresses: Addresses): Promise<Stack> {
    const { assembly } = this.context.options;
    return readStack(typeof assembly === 'string' ? assembly : await assembly(addresses));
  }

  private async startEndpoint(stack: Stack, operator: LocalAws['operator']): Promise<AwsEndpoint> {
    const { options, parts, dataDir } = this.context;
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
    this.endpoint = endpoint;
    endpoint.addPrincipals([
      { name: 'operator', accessKeyId: operator.accessKeyId },
      ...stack.functions.map(({ principal }) => principal),
      ...stack.stateMachines.map(({ principal }) => principal),
    ]);
    for (const [name, value] of values) {
      if (endpoint.readSecret(name) !== value) endpoint.writeSecret(name, value);
    }
    return endpoint;
  }

  /** Starts the functions, and lets the endpoint invoke them. */
  private startRuntime(
    stack: Stack,
    endpoint: AwsEndpoint,
  ): { runtime: FunctionRuntime; invocations: AsyncInvocations } {
    const { options, dataDir, logDirectory } = this.context;
    const runtime = createFunctionRuntime({
      functions: stack.functions,
      awsEndpointUrl: endpoint.url,
      callAws: endpoint.callDirectly,
      logDirectory,
      codeCacheDirectory: join(dataDir, 'code-cache'),
      ...(options.extraCaCertificates && { extraCaCertificates: options.extraCaCertificates }),
      ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
    });
    this.runtime = runtime;
    const invocations = createAsyncInvocations(runtime.invoke);
    this.invocations = invocations;
    endpoint.openFunctions(runtime.invoke, (functionArn, payload) => {
      const settings = stack.asyncSettings.get(functionArn);
      if (!settings) throw namedError('ResourceNotFoundException', `Function not found: ${functionArn}`);
      invocations.add({ functionArn, ...settings }, payload, 'asynchronous invocation');
    });
    return { runtime, invocations };
  }

  /** Opens the function URLs and provisions the custom resources. */
  private async openResources(stack: Stack, invoke: InvokeFunction): Promise<void> {
    await this.step('function URLs', async () => {
      for (const { logicalId, functionArn } of stack.functionUrls) {
        const server = await startFunctionUrl(functionArn, invoke, this.log('function-urls'));
        this.functionUrls.push(server);
        stack.customResources.set(logicalId, {
          physicalResourceId: functionArn,
          data: { FunctionUrl: server.url, FunctionArn: functionArn },
        });
      }
    });
    await this.step('custom resources', () =>
      provisionCustomResources({
        resolver: stack.resolver,
        customResources: stack.customResources,
        invoke,
        stateFile: join(this.context.dataDir, 'custom-resources.json'),
      }),
    );
    for (const { environment } of stack.functions) environment();
  }

  /** Starts the state machines, before the routes: open routes start executions. */
  private async startMachines(
    stack: Stack,
    {
      invoke,
      invocations,
      endpoint,
    }: { invoke: InvokeFunction; invocations: AsyncInvocations; endpoint: AwsEndpoint },
  ): Promise<EventBus> {
    const bus = this.context.parts.createEventBus({
      rules: stack.rules,
      invocations,
      startExecution: ({ principal, stateMachineArn }, input) =>
        endpoint.startExecution(principal, stateMachineArn, input),
    });
    this.bus = bus;
    await this.step('state machines', () =>
      endpoint.startStateMachines(stack.stateMachines, invoke, bus.publish),
    );
    return bus;
  }

  private openRoutes(
    frontDoor: FrontDoor,
    addresses: Addresses,
    { stack, endpoint, invoke }: { stack: Stack; endpoint: AwsEndpoint; invoke: InvokeFunction },
  ): void {
    if (!stack.api) throw new Error('The stack has no REST API');
    const { ownRoutes } = this.context.options;
    const distribution = stack.distribution();
    frontDoor.open({
      api: createGateway({
        api: stack.api,
        invoke,
        domainName: new URL(addresses.baseUrl).hostname,
        log: this.log('gateway'),
      }),
      ...(ownRoutes && { own: ownRoutes(addresses) }),
      ...(distribution && {
        files: {
          prefix: `${FILES_PATH}/`,
          alsoAt: hasOwnBehavior(distribution),
          handle: createDelivery({
            distribution,
            deliveryBaseUrl: addresses.filesUrl,
            readObject: endpoint.readObject.bind(endpoint),
            log: this.log('delivery'),
          }),
        },
      }),
    });
  }
}

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
  const dataDir = resolve(options.dataDir);
  const parts = { ...DEFAULT_PARTS, ...replacedParts };
  const start = new Start({ options, parts, dataDir, logDirectory: join(dataDir, 'logs') });
  try {
    return await start.run();
  } catch (error) {
    await start.close().catch(() => undefined);
    throw error;
  }
};
