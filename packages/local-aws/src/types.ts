/** Types that the parts share: the template as it was read, and invocations of functions. */

/** One statement of a role's policies. `actions` may hold `*` wildcards; `resources` are ARN patterns with `*` and `?`, fully resolved. */
export interface PolicyStatement {
  effect: 'Allow' | 'Deny';
  actions: string[];
  resources: string[];
  /**
   * Every partition key of a DynamoDB call must match one of these patterns (`ForAllValues:StringLike` on `dynamodb:LeadingKeys`).
   * Undefined: any key.
   */
  leadingKeys?: string[];
  /**
   * Every attribute that a DynamoDB call names must be one of these (`ForAllValues:StringEquals` on `dynamodb:Attributes`).
   * Undefined: any attribute.
   */
  attributes?: string[];
  /** The call must come with a value for these (`Null` of the condition key is `false`): `ForAllValues` is met by a call without one. */
  present?: ('leadingKeys' | 'attributes')[];
}

/** A caller of the AWS endpoint, identified by its access key id. */
export interface Principal {
  /** Logical id of the function or state machine, or `operator`. Calls are counted by it. */
  name: string;
  accessKeyId: string;
  /** What it may do. Undefined: everything (the operator). */
  statements?: PolicyStatement[];
}

/** The result of an invocation, as Lambda's RequestResponse Invoke returns it. */
export interface InvocationResult {
  /**
   * The parsed JSON the handler returned, or `{ errorType, errorMessage, stackTrace }` when it failed. The text of a streamed response
   * that was not taken part by part.
   */
  payload: unknown;
  /** Set when the function threw, timed out or crashed. */
  functionError?: 'Unhandled';
}

/** Takes a part of a streamed response. */
export type TakeChunk = (chunk: Uint8Array) => void;

/**
 * Runs a function by ARN or name, as Lambda's RequestResponse Invoke does, or with `takeChunk` as its InvokeWithResponseStream. A failing
 * function resolves with `functionError`, also after parts of its response. Rejects with an error whose `name` is
 * `ResourceNotFoundException` when there is no such function.
 */
export type InvokeFunction = (
  functionArn: string,
  payload: unknown,
  takeChunk?: TakeChunk,
) => Promise<InvocationResult>;

/** An event as EventBridge hands it to a target. */
export interface AwsEvent {
  version: '0';
  id: string;
  'detail-type': string;
  source: string;
  account: string;
  /** ISO 8601 in whole seconds. */
  time: string;
  region: string;
  resources: string[];
  detail: Record<string, unknown>;
}

/** A function that a rule invokes asynchronously. */
export interface RuleTarget {
  functionArn: string;
  /** Replaces the event. */
  input?: unknown;
  /** How often Lambda runs the function again when it fails. Default: 2. */
  retryAttempts?: number;
  /** How long Lambda keeps an event that it cannot deliver. Default: 6 h. */
  maxAgeMilliseconds?: number;
}

/** A state machine of which a rule starts an execution. */
export interface ExecutionTarget {
  stateMachineArn: string;
  /** The rule's role. */
  principal: Principal;
  /** Replaces the event. */
  input?: unknown;
}

/** A rule of the template on the default event bus. */
export interface RuleSpec {
  name: string;
  arn: string;
  /** The rule fires by itself, at this rate. */
  schedule?: { everyMilliseconds: number };
  /** Matching events go to the targets. */
  eventPattern?: Record<string, unknown>;
  targets: RuleTarget[];
  /** Default: none. */
  executions?: ExecutionTarget[];
}

/** A table of the template. */
export interface TableSpec {
  /** The CreateTable request body of the DynamoDB API. */
  createTable: Record<string, unknown>;
  /** The attribute that holds an item's expiry in epoch seconds. Undefined: no time to live. */
  ttlAttribute?: string;
  /** Whether it can be restored to a point in time. Default: no. */
  pointInTimeRecovery?: boolean;
}

/** A state machine of the template. */
export interface StateMachineSpec {
  arn: string;
  name: string;
  /** ASL as JSON text, with its placeholders filled in. */
  definition: string;
  /** Physical name of the executions' role. */
  roleName: string;
  principal: Principal;
}

/** A secret of the template. */
export interface SecretSpec {
  arn: string;
  name: string;
  /** The value while the store has none. Undefined: the secret has no version. */
  initialValue?: string;
}
