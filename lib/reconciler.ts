import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as LambdaTarget } from 'aws-cdk-lib/aws-events-targets';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { FAILED_STATUSES, LOST_STATUSES, SETTLED_ERRORS } from '../core/executions/execution-statuses.ts';
import type { StackContext } from './context.ts';
import { ServiceFunction } from './service-function.ts';

/** The reconciler's schedule, and the state machines it serves. */
export interface ReconcilerProps {
  bundleOf: (name: string) => string;
  context: Pick<StackContext, 'reconcileIntervalSeconds' | 'reconcilerMemory'>;
  /** The workflow whose lost executions trigger a run. */
  generation: { stateMachine: StateMachine };
  /** The workflow whose failed executions are started again. */
  webhookDelivery: { stateMachine: StateMachine };
}

/** Lambda's shortest: a run that could not start for a minute has a successor. */
const MAX_AGE_OF_SCHEDULED_EVENT = Duration.seconds(60);

/** Runs the control loop on a schedule and for requests that begin to wait, and repairs a request whose execution is lost. */
export class Reconciler extends Construct {
  /** Runs on the schedule, and when `allowStart`'s functions start it. */
  readonly reconcile: ServiceFunction;
  /** Runs when an execution is lost. Lambda repeats a run that fails: the schedule may find its request later only. */
  readonly reconcileLost: ServiceFunction;
  /** The rules, which start runs that start executions. */
  readonly rules: Rule[];

  constructor(scope: Construct, id: string, props: ReconcilerProps) {
    super(scope, id);
    const intervalSeconds = props.context.reconcileIntervalSeconds;
    this.reconcile = new ServiceFunction(this, 'Reconcile', {
      bundle: props.bundleOf('events/reconcile'),
      description: 'Queries tasks, admits queued requests and repairs requests that lost their execution',
      // A run lasts 59 s, then waits for calls under way and lists what is still open.
      timeout: Duration.seconds(120),
      // It runs all the time while anything is open, and mostly waits.
      memorySize: props.context.reconcilerMemory,
    });
    // No retries by Lambda: a repetition of a failed run would overlap with the next scheduled run.
    this.reconcile.lambda.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: MAX_AGE_OF_SCHEDULED_EVENT,
    });
    this.reconcileLost = new ServiceFunction(this, 'ReconcileLost', {
      bundle: props.bundleOf('events/reconcile-lost'),
      description: 'Restarts, or fails and refunds, a request whose execution did not complete',
      timeout: Duration.seconds(60),
    });
    const schedule = new Rule(this, 'Schedule', {
      description: 'Starts a run of the control loop',
      // Schedules have a resolution of one minute; for shorter intervals a run goes on when nothing is open.
      schedule: Schedule.rate(Duration.minutes(Math.ceil(intervalSeconds / 60))),
      targets: [
        new LambdaTarget(this.reconcile.lambda, {
          // No retries: the next scheduled run is the retry.
          retryAttempts: 0,
          event: RuleTargetInput.fromObject({ everySeconds: intervalSeconds }),
        }),
      ],
    });
    const lost = this.report('GenerationLost', props.generation, {
      // The execution of a request that failed ends with the request's own error: nothing is left to repair.
      $or: [
        { status: LOST_STATUSES.filter((status) => status !== 'FAILED') },
        { status: ['FAILED'], error: [{ 'anything-but': [...SETTLED_ERRORS] }] },
      ],
    });
    const failed = this.report('WebhookFailed', props.webhookDelivery, { status: [...FAILED_STATUSES] });
    this.rules = [schedule, lost, failed];
  }

  /** A rule that reports executions that end so. */
  private report(
    id: string,
    { stateMachine }: { stateMachine: StateMachine },
    end: Record<string, unknown>,
  ): Rule {
    return new Rule(this, id, {
      description: 'Reports an execution that did not complete',
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: { ...end, stateMachineArn: [stateMachine.stateMachineArn] },
      },
      targets: [new LambdaTarget(this.reconcileLost.lambda, { retryAttempts: 2 })],
    });
  }

  /**
   * Lets functions start a run. Later: the reconciler depends on the state machine, which depends on these functions. They find the
   * function's name in the table.
   */
  allowStart(functions: readonly ServiceFunction[]): void {
    for (const to of functions) to.allowLater(['lambda:InvokeFunction'], [this.reconcile.lambda.functionArn]);
  }
}
