import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { makePrivateDirectory } from '../private-directory.ts';
import type {
  AwsEvent,
  InvokeFunction,
  Principal,
  SecretSpec,
  StateMachineSpec,
  TableSpec,
} from '../types.ts';
import { permissionUse } from './authorize.ts';
import { createCallCounter } from './call-counter.ts';
import { type CallDirectly, createDirectCalls } from './direct-calls.ts';
import { createDynamoDbClient } from './dynamodb/client.ts';
import { startDynoxide } from './dynamodb/dynoxide.ts';
import { openRestores } from './dynamodb/restores.ts';
import { createStartKeyCheck } from './dynamodb/start-keys.ts';
import { createTables } from './dynamodb/tables.ts';
import { createFaults, type Faults } from './faults.ts';
import { accountSettings } from './lambda/account-settings.ts';
import type { InvokeLater } from './lambda/lambda.ts';
import { createDynamoDbPermissions } from './permissions/dynamodb.ts';
import { createRouter } from './router.ts';
import type { BucketCors } from './s3/cors.ts';
import { openS3Service } from './s3/s3-service.ts';
import { openSecretStore } from './secrets/secret-store.ts';
import { callSecretsManager } from './secrets/secrets-manager.ts';
import type { Services } from './services.ts';
import { createStepFunctions } from './step-functions/step-functions.ts';

/** https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const MAX_OPEN_EXECUTIONS = 1_000_000;

/** How to start the endpoint. */
export interface AwsEndpointOptions {
  dataDir: string;
  /** 0: any free port. */
  port: number;
  region: string;
  accountId: string;
  tables: TableSpec[];
  buckets: string[];
  /** What web pages may send to the buckets; nothing by default. */
  cors?: BucketCors;
  secrets: SecretSpec[];
  /** A DynamoDB-compatible endpoint. Default: starts dynoxide on `<dataDir>/dynamodb.sqlite`. */
  dynamodbEndpoint?: string | undefined;
  /** Executions that run at once. Default: 1,000,000, an account's limit. */
  maxOpenExecutions?: number;
  /** Functions that run at once. Default: 1,000. */
  maxConcurrency?: number;
  /** How many of them functions have reserved. */
  reservedConcurrency?: number[];
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

/**
 * Starts the endpoint on loopback, over the data directory (created when absent). Creates missing tables and buckets. Rejects, with nothing
 * left running, when the port is taken or the DynamoDB engine does not start.
 */
export const startAwsEndpoint = async (options: AwsEndpointOptions): Promise<AwsEndpoint> => {
  const { dataDir, region, accountId } = options;
  const place = { region, accountId };
  makePrivateDirectory(dataDir);

  const engine =
    options.dynamodbEndpoint === undefined
      ? await startDynoxide(join(dataDir, 'dynamodb.sqlite'))
      : { url: options.dynamodbEndpoint, stop: async () => undefined };
  const dynamodb = createDynamoDbClient(engine.url);
  const stopEngine = async () => {
    dynamodb.close();
    await engine.stop();
  };

  try {
    await createTables(dynamodb, options.tables);
    const s3 = await openS3Service(join(dataDir, 'objects'), options.buckets);
    const secrets = openSecretStore(join(dataDir, 'secrets.json'), options.secrets);
    const counter = createCallCounter();
    const faults = createFaults();
    const tables = [...options.tables];
    const restores = await openRestores({
      place,
      engine: dynamodb,
      tables,
      file: join(dataDir, 'tables.json'),
    });
    const dynamodbPermissions = createDynamoDbPermissions(place, tables);
    const principals = new Map<string, Principal>();
    let invoke: InvokeFunction = noFunctions;
    let invokeLater: InvokeLater = noFunctionsLater;
    const stepFunctions = createStepFunctions({
      place,
      directory: join(dataDir, 'executions'),
      maxOpenExecutions: options.maxOpenExecutions ?? MAX_OPEN_EXECUTIONS,
      admit(call) {
        counter.add(call.principalName, call.name);
        return faults.meet(call);
      },
    });
    const services: Services = {
      place,
      counter,
      faults,
      principals,
      dynamodbPermissions,
      checkStartKey: createStartKeyCheck(tables),
      restores,
      dynamodb,
      s3,
      cors: options.cors ?? {},
      secrets,
      stepFunctions,
      invoke: (arn, payload) => invoke(arn, payload),
      invokeLater: (arn, payload) => invokeLater(arn, payload),
      accountSettings: accountSettings(options.maxConcurrency, options.reservedConcurrency),
    };
    const server = createServer(createRouter(services));
    // Longer than clients keep idle connections, so that none closes under a request just being sent. Uploads have no time limit.
    server.keepAliveTimeout = 120_000;
    server.requestTimeout = 0;
    const url = await listen(server, options.port);

    return {
      url,
      callDirectly: createDirectCalls(services),
      addPrincipals(added) {
        for (const principal of added) principals.set(principal.accessKeyId, principal);
      },
      openFunctions(opened, openedLater) {
        invoke = opened;
        invokeLater = openedLater;
      },
      async startStateMachines(specs, invokeTask, publish = () => undefined) {
        stepFunctions.start(specs, invokeTask, publish);
      },
      startExecution(principal, stateMachineArn, input) {
        const body = { stateMachineArn, input: JSON.stringify(input) };
        stepFunctions.authorize(principal, 'StartExecution', body)();
      },
      async readObject(bucket, key) {
        const object = await s3.store.find(bucket, key);
        const body = object && (await s3.store.open(bucket, key, 0, object.sizeBytes - 1));
        if (!body) return undefined;
        const { 'content-type': contentType = '', ...headers } = object.headers;
        return {
          body,
          contentType,
          headers,
          contentLength: object.sizeBytes,
          etag: `"${object.etag}"`,
        };
      },
      readSecret(nameOrArn) {
        const secret = secrets.find(nameOrArn);
        const versions = secret ? Object.values(secrets.versions(secret)) : [];
        return versions.find(({ stages }) => stages.includes('AWSCURRENT'))?.text;
      },
      writeSecret(nameOrArn, value) {
        callSecretsManager(secrets, 'PutSecretValue', { SecretId: nameOrArn, SecretString: value });
      },
      calls: counter.counts,
      faults,
      async close() {
        stepFunctions.close();
        await closeServer(server);
        await stopEngine();
        if (options.permissionsFile !== undefined) {
          await writeFile(options.permissionsFile, JSON.stringify(permissionUse(principals.values())));
        }
      },
    };
  } catch (error) {
    await stopEngine();
    throw error;
  }
};
