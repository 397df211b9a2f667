import { Duration } from 'aws-cdk-lib';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { ServiceFunction } from './service-function.ts';
import { WorkflowMachine } from './workflow-machine.ts';

export interface ExpiryWorkflowProps {
  bundleOf: (name: string) => string;
  environment: Partial<Record<EnvironmentName, string>>;
}

/** The workflow that sees to the end of each request's files: the `expiry` state machine and its function. */
export class ExpiryWorkflow extends Construct {
  readonly stateMachine: StateMachine;
  readonly expireRequest: ServiceFunction;

  constructor(scope: Construct, id: string, { bundleOf, environment }: ExpiryWorkflowProps) {
    super(scope, id);
    this.expireRequest = new ServiceFunction(this, 'ExpireRequest', {
      bundle: bundleOf('workflow/expire-request'),
      description: 'Removes the files of a request whose time is over',
      timeout: Duration.seconds(30),
      environment,
    });
    const machine = new WorkflowMachine(this, 'Machine', {
      name: 'expiry',
      tasks: { ExpireRequest: this.expireRequest },
    });
    this.stateMachine = machine.stateMachine;
  }
}
