import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { ServiceFunction } from './service-function.ts';

export interface ReconcilerProps {
  bundleOf: (name: string) => string;
  environment: Partial<Record<EnvironmentName, string>>;
  intervalSeconds: number;
  /** Whose lost executions are told at once, by a name for each. */
  watched: Record<string, StateMachine>;
}

/** How an execution ends that did not come to its own end. */
const LOST = ['FAILED', 'TIMED_OUT', 'ABORTED'];

/** Looks after requests without an execution: on a schedule, and when an execution is lost. */
export class Reconciler extends Construct {
  readonly reconcile: ServiceFunction;

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    this.reconcile = new ServiceFunction(this, 'Reconcile', {
      bundle: props.bundleOf('events/reconcile'),
      description: 'Starts, or ends and refunds, requests that have lost their execution',
      timeout: Duration.seconds(120),
      environment: props.environment,
    });
    // Retrying is the next run's: a second one beside it would only double the work.
    const target = { retryAttempts: 0 };
    new Rule(this, 'Schedule', {
      description: 'Looks for requests without an execution',
      // A schedule counts in minutes: the function itself keeps a shorter interval.
      schedule: Schedule.rate(Duration.minutes(Math.ceil(props.intervalSeconds / 60))),
      targets: [
        new LambdaTarget(this.reconcile.lambda, {
          ...target,
          event: RuleTargetInput.fromObject({ everySeconds: props.intervalSeconds }),
        }),
      ],
    });
    for (const [name, machine] of Object.entries(props.watched)) {
      new Rule(this, `${name}Lost`, {
        description: 'Tells of an execution that did not come to its own end',
        eventPattern: {
          source: ['aws.states'],
          detailType: ['Step Functions Execution Status Change'],
          detail: { status: LOST, stateMachineArn: [machine.stateMachineArn] },
        },
        targets: [new LambdaTarget(this.reconcile.lambda, { retryAttempts: 2 })],
      });
    }
  }
}
