import { Duration } from 'aws-cdk-lib';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { pascalCase } from './names.ts';
import { ServiceFunction } from './service-function.ts';
import { WorkflowMachine } from './workflow-machine.ts';

/** Time a task has beyond the deadline it watches itself: to load, to record, to answer. */
const MARGIN_SECONDS = 30;
/** Longest time Lambda gives a function. */
const MAX_LAMBDA_SECONDS = 900;

export interface GenerationWorkflowProps {
  bundleOf: (name: string) => string;
  imageDeadlineSeconds: number;
  /** Variables of every task. */
  environment: Partial<Record<EnvironmentName, string>>;
}

/** The workflow that owns each request: the `generation` state machine and the functions of its tasks. */
export class GenerationWorkflow extends Construct {
  readonly stateMachine: StateMachine;
  readonly dispatchRequest: ServiceFunction;
  readonly awaitProvider: ServiceFunction;
  readonly queryProvider: ServiceFunction;
  readonly storeOutputs: ServiceFunction;
  readonly settleRequest: ServiceFunction;
  readonly failRequest: ServiceFunction;

  constructor(scope: Construct, id: string, props: GenerationWorkflowProps) {
    super(scope, id);
    const task = (name: string, description: string, timeoutSeconds: number, memorySize = 512) =>
      new ServiceFunction(this, pascalCase(name), {
        bundle: props.bundleOf(`workflow/${name}`),
        description,
        timeout: Duration.seconds(timeoutSeconds),
        memorySize,
        environment: props.environment,
      });
    this.dispatchRequest = task(
      'dispatch-request',
      'Hands a request to its provider',
      Math.min(MAX_LAMBDA_SECONDS, props.imageDeadlineSeconds + MARGIN_SECONDS),
    );
    this.awaitProvider = task('await-provider', 'Keeps the token under which a request waits', 45);
    this.queryProvider = task('query-provider', 'Asks the provider how far a request is', 45);
    this.storeOutputs = task('store-outputs', 'Copies outputs to the bucket', MAX_LAMBDA_SECONDS, 1024);
    this.settleRequest = task('settle-request', 'Ends a request by what was delivered', 30);
    this.failRequest = task('fail-request', 'Ends a request as failed and refunds it', 30);

    const machine = new WorkflowMachine(this, 'Machine', {
      name: 'generation',
      tasks: {
        DispatchRequest: this.dispatchRequest,
        AwaitProvider: this.awaitProvider,
        QueryProvider: this.queryProvider,
        StoreOutputs: this.storeOutputs,
        SettleRequest: this.settleRequest,
        FailRequest: this.failRequest,
      },
    });
    this.stateMachine = machine.stateMachine;
  }

  /** Every function of the workflow. */
  get tasks(): readonly ServiceFunction[] {
    return [
      this.dispatchRequest,
      this.awaitProvider,
      this.queryProvider,
      this.storeOutputs,
      this.settleRequest,
      this.failRequest,
    ];
  }
}
