import { Duration } from 'aws-cdk-lib';
import { Rule, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import { METRIC } from '../core/observability.ts';
import type { AddAlarm } from './add-alarm.ts';
import { emptySecret } from './provider-secrets.ts';
import { ServiceFunction } from './service-function.ts';
import { serviceMetric } from './service-metric.ts';

/** What the canary calls, and where it rings. */
export interface CanaryProps {
  bundleOf: (name: string) => string;
  /** The model that it makes an image with. */
  model: string;
  alarm: AddAlarm;
}

/** Makes an image an hour through the public API, and rings when that fails or is missing. */
export class Canary extends Construct {
  readonly runCanary: ServiceFunction;
  /** Holds the API key of the canary's account. Starts empty. */
  readonly apiKey: Secret;
  /** Starts the runs. */
  readonly rule: Rule;

  constructor(scope: Construct, id: string, { bundleOf, model, alarm }: CanaryProps) {
    super(scope, id);
    this.apiKey = emptySecret(this, 'ApiKey', "API key of the canary's account");
    this.runCanary = new ServiceFunction(this, 'RunCanary', {
      bundle: bundleOf('events/run-canary'),
      description: 'Makes an image as a caller does, and reports how that went',
      timeout: Duration.minutes(5),
      // It mostly waits.
      memorySize: 256,
    });
    this.runCanary.addEnvironment({ CANARY_MODEL: model, CANARY_KEY_SECRET_ARN: this.apiKey.secretArn });
    this.runCanary.allow(['secretsmanager:GetSecretValue'], [this.apiKey.secretArn]);
    this.runCanary.lambda.configureAsyncInvoke({ retryAttempts: 0 });
    this.rule = new Rule(this, 'Hourly', {
      description: 'Starts the canary once an hour',
      schedule: Schedule.rate(Duration.hours(1)),
      targets: [new LambdaTarget(this.runCanary.lambda, { retryAttempts: 0 })],
    });
    alarm(
      'CanaryFailed',
      serviceMetric(this, METRIC.canarySucceeded, {}).with({
        statistic: 'Minimum',
        period: Duration.hours(2),
      }),
      'The canary could not make its image, or has not run for two hours.',
      { below: 1, orNeverData: true },
    );
  }
}
