import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { makePrivateDirectory } from '../private-directory.ts';
import type { AwsEvent, InvokeFunction, Principal, StateMachineSpec } from '../types.ts';
import { permissionUse } from './authorize.ts';
import { type CallDirectly, createDirectCalls } from './direct-calls.ts';
import { createDynamoDbClient, type DynamoDbClient } from './dynamodb/client.ts';
import { startDynoxide } from './dynamodb/dynoxide.ts';
import type { Faults } from './faults.ts';
import type { InvokeLater } from './lambda/lambda.ts';
import { type OpenedFunctions, openServices, type ServicesOptions } from './open-services.ts';
import { createAwsRouter } from './router.ts';
import { callSecretsManager } from './secrets/secrets-manager.ts';
import type { Services } from './services.ts';

/** How to start the endpoint. */
export interface AwsEndpointOptions extends ServicesOptions {
  /** 0: any free port. */
  port: number;
  /** A DynamoDB-compatible endpoint. Default: starts dynoxide on `<dataDir>/dynamodb.sqlite`. */
  dynamodbEndpoint?: string | undefined;
  /** Where to write, on close, which permissions of the callers were used: a JSON array of `PermissionUse`. */
  permissionsFile?: string;
}

/** An open object. Read `body` to its end or destroy it. `etag` includes its quotes. */
export interface OpenedObject {
  body: Readable;
  contentType: string;
  headers: Record<string, string>;
  contentLength: number;
  etag: string;
}

/** The local AWS endpoint: DynamoDB, S3, Secrets Manager, Step Functions and Lambda at one address, for real SDK clients. */
export interface AwsEndpoint {
  /** `http://127.0.0.1:port`; the value for `AWS_ENDPOINT_URL`. */
  url: string;
  /** Answers calls of functions that run in this process, with the same checks as those over HTTP. */
  callDirectly: CallDirectly;
  /** Adds callers. A request with an unknown access key id is refused (403). */
  addPrincipals(principals: Principal[]): void;
  /** Answers Lambda's Invoke by `invoke`, and asynchronous invocations by `invokeLater`. Before that there are no functions. */
  openFunctions(invoke: InvokeFunction, invokeLater: InvokeLater): void;
  /**
   * Opens the state machines. Executions that an earlier run left RUNNING start again from the beginning: same name, input and start date,
   * new history. `publish` receives an event for every execution that starts or ends. Rejects when a definition cannot run locally.
   */
  startStateMachines(
    specs: StateMachineSpec[],
    invoke: InvokeFunction,
    publish?: (event: AwsEvent) => void,
  ): Promise<void>;
  /** Starts an execution as this principal. Throws the service's error. */
  startExecution(principal: Principal, stateMachineArn: string, input: unknown): void;
  /** Opens an object, without a permission check; undefined when it is absent. */
  readObject(bucket: string, key: string): Promise<OpenedObject | undefined>;
  /** The current value of a secret, by name or ARN; undefined when there is none. */
  readSecret(nameOrArn: string): string | undefined;
  /** Gives a secret a new current value. Throws `ResourceNotFoundException`. */
  writeSecret(nameOrArn: string, value: string): void;
  /** Allowed calls since the start, by principal name, then `service:Operation`. Includes calls of state machines' tasks. */
  calls(): Record<string, Record<string, number>>;
  /** Faults that tests arm; empty at first. */
  faults: Faults;
  /** Stops within about two seconds. The next start resumes running executions. */
  close(): Promise<void>;
}

/** Time for responses in flight once the endpoint closes. */
const CLOSE_GRACE_MILLIS = 500;

const noFunctions: InvokeFunction = (arn) =>
  Promise.reject(
    Object.assign(new Error(`Function not found: ${arn}`), { name: 'ResourceNotFoundException' }),
  );

const noFunctionsLater: InvokeLater = (arn) => {
  throw Object.assign(new Error(`Function not found: ${arn}`), { name: 'ResourceNotFoundException' });
};

const listen = async (server: Server, port: number): Promise<string> => {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MILLIS).unref();
  });

/** The DynamoDB engine of an endpoint. */
interface Engine {
  client: DynamoDbClient;
  stop(): Promise<void>;
}

