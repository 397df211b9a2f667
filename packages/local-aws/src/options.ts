import type { AwsEndpoint, AwsEndpointOptions } from './aws/endpoint.ts';
import type { createEventBus } from './events/event-bus.ts';
import type { OwnRoutes } from './gateway/front-door.ts';
import type { Stack } from './template.ts';

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
