import { Duration } from 'aws-cdk-lib';
import { Rule, RuleTargetInput, Schedule } from 'aws-cdk-lib/aws-events';
import { SfnStateMachine } from 'aws-cdk-lib/aws-events-targets';
import { Construct } from 'constructs';
import { Workflow, type WorkflowProps } from './workflow.ts';
import { VERIFY_LEDGERS_DEFINITION } from './workflow-definitions.ts';

/** Verifies all ledgers: what is new once a day, everything once a week. */
export class LedgerVerification extends Construct {
  readonly workflow: Workflow<keyof typeof VERIFY_LEDGERS_DEFINITION.tasks>;
  /** The rules, which start executions. */
  readonly rules: Rule[];

  constructor(scope: Construct, id: string, props: Pick<WorkflowProps<never>, 'bundleOf' | 'context'>) {
    super(scope, id);
    this.workflow = new Workflow(this, 'Workflow', { ...props, ...VERIFY_LEDGERS_DEFINITION });
    const { stateMachine } = this.workflow;
    const start = (full: boolean) =>
      new SfnStateMachine(stateMachine, { input: RuleTargetInput.fromObject({ full }) });
    this.rules = [
      new Rule(this, 'Daily', {
        description: 'Verifies what is new in the ledgers once a day',
        schedule: Schedule.rate(Duration.days(1)),
        targets: [start(false)],
      }),
      new Rule(this, 'Weekly', {
        description: 'Verifies the whole ledgers once a week',
        schedule: Schedule.rate(Duration.days(7)),
        targets: [start(true)],
      }),
    ];
  }
}
