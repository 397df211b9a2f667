import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  type Addresses,
  type LocalAws,
  type LocalAwsParts,
  type Stack,
  startLocalAws,
} from '@generation-service/local-aws';
import type { SandboxOptions } from '@generation-service/sandbox';
import { createOperatorEndpoint, OPERATOR_PREFIX } from '../ops/console/endpoint.ts';
import { createCommands } from './run/commands.ts';
import { type LocalRunFile, takeDataDirectory } from './run/data-directory.ts';
import { createFirstAccount } from './run/first-account.ts';
import {
  needsSandbox,
  providerContext,
  providerKeys,
  SANDBOX_KEY,
  sandboxMaxRunning,
  withoutProviders,
} from './run/provider-keys.ts';
import { startSandboxWhereItWas } from './run/sandbox-port.ts';
import { type Context, projectContext, projectRoutes, synthesize } from './run/synthesize.ts';

/** How to start a local run. */
export interface LocalRunOptions {
  /** The port of the API on loopback; 0 takes any free one. */
  port: number;
  dataDir: string;
  /** Start with an empty data directory. */
  reset?: boolean;
  /** CDK context; wins over `cdk.json` and the local defaults. */
  context?: Context;
  /**
   * Holds the provider keys, and in `PERMISSION_USE_DIR` a folder to write to, on close, which permissions were used.
   * Default: the process's environment.
   */
  environment?: Record<string, string | undefined>;
  /** Invocations of all functions at once, as the account's quota on AWS. Default: no limit. */
  maxConcurrency?: number;
  /** Let the sandbox draw images without writing, which takes a tenth of the time. */
  plainImages?: boolean;
  /** Called with the duration of each step of the start. */
  progress?: (step: string, milliseconds: number) => void;
  /** Aborts the start. */
  signal?: AbortSignal;
}

/** The parts of a run that a test may replace. */
export interface LocalRunParts extends LocalAwsParts {
  startSandbox(options: SandboxOptions): Promise<{ url: string; close(): Promise<void> }>;
  synthesize: typeof synthesize;
  createFirstAccount: typeof createFirstAccount;
}

/** A run that is ready. */
export interface LocalRun extends LocalRunFile {
  /** Stops everything and releases the data directory. Safe to call twice. */
  close(): Promise<void>;
}

const DEFAULT_PARTS: Omit<LocalRunParts, keyof LocalAwsParts> = {
  startSandbox: async (options) => (await import('@generation-service/sandbox')).startSandbox(options),
  synthesize,
  createFirstAccount,
};

const stateMachinesOf = (stack: Stack): LocalRunFile['stateMachines'] => {
  const generation = stack.output('GenerationStateMachineArn');
  const expiry = stack.output('ExpiryStateMachineArn');
  const webhookDelivery = stack.output('WebhookDeliveryStateMachineArn');
  const verifyLedgers = stack.output('VerifyLedgersStateMachineArn');
  return {
    ...(generation && { generation }),
    ...(expiry && { expiry }),
    ...(webhookDelivery && { webhookDelivery }),
    ...(verifyLedgers && { verifyLedgers }),
  };
};

/** Whether a browser opens `/`. To programs it is an unknown route of the API. */
const isForStartPage = ({ method, url, headers }: IncomingMessage): boolean =>
  method === 'GET' && url === '/' && headers.accept?.includes('text/html') === true;

/** Redirects to another page of this address, as `/` has no page. */
const leadTo = async (path: string, response: ServerResponse): Promise<void> => {
  response.writeHead(302, { Location: path }).end();
};

/** The description of a run, without its account. */
const describe = (
  { baseUrl, stack, endpoint, operator }: LocalAws,
  sandboxUrl: string | null,
  operatorToken: string,
) => ({
  baseUrl,
  consoleUrl: `${baseUrl}/console#operator=${operatorToken}`,
  awsEndpointUrl: endpoint.url,
  tableName: stack.output('TableName') ?? '',
  bucketName: stack.output('BucketName') ?? '',
  stateMachines: stateMachinesOf(stack),
  sandboxUrl,
  outputs: stack.outputs(),
  pid: process.pid,
  operatorAccessKeyId: operator.accessKeyId,
  operatorSecretAccessKey: operator.secretAccessKey,
});

/**
 * Starts the whole service on loopback. Resolves when it takes requests. The steps:
 *
 * 1. Take the data directory.
 * 2. Start the sandbox providers, and synthesize the stack with their addresses and its own in the context.
 * 3. Run the stack.
 * 4. Create the account `demo` on a first start, and write `local.json`.
 *
 * Rejects with everything stopped when a step fails.
 */
