import { Duration } from 'aws-cdk-lib';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import { ServiceFunction } from './service-function.ts';
import { WorkflowMachine } from './workflow-machine.ts';

export interface WebhookWorkflowProps {
  bundleOf: (name: string) => string;
  environment: Partial<Record<EnvironmentName, string>>;
}

/** The workflow that tells callers of a request's end: the `webhook-delivery` state machine and its function. */
export class WebhookWorkflow extends Construct {
  readonly stateMachine: StateMachine;
  readonly deliverWebhook: ServiceFunction;

  constructor(scope: Construct, id: string, { bundleOf, environment }: WebhookWorkflowProps) {
    super(scope, id);
    this.deliverWebhook = new ServiceFunction(this, 'DeliverWebhook', {
      bundle: bundleOf('workflow/deliver-webhook'),
      description: "Makes one try to deliver a request's webhook",
      timeout: Duration.seconds(45),
      environment,
    });
    const machine = new WorkflowMachine(this, 'Machine', {
      name: 'webhook-delivery',
      tasks: { DeliverWebhook: this.deliverWebhook },
    });
    this.stateMachine = machine.stateMachine;
  }
}
