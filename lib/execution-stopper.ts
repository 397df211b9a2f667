import { CustomResource, Duration, Stack } from 'aws-cdk-lib';
import { ManagedPolicy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
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
  /** State machines in the order of stopping: a machine stands before the machines whose executions it starts. */
  stateMachines: Record<string, StateMachine>;
}

/**
 * Stops running executions before CloudFormation deletes a state machine with its stack, or after an update replaced
 * a state machine: CloudFormation otherwise waits for hours. Any other deletion of these custom resources stops
 * nothing, as `events/stop-executions` decides. Resources that start executions are deleted first: see `after`.
 */
export class ExecutionStopper extends Construct {
  private readonly resources: CustomResource[];

  constructor(scope: Construct, id: string, { bundleOf, stateMachines }: ExecutionStopperProps) {
    super(scope, id);
    const stopper = new ServiceFunction(this, 'StopExecutions', {
      bundle: bundleOf('events/stop-executions'),
      description: 'Stops the executions of a state machine that is deleted with its stack, or was replaced',
      timeout: TIMEOUT,
    });
    const machines = Object.values(stateMachines);
    stopper.addEnvironment({
      STATE_MACHINE_ARNS: machines.map(({ stateMachineArn }) => stateMachineArn).join(','),
    });
    stopper.allow(['cloudformation:DescribeStacks'], [Stack.of(this).stackId]);
    const { lambda } = stopper;
    const policy = new ManagedPolicy(this, 'Policy', {
      // IAM changes no description. Another state machine therefore needs another policy, and the old one stays until the
      // executions of the old state machine are stopped.
      description: `Stops executions of ${machines.map(({ stateMachineName }) => stateMachineName).join(', ')}`,
      roles: lambda.role ? [lambda.role] : [],
      statements: [
        new PolicyStatement({
          actions: ['states:ListExecutions'],
          resources: machines.map(({ stateMachineArn }) => stateMachineArn),
        }),
        new PolicyStatement({ actions: ['states:StopExecution'], resources: machines.map(executionsArn) }),
      ],
    });
    this.resources = Object.entries(stateMachines).map(([name, { stateMachineArn }]) => {
      const resource = new CustomResource(this, name, {
        resourceType: 'Custom::RunningExecutions',
        serviceToken: lambda.functionArn,
        serviceTimeout: SERVICE_TIMEOUT,
        properties: { StateMachineArn: stateMachineArn },
      });
      resource.node.addDependency(lambda.role ?? lambda, policy);
      return resource;
    });
    // CloudFormation deletes in the reverse order of the dependencies.
    for (const [index, resource] of this.resources.entries()) {
      const next = this.resources[index + 1];
      if (next) resource.node.addDependency(next);
    }
  }

  /**
   * Makes CloudFormation delete the given constructs before executions are stopped: the constructs could start new
   * executions.
   */
  after(...constructs: Construct[]): void {
    for (const construct of constructs) construct.node.addDependency(...this.resources);
  }
}