export const startLocalRun = async (
  options: LocalRunOptions,
  replacedParts: Partial<LocalRunParts> = {},
): Promise<LocalRun> => {
  const parts = { ...DEFAULT_PARTS, ...replacedParts };
  const { environment = process.env, signal } = options;
  const givenContext = withoutProviders(options.context ?? {}, environment);
  const data = takeDataDirectory(options.dataDir, { reset: options.reset ?? false });
  const commands = createCommands(data.path);
  const operatorToken = data.operatorToken();
  const hasConsole = String(givenContext.console ?? true) === 'true';
  let description: LocalRunFile | undefined;
  const described = (): LocalRunFile => {
    if (!description) throw new Error('The run was not described');
    return description;
  };
  let sandbox: { url: string; close(): Promise<void> } | undefined;
  let aws: LocalAws | undefined;

  const stop = async () => {
    data.removeRunFile();
    try {
      await commands.close();
      await aws?.close();
    } finally {
      await sandbox?.close();
      data.release();
    }
  };
  let stopped: Promise<void> | undefined;
  const close = () => {
    stopped ??= stop();
    return stopped;
  };

  const synthesizeStack = async ({ baseUrl, filesUrl }: Addresses): Promise<string> => {
    if (needsSandbox(environment)) {
      const { plainImages } = options;
      const allowPrivateTargets = String(givenContext.allowPrivateTargets ?? true) === 'true';
      const maxRunning = sandboxMaxRunning({ ...projectContext(), ...givenContext });
      sandbox = await startSandboxWhereItWas(
        (port) =>
          parts.startSandbox({ port, apiKey: SANDBOX_KEY, plainImages, maxRunning, allowPrivateTargets }),
        data.file('sandbox-port'),
      );
    }
    signal?.throwIfAborted();
    const context = {
      publicBaseUrl: baseUrl,
      deliveryBaseUrl: filesUrl,
      allowPrivateTargets: 'true',
      console: 'true',
      ...providerContext(environment, sandbox?.url ?? null, projectRoutes()),
      ...givenContext,
    };
    await parts.synthesize(data.file('cdk.out'), context, signal);
    return data.file('cdk.out');
  };

  const findAccount = async (running: LocalAws) => {
    const known = data.readAccount();
    if (known) return known;
    // The operators' command line needs a description of the run, but it must not show the run as ready to
    // others.
    const noAccount = { apiKey: '', accountId: '', webhookSecret: '' };
    data.writeRunFile(
      { ...describe(running, sandbox?.url ?? null, operatorToken), ...noAccount },
      'starting',
    );
    const created = await parts.createFirstAccount(data.file('starting'), signal);
    await rm(data.file('starting'), { recursive: true, force: true });
    data.writeAccount(created);
    return created;
  };

  try {
    aws = await startLocalAws(
      {
        assembly: synthesizeStack,
        dataDir: data.path,
        port: options.port,
        secretValues: (stack) => providerKeys(stack, environment),
        beforeSchedules: async (running) => {
          const account = await findAccount(running);
          signal?.throwIfAborted();
          description = { ...describe(running, sandbox?.url ?? null, operatorToken), ...account };
          data.writeRunFile(description);
        },
        ownRoutes: ({ baseUrl }) => {
          const operator = createOperatorEndpoint({
            ...{ baseUrl, token: operatorToken, run: commands.run, account: described },
          });
          return {
            takes: (request) => isForStartPage(request) || request.url?.startsWith(OPERATOR_PREFIX) === true,
            handle: (request, response) =>
              request.url?.startsWith(OPERATOR_PREFIX)
                ? operator(request, response)
                : leadTo(hasConsole ? '/console' : '/docs', response),
          };
        },
        ...(environment.DYNAMODB_ENDPOINT && { dynamodbEndpoint: environment.DYNAMODB_ENDPOINT }),
        ...(environment.NODE_EXTRA_CA_CERTS && { extraCaCertificates: environment.NODE_EXTRA_CA_CERTS }),
        ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
        ...(environment.PERMISSION_USE_DIR && {
          permissionsFile: join(environment.PERMISSION_USE_DIR, `${randomUUID()}.json`),
        }),
        ...(options.progress && { progress: options.progress }),
        ...(signal && { signal }),
      },
      replacedParts,
    );
    return { ...described(), close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
};
