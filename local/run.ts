import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AwsEndpoint, AwsEndpointOptions } from '../packages/local-aws/src/aws/endpoint.ts';
import { provisionCustomResources } from '../packages/local-aws/src/custom-resources.ts';
import { createDelivery } from '../packages/local-aws/src/delivery.ts';
import { createEventBus, type EventBus } from '../packages/local-aws/src/events/event-bus.ts';
import { createFunctionRuntime, type FunctionRuntime } from '../packages/local-aws/src/functions/runtime.ts';
import { type FrontDoor, startFrontDoor } from '../packages/local-aws/src/gateway/front-door.ts';
import { createGateway } from '../packages/local-aws/src/gateway/gateway.ts';
import { ACCOUNT_ID, REGION } from '../packages/local-aws/src/template/attributes.ts';
import { readStack, type Stack } from '../packages/local-aws/src/template.ts';
import { type LocalRunFile, takeDataDirectory } from './run/data-directory.ts';
import { createFirstAccount } from './run/first-account.ts';
import {
  needsSandbox,
  providerContext,
  replaceProviderKeys,
  SANDBOX_KEY,
  secretsWithProviderKeys,
} from './run/provider-keys.ts';
import { type Context, projectContext, synthesize } from './run/synthesize.ts';

/** How to start a local run. */
export interface LocalRunOptions {
  /** Of the front door on loopback; 0 takes any free one. */
  port: number;
  dataDir: string;
  /** Begin with an empty data directory. */
  reset?: boolean;
  /** CDK context over that of `cdk.json` and the local defaults. */
  context?: Context;
  /** Where provider keys are looked for. Default: the process's. */
  environment?: Record<string, string | undefined>;
  /** Told how long each step of the start took. */
  progress?: (step: string, milliseconds: number) => void;
  /** Gives the start up. */
  signal?: AbortSignal;
}

/** The parts of a run that a test may replace. */
export interface LocalRunParts {
  startSandbox(options: { port: number; apiKey: string }): Promise<{ url: string; close(): Promise<void> }>;
  startAwsEndpoint(options: AwsEndpointOptions): Promise<AwsEndpoint>;
  synthesize: typeof synthesize;
  createFirstAccount: typeof createFirstAccount;
  createEventBus: typeof createEventBus;
}

/** A run that is ready. */
export interface LocalRun extends LocalRunFile {
  /** The AWS endpoint itself, for whoever runs in the same process. */
  endpoint: AwsEndpoint;
  /** Stops everything and gives the data directory free. Safe to call twice. */
  close(): Promise<void>;
}

/** Loaded when needed, so that they load while the stack is synthesized. */
const REAL_PARTS: LocalRunParts = {
  startSandbox: async (options) => (await import('@generation-service/sandbox')).startSandbox(options),
  startAwsEndpoint: async (options) =>
    (await import('../packages/local-aws/src/aws/endpoint.ts')).startAwsEndpoint(options),
  synthesize,
  createFirstAccount,
  createEventBus,
};

const FILES_PATH = '/files';

const stateMachinesOf = (stack: Stack): LocalRunFile['stateMachines'] => {
  const generation = stack.output('GenerationStateMachineArn');
  const expiry = stack.output('ExpiryStateMachineArn');
  const webhookDelivery = stack.output('WebhookDeliveryStateMachineArn');
  return {
    ...(generation && { generation }),
    ...(expiry && { expiry }),
    ...(webhookDelivery && { webhookDelivery }),
  };
};

const functionsBehind = ({ api }: Stack): string[] =>
  (api?.routes ?? []).flatMap(({ integration }) =>
    integration.type === 'AWS_PROXY' ? [integration.functionArn] : [],
  );

/**
 * Starts the whole service on loopback and resolves when it takes requests:
 *
 * 1. takes the data directory and the port;
 * 2. starts the sandbox providers, and synthesizes the stack with the two addresses in its context;
 * 3. starts the AWS endpoint with the stack's tables, buckets and secrets, and gives the roles to it;
 * 4. makes the custom resources, starts the state machines, opens the front door;
 * 5. makes the account `demo` at a first start, writes `local.json`, and starts the schedules.
 *
 * Rejects with everything stopped when a step fails.
 */