const startEngine = async ({ dataDir, dynamodbEndpoint }: AwsEndpointOptions): Promise<Engine> => {
  const engine =
    dynamodbEndpoint === undefined
      ? await startDynoxide(join(dataDir, 'dynamodb.sqlite'))
      : { url: dynamodbEndpoint, stop: async () => undefined };
  const client = createDynamoDbClient(engine.url);
  return {
    client,
    stop: async () => {
      client.close();
      await engine.stop();
    },
  };
};

/** An endpoint whose server listens. */
class ListeningEndpoint implements AwsEndpoint {
  readonly url: string;
  readonly callDirectly: CallDirectly;
  readonly faults: Faults;
  readonly calls: AwsEndpoint['calls'];
  private readonly services: Services;
  private readonly functions: OpenedFunctions;
  /** Stops the server, the engine and what else runs. */
  readonly close: () => Promise<void>;

  constructor(url: string, services: Services, functions: OpenedFunctions, stop: () => Promise<void>) {
    this.url = url;
    this.callDirectly = createDirectCalls(services);
    this.faults = services.faults;
    this.calls = services.counter.counts;
    this.services = services;
    this.functions = functions;
    this.close = stop;
  }

  addPrincipals(added: Principal[]): void {
    for (const principal of added) this.services.principals.set(principal.accessKeyId, principal);
  }

  openFunctions(invoke: InvokeFunction, invokeLater: InvokeLater): void {
    this.functions.invoke = invoke;
    this.functions.invokeLater = invokeLater;
  }

  async startStateMachines(
    specs: StateMachineSpec[],
    invokeTask: InvokeFunction,
    publish: (event: AwsEvent) => void = () => undefined,
  ): Promise<void> {
    this.services.stepFunctions.start(specs, invokeTask, publish);
  }

  startExecution(principal: Principal, stateMachineArn: string, input: unknown): void {
    const body = { stateMachineArn, input: JSON.stringify(input) };
    this.services.stepFunctions.authorize(principal, 'StartExecution', body)();
  }

  async readObject(bucket: string, key: string): Promise<OpenedObject | undefined> {
    const { store } = this.services.s3;
    const object = await store.find(bucket, key);
    const body = object && (await store.open(bucket, key, 0, object.sizeBytes - 1));
    if (!body) return undefined;
    const { 'content-type': contentType = '', ...headers } = object.headers;
    return {
      body,
      contentType,
      headers,
      contentLength: object.sizeBytes,
      etag: `"${object.etag}"`,
    };
  }

  readSecret(nameOrArn: string): string | undefined {
    const { secrets } = this.services;
    const secret = secrets.find(nameOrArn);
    const versions = secret ? Object.values(secrets.versions(secret)) : [];
    return versions.find(({ stages }) => stages.includes('AWSCURRENT'))?.text;
  }

  writeSecret(nameOrArn: string, value: string): void {
    const request = { SecretId: nameOrArn, SecretString: value };
    callSecretsManager(this.services.secrets, 'PutSecretValue', request);
  }
}

/**
 * Starts the endpoint on loopback, over the data directory (created when absent). Creates missing tables and buckets.
 * Rejects, with nothing left running, when the port is taken or the DynamoDB engine does not start.
 */
export const startAwsEndpoint = async (options: AwsEndpointOptions): Promise<AwsEndpoint> => {
  makePrivateDirectory(options.dataDir);
  const engine = await startEngine(options);
  try {
    const functions: OpenedFunctions = { invoke: noFunctions, invokeLater: noFunctionsLater };
    const services = await openServices(options, engine.client, functions);
    const server = createServer(createAwsRouter(services));
    // Longer than clients keep idle connections, so that none closes under a request just being sent. Uploads have no time limit.
    server.keepAliveTimeout = 120_000;
    server.requestTimeout = 0;
    const url = await listen(server, options.port);
    return new ListeningEndpoint(url, services, functions, async () => {
      services.stepFunctions.close();
      await closeServer(server);
      await engine.stop();
      if (options.permissionsFile !== undefined) {
        const used = permissionUse(services.principals.values());
        await writeFile(options.permissionsFile, JSON.stringify(used));
      }
    });
  } catch (error) {
    await engine.stop();
    throw error;
  }
};
