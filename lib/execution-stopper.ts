import { CustomResource, Duration } from 'aws-cdk-lib';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import { ServiceFunction } from './service-function.ts';
import { executionsArn } from './workflow.ts';

/** Lambda's longest. */
const TIMEOUT = Duration.minutes(15);
/** How long CloudFormation waits for an answer: for the function, and for Lambda to run it again after a crash. */
const SERVICE_TIMEOUT = Duration.minutes(40);

/** Props of the stopper. */
export interface ExecutionStopperProps {
  bundleOf: (name: string) => string;
  /** In the order in which their executions are stopped: those first that start executions of the others. */
  stateMachines: Record<string, StateMachine>;
}

/**
 * Stops what still runs before CloudFormation deletes or replaces a state machine, which otherwise waits for
 * hours. Resources that start executions are deleted before: see `after`.
 */
export class ExecutionStopper extends Construct {
  private readonly resources: CustomResource[];

  constructor(scope: Construct, id: string, { bundleOf, stateMachines }: ExecutionStopperProps) {
    super(scope, id);
    const stopper = new ServiceFunction(this, 'StopExecutions', {
      bundle: bundleOf('events/stop-executions'),
      description: 'Stops the executions of a state machine that is about to be deleted',
      timeout: TIMEOUT,
    });
    const machines = Object.values(stateMachines);
    stopper.allow(
      ['states:ListExecutions'],
      machines.map(({ stateMachineArn }) => stateMachineArn),
    );
    stopper.allow(['states:StopExecution'], machines.map(executionsArn));
    const { lambda } = stopper;
    this.resources = Object.entries(stateMachines).map(([name, { stateMachineArn }]) => {
      const resource = new CustomResource(this, name, {
        resourceType: 'Custom::RunningExecutions',
        serviceToken: lambda.functionArn,
        serviceTimeout: SERVICE_TIMEOUT,
        properties: { StateMachineArn: stateMachineArn },
      });
      resource.node.addDependency(lambda.role ?? lambda);
      return resource;
    });
    // CloudFormation deletes in the reverse order of the dependencies.
    for (const [index, resource] of this.resources.entries()) {
      const next = this.resources[index + 1];
      if (next) resource.node.addDependency(next);
    }
  }

  /** Deletes these constructs before anything is stopped, so that they start nothing new. */
  after(...constructs: Construct[]): void {
    for (const construct of constructs) construct.node.addDependency(...this.resources);
  }
}
