import { type Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  Architecture,
  Code,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';

export interface ServiceFunctionProps {
  /** The folder that holds the function's bundle. */
  bundle: string;
  /** What the function is for, as the console shows it. */
  description: string;
  timeout: Duration;
  /** Megabytes; also the share of a processor. 512 unless given. */
  memorySize?: number;
  environment?: Partial<Record<EnvironmentName, string>>;
}

/** One Lambda function of the service with its log group, on the house's runtime, and a role of its own. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, id: string, props: ServiceFunctionProps) {
    super(scope, id);
    const logGroup = new LogGroup(this, 'Logs', {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    this.lambda = new LambdaFunction(this, 'Function', {
      description: props.description,
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      code: Code.fromAsset(props.bundle),
      handler: 'index.handler',
      timeout: props.timeout,
      memorySize: props.memorySize ?? 512,
      logGroup,
      loggingFormat: LoggingFormat.JSON,
      environment: props.environment ?? {},
    });
  }

  /** Adds variables, each by its one name. */
  addEnvironment(variables: Partial<Record<EnvironmentName, string>>): this {
    for (const [name, value] of Object.entries(variables)) this.lambda.addEnvironment(name, value);
    return this;
  }
}
