import { type Duration, RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, type PolicyStatementProps, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  type CfnFunction,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { InlineRole } from './inline-role.ts';
import { VERSION } from './release.ts';

/** Environment variables of a function. */
export type Environment = Partial<Record<EnvironmentName, string>>;

/** Conditions of an IAM statement. */
export type Conditions = NonNullable<PolicyStatementProps['conditions']>;

/** Settings of a function. */
export interface ServiceFunctionProps {
  /** Folder of the function's bundle. */
  bundle: string;
  description: string;
  timeout: Duration;
  /** Megabytes, 512 by default. CPU grows with memory. */
  memorySize?: number;
  /** Megabytes of its disk, Lambda's 512 by default. */
  diskMegabytes?: number;
}

/** A Lambda function with its own role, on the service's runtime. It writes to the log group of its capability, which is its scope. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;
  private readonly role: InlineRole;
  /** See `allowLater`. */
  private later: Policy | undefined;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    // Without AWS's managed policy for functions, which allows writing to every log group of the account.
    this.role = new InlineRole(this, 'Role', new ServicePrincipal('lambda.amazonaws.com'));
    this.lambda = this.createFunction(props, logGroupOf(scope));
    this.addEnvironment({ STACK_NAME: Stack.of(this).stackName, SERVICE_VERSION: VERSION });
  }

  private createFunction(props: ServiceFunctionProps, logGroup: LogGroup): LambdaFunction {
    const { bundle, description, timeout, memorySize = 512, diskMegabytes } = props;
    const lambda = new LambdaFunction(this, 'Function', {
      role: this.role,
      description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(bundle),
      handler: 'index.handler',
      timeout,
      memorySize,
      ...(diskMegabytes && { ephemeralStorageSize: Size.mebibytes(diskMegabytes) }),
      logGroup,
      loggingFormat: LoggingFormat.JSON,
    });
    lambda.addToRolePolicy(statement(['logs:CreateLogStream', 'logs:PutLogEvents'], [logGroup.logGroupArn]));
    return lambda;
  }

  /** Sets variables; typed, so that only names that `core` reads can be set. */
  addEnvironment(variables: Environment): void {
    for (const [name, value] of Object.entries(variables)) this.lambda.addEnvironment(name, value);
  }

  /** Sends traces to X-Ray. */
  trace(): void {
    (this.lambda.node.defaultChild as CfnFunction).tracingConfig = { mode: 'Active' };
    // X-Ray has no resources.
    this.allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], ['*']);
  }

  /** Reserves concurrency of the account for this function, which it then never exceeds. */
  reserveConcurrency(executions: number): void {
    (this.lambda.node.defaultChild as CfnFunction).reservedConcurrentExecutions = executions;
  }

  /** Allows exactly these actions on exactly these resources, under these conditions. */
  allow(actions: readonly string[], resources: readonly string[], conditions: Conditions = {}): void {
    this.lambda.addToRolePolicy(statement(actions, resources, conditions));
  }

  /**
   * As `allow`, in a policy beside the role: for a function that acts on the state machine that invokes it. The role is created before the
   * function, and so before the state machine it would refer to.
   */
  allowLater(actions: readonly string[], resources: readonly string[]): void {
    this.later ??= new Policy(this, 'Later', { roles: [this.role] });
    this.later.addStatements(statement(actions, resources));
  }
}

/** The log group that the functions of a capability share: the name of a stream has that of its function. */
const logGroupOf = (capability: Construct): LogGroup => {
  const existing = capability.node.tryFindChild('Logs') as LogGroup | undefined;
  return existing ?? new LogGroup(capability, 'Logs', { removalPolicy: RemovalPolicy.DESTROY });
};

const statement = (
  actions: readonly string[],
  resources: readonly string[],
  conditions: Conditions = {},
): PolicyStatement => new PolicyStatement({ actions: [...actions], resources: [...resources], conditions });

/** One function per name, by name. */
export const functionsByName = <Name extends string>(
  names: readonly Name[],
  create: (name: Name) => ServiceFunction,
): Record<Name, ServiceFunction> =>
  Object.fromEntries(names.map((name) => [name, create(name)])) as Record<Name, ServiceFunction>;
