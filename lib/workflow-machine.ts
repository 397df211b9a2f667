import { readFileSync } from 'node:fs';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { DefinitionBody, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { ServiceFunction } from './service-function.ts';

/**
 * A Standard state machine of `statemachines/<name>.asl.json` that may invoke its tasks' functions and nothing
 * else. `tasks` are the functions by the stem of their placeholder: `DispatchRequest` for `${DispatchRequestArn}`.
 */
export class WorkflowMachine extends Construct {
  readonly stateMachine: StateMachine;

  constructor(scope: Construct, id: string, props: { name: string; tasks: Record<string, ServiceFunction> }) {
    super(scope, id);
    const definition = new URL(`../statemachines/${props.name}.asl.json`, import.meta.url);
    // `fromString` keeps the definition in the template, where diffs and the local run see it. Its time limit
    // and comment stand in the file: CDK ignores both beside a definition given as text.
    this.stateMachine = new StateMachine(this, 'StateMachine', {
      stateMachineType: StateMachineType.STANDARD,
      definitionBody: DefinitionBody.fromString(readFileSync(definition, 'utf8')),
      definitionSubstitutions: Object.fromEntries(
        Object.entries(props.tasks).map(([stem, { lambda }]) => [`${stem}Arn`, lambda.functionArn]),
      ),
    });
    // `grantInvoke` would allow every version and alias too.
    this.stateMachine.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: Object.values(props.tasks).map(({ lambda }) => lambda.functionArn),
      }),
    );
  }
}
