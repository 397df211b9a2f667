/**
 * What the parts of the local run hand to each other: the specs read from the template and the way functions are invoked.
 */

/** One statement of a role's policies. `actions` may hold `*` wildcards; `resources` are ARN patterns with `*` and `?`, fully resolved. */
export interface PolicyStatement {
  effect: 'Allow' | 'Deny';
  actions: string[];
  resources: string[];
  /**
   * Patterns of which every partition key of a DynamoDB call has to match one (`ForAllValues:StringLike` on `dynamodb:LeadingKeys`);
   * undefined: any key.
   */
  leadingKeys?: string[];
}

/** A caller of the AWS endpoint, known by its access key id. */
export interface Principal {
  /** Logical id of the function or state machine, or `operator`; call counts are kept by it. */
  name: string;
  accessKeyId: string;
  /** What it may do; undefined: everything (the operator). */
  statements?: PolicyStatement[];
}

/** What an invocation answered, as Lambda's RequestResponse Invoke does. */
export interface InvocationResult {
  /** The parsed JSON the handler returned, or `{ errorType, errorMessage, stackTrace }` when it failed. */
  payload: unknown;
  /** Set when the function threw, timed out or crashed. */
  functionError?: 'Unhandled';
}

/**
 * Runs a function by ARN or name, as Lambda's RequestResponse Invoke does. A failing function resolves with `functionError`.
 * Rejects with an error whose `name` is `ResourceNotFoundException` when there is no such function.
 */
export type InvokeFunction = (functionArn: string, payload: unknown) => Promise<InvocationResult>;

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

/** When a rule fires by itself: every so often, or at the minutes that a cron expression names. */
export type Schedule = { everyMilliseconds: number } | { cron: string };

/** A rule of the template on the default event bus. */
export interface RuleSpec {
  name: string;
  arn: string;
  schedule?: Schedule;
  /** Events that match it go to the targets. */
  eventPattern?: Record<string, unknown>;
  /** `input`, when there is one, stands in for the event. */
  targets: { functionArn: string; input?: unknown }[];
}

/** A table of the template. */
export interface TableSpec {
  /** The CreateTable request body of the DynamoDB API. */
  createTable: Record<string, unknown>;
  /** The attribute holding an item's expiry in epoch seconds, when the table has time to live on. */
  ttlAttribute?: string;
}

/** A state machine of the template. */
export interface StateMachineSpec {
  arn: string;
  name: string;
  /** ASL as JSON text, placeholders substituted. */
  definition: string;
  /** Physical name of the role the executions run with. */
  roleName: string;
  principal: Principal;
}

/** A secret of the template. */
export interface SecretSpec {
  arn: string;
  name: string;
  /** Value to hold when the store has none; undefined leaves the secret without a version. */
  initialValue?: string;
}