export const startLocalRun = async (
  options: LocalRunOptions,
  replacedParts: Partial<LocalRunParts> = {},
): Promise<LocalRun> => {
  const parts = { ...REAL_PARTS, ...replacedParts };
  const { environment = process.env, signal, progress = () => undefined } = options;
  const data = takeDataDirectory(options.dataDir, { reset: options.reset ?? false });
  const started: {
    frontDoor?: FrontDoor;
    endpoint?: AwsEndpoint;
    bus?: EventBus;
    runtime?: FunctionRuntime;
    sandbox?: { close(): Promise<void> };
  } = {};

  const stop = async () => {
    data.removeRunFile();
    started.bus?.close();
    // Executions are put to rest before the functions they wait for, so that none of them takes the stop for a failure.
    const closing = [started.frontDoor, started.endpoint, started.runtime, started.sandbox];
    const problems: unknown[] = [];
    for (const part of closing) await part?.close().catch((error: unknown) => problems.push(error));
    data.release();
    if (problems.length > 0) throw new AggregateError(problems, 'The local run did not stop cleanly');
  };
  let stopped: Promise<void> | undefined;
  const close = () => {
    stopped ??= stop();
    return stopped;
  };

  const step = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const result = await work();
    progress(name, Math.round(performance.now() - startedAt));
    return result;
  };

  try {
    mkdirSync(data.file('logs'), { recursive: true });
    const log = (name: string) => (line: string) =>
      appendFileSync(join(data.file('logs'), `${name}.log`), `${new Date().toISOString()} ${line}\n`);

    const frontDoor = await step('front door', () => startFrontDoor(options.port));
    started.frontDoor = frontDoor;
    const { baseUrl } = frontDoor;
    const deliveryBaseUrl = baseUrl + FILES_PATH;

    const sandbox = needsSandbox(environment)
      ? await step('sandbox', () => parts.startSandbox({ port: 0, apiKey: SANDBOX_KEY }))
      : undefined;
    if (sandbox) started.sandbox = sandbox;

    const stack = await step('synthesis', async () => {
      const context = {
        publicBaseUrl: baseUrl,
        deliveryBaseUrl,
        allowPrivateTargets: 'true',
        ...providerContext(environment, sandbox?.url ?? null, projectContext().modelRoutes ?? {}),
        ...options.context,
      };
      await parts.synthesize(data.file('cdk.out'), context, signal);
      return readStack(data.file('cdk.out'));
    });

    const operator = {
      accessKeyId: `AKIA${randomBytes(8).toString('hex').toUpperCase()}`,
      secretAccessKey: randomBytes(30).toString('base64url'),
    };
    const endpoint = await step('AWS endpoint', () =>
      parts.startAwsEndpoint({
        dataDir: data.path,
        port: 0,
        region: REGION,
        accountId: ACCOUNT_ID,
        tables: stack.tables,
        buckets: stack.buckets,
        secrets: secretsWithProviderKeys(stack, environment),
        ...(environment.DYNAMODB_ENDPOINT && { dynamodbEndpoint: environment.DYNAMODB_ENDPOINT }),
      }),
    );
    started.endpoint = endpoint;
    endpoint.addPrincipals([
      { name: 'operator', accessKeyId: operator.accessKeyId },
      ...stack.functions.map(({ principal }) => principal),
      ...stack.stateMachines.map(({ principal }) => principal),
    ]);
    await replaceProviderKeys(stack, environment, endpoint, operator);

    const runtime = createFunctionRuntime({
      functions: stack.functions,
      awsEndpointUrl: endpoint.url,
      logDirectory: data.file('logs'),
      ...(environment.NODE_EXTRA_CA_CERTS && { extraCaCertificates: environment.NODE_EXTRA_CA_CERTS }),
    });
    started.runtime = runtime;

    await step('custom resources', () =>
      provisionCustomResources({
        resolver: stack.resolver,
        customResources: stack.customResources,
        invoke: runtime.invoke,
        stateFile: data.file('custom-resources.json'),
      }),
    );
    const bus = parts.createEventBus({ rules: stack.rules, invoke: runtime.invoke });
    started.bus = bus;
    // Before the routes, which start executions as soon as they are open.
    await step('state machines', () =>
      endpoint.startStateMachines(stack.stateMachines, runtime.invoke, bus.publish),
    );
    await step('routes', () => {
      if (!stack.api) throw new Error('The stack has no REST API');
      const { hostname } = new URL(baseUrl);
      const distribution = stack.distribution();
      const readObject = endpoint.readObject.bind(endpoint);
      frontDoor.open({
        api: createGateway({
          api: stack.api,
          invoke: runtime.invoke,
          domainName: hostname,
          log: log('gateway'),
        }),
        ...(distribution && {
          files: {
            prefix: `${FILES_PATH}/`,
            handle: createDelivery({ distribution, deliveryBaseUrl, readObject, log: log('delivery') }),
          },
        }),
      });
    });

    const facts: LocalRunFile = {
      ...{ baseUrl, apiKey: '', accountId: '', webhookSecret: '', awsEndpointUrl: endpoint.url },
      tableName: stack.output('TableName') ?? '',
      bucketName: stack.output('BucketName') ?? '',
      stateMachines: stateMachinesOf(stack),
      sandboxUrl: sandbox?.url ?? null,
      outputs: stack.outputs(),
      pid: process.pid,
      operatorAccessKeyId: operator.accessKeyId,
      operatorSecretAccessKey: operator.secretAccessKey,
    };
    const account = await step('account', async () => {
      const known = data.readAccount();
      if (known) return known;
      // The operators' command line needs a description of the run, but nobody else may take the run for ready.
      data.writeRunFile(facts, 'starting');
      const created = await parts.createFirstAccount(data.file('starting'), signal);
      await rm(data.file('starting'), { recursive: true, force: true });
      data.writeAccount(created);
      return created;
    });
    signal?.throwIfAborted();
    const ready = { ...facts, ...account };
    data.writeRunFile(ready);
    bus.start();
    runtime.prewarm(functionsBehind(stack)).catch((error) => log('gateway')(`prewarming: ${error}`));
    return { ...ready, endpoint, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
};
