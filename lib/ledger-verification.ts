import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { InlineRole } from './inline-role.ts';
import { Workflow, type WorkflowProps } from './workflow.ts';
import { VERIFY_LEDGERS_DEFINITION } from './workflow-definitions.ts';

/** Verifies all ledgers once a day. */
export class LedgerVerification extends Construct {
  readonly workflow: Workflow<keyof typeof VERIFY_LEDGERS_DEFINITION.tasks>;
  /** Starts the executions. */
  readonly rule: Rule;

  constructor(scope: Construct, id: string, props: Pick<WorkflowProps<never>, 'bundleOf' | 'context'>) {
    super(scope, id);
    this.workflow = new Workflow(this, 'Workflow', { ...props, ...VERIFY_LEDGERS_DEFINITION });
    const input = RuleTargetInput.fromObject({});
    const role = new InlineRole(this, 'Role', new ServicePrincipal('events.amazonaws.com'));
    this.rule = new Rule(this, 'Daily', {
      description: 'Verifies the ledgers once a day',
      schedule: Schedule.rate(Duration.days(1)),
      targets: [new SfnStateMachine(this.workflow.stateMachine, { input, role })],
    });
  }
}
