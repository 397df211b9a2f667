import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import {
  type Addresses,
  type LocalAws,
  type LocalAwsOptions,
  type LocalAwsParts,
  type Stack,
  startLocalAws,
} from '@generation-service/local-aws';
import type { SandboxOptions } from '@generation-service/sandbox';
import { createOperatorEndpoint, OPERATOR_PREFIX } from '../ops/console/endpoint.ts';
import { createCommands } from './run/commands.ts';
import { type DataDirectory, type LocalRunFile, takeDataDirectory } from './run/data-directory.ts';
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

/** A start of the local run: the options, and the servers started so far. */
class Start {
  private readonly options: LocalRunOptions;
  private readonly parts: Omit<LocalRunParts, keyof LocalAwsParts>;
  private readonly environment: NonNullable<LocalRunOptions['environment']>;
  private readonly givenContext: Context;
  private readonly data: DataDirectory;
  private readonly commands: ReturnType<typeof createCommands>;
  private readonly operatorToken: string;
  private description: LocalRunFile | undefined;
  private sandbox: { url: string; close(): Promise<void> } | undefined;
  private aws: LocalAws | undefined;
  private stopped: Promise<void> | undefined;

  constructor(options: LocalRunOptions, parts: Omit<LocalRunParts, keyof LocalAwsParts>) {
    this.options = options;
    this.parts = parts;
    this.environment = options.environment ?? process.env;
    this.givenContext = withoutProviders(options.context ?? {}, this.environment);
    this.data = takeDataDirectory(options.dataDir, { reset: options.reset ?? false });
    this.commands = createCommands(this.data.path);
    this.operatorToken = this.data.operatorToken();
  }

  async run(replacedParts: Partial<LocalRunParts>): Promise<LocalRun> {
    const { options, environment } = this;
    const { progress, signal } = options;
    this.aws = await startLocalAws(
      {
        assembly: (addresses) => this.synthesize(addresses),
        dataDir: this.data.path,
        port: options.port,
        secretValues: (stack) => providerKeys(stack, environment),
        beforeSchedules: (running) => this.describe(running),
        ownRoutes: (addresses) => this.ownRoutes(addresses),
        ...(environment.DYNAMODB_ENDPOINT && { dynamodbEndpoint: environment.DYNAMODB_ENDPOINT }),
        ...(environment.NODE_EXTRA_CA_CERTS && { extraCaCertificates: environment.NODE_EXTRA_CA_CERTS }),
        ...(options.maxConcurrency !== undefined && { maxConcurrency: options.maxConcurrency }),
        ...(environment.PERMISSION_USE_DIR && {
          permissionsFile: join(environment.PERMISSION_USE_DIR, `${randomUUID()}.json`),
        }),
        ...(progress && { progress }),
        ...(signal && { signal }),
      },
      replacedParts,
    );
    return { ...this.described(), close: () => this.close() };
  }

  close(): Promise<void> {
    this.stopped ??= this.stop();
    return this.stopped;
  }

  private async stop(): Promise<void> {
    this.data.removeRunFile();
    try {
      await this.commands.close();
      await this.aws?.close();
    } finally {
      await this.sandbox?.close();
      this.data.release();
    }
  }

  private async synthesize({ baseUrl, filesUrl }: Addresses): Promise<string> {
    const { data, environment, givenContext } = this;
    const { signal } = this.options;
    if (needsSandbox(environment)) this.sandbox = await this.startSandbox();
    signal?.throwIfAborted();
    const context = {
      publicBaseUrl: baseUrl,
      deliveryBaseUrl: filesUrl,
      allowPrivateTargets: 'true',
      console: 'true',
      ...providerContext(environment, this.sandboxUrl(), projectRoutes()),
      ...givenContext,
    };
    await this.parts.synthesize(data.file('cdk.out'), context, signal);
    return data.file('cdk.out');
  }

  private startSandbox(): Promise<{ url: string; close(): Promise<void> }> {
    const { givenContext } = this;
    const { plainImages } = this.options;
    const allowPrivateTargets = String(givenContext.allowPrivateTargets ?? true) === 'true';
    const maxRunning = sandboxMaxRunning({ ...projectContext(), ...givenContext });
    const options = { apiKey: SANDBOX_KEY, plainImages, maxRunning, allowPrivateTargets };
    return startSandboxWhereItWas(
      (port) => this.parts.startSandbox({ port, ...options }),
      this.data.file('sandbox-port'),
    );
  }

  private sandboxUrl(): string | null {
    return this.sandbox?.url ?? null;
  }

  /** Writes the description of the run, with its account. */
  private async describe(running: LocalAws): Promise<void> {
    const account = await this.findAccount(running);
    this.options.signal?.throwIfAborted();
    this.description = { ...describe(running, this.sandboxUrl(), this.operatorToken), ...account };
    this.data.writeRunFile(this.description);
  }

  private described(): LocalRunFile {
    if (!this.description) throw new Error('The run was not described');
    return this.description;
  }

  /** The account of an earlier run, or a new account. */
  private async findAccount(running: LocalAws): Promise<Awaited<ReturnType<typeof createFirstAccount>>> {
    const { data } = this;
    const known = data.readAccount();
    if (known) return known;
    // The operators' command line needs a description of the run, but it must not show the run as ready to
    // others.
    const noAccount = { apiKey: '', accountId: '', webhookSecret: '' };
    data.writeRunFile(
      { ...describe(running, this.sandboxUrl(), this.operatorToken), ...noAccount },
      'starting',
    );
    const created = await this.parts.createFirstAccount(data.file('starting'), this.options.signal);
    await rm(data.file('starting'), { recursive: true, force: true });
    data.writeAccount(created);
    return created;
  }

  /** The operator's endpoint, and the start page. */
  private ownRoutes({ baseUrl }: Addresses): ReturnType<NonNullable<LocalAwsOptions['ownRoutes']>> {
    const operator = createOperatorEndpoint({
      ...{ baseUrl, token: this.operatorToken, run: this.commands.run },
      account: () => this.described(),
    });
    const hasConsole = String(this.givenContext.console ?? true) === 'true';
    return {
      takes: (request) => isForStartPage(request) || request.url?.startsWith(OPERATOR_PREFIX) === true,
      handle: (request, response) =>
        request.url?.startsWith(OPERATOR_PREFIX)
          ? operator(request, response)
          : leadTo(hasConsole ? '/console' : '/docs', response),
    };
  }
}

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
  const start = new Start(options, { ...DEFAULT_PARTS, ...replacedParts });
  try {
    return await start.run(replacedParts);
  } catch (error) {
    await start.close().catch(() => undefined);
    throw error;
  }
};
