import { readFileSync } from 'node:fs';
import { ArnFormat, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Policy, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { DefinitionBody, LogLevel, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EnvironmentName } from '../core/environment.ts';
import type { StackContext } from './context.ts';
import { InlineRole } from './inline-role.ts';
import { pascalCase } from './names.ts';
import { functionsByName, ServiceFunction } from './service-function.ts';

/** Settings of a task's function. */
export interface TaskSettings {
  description: string;
  timeoutSeconds: number;
  /** Megabytes, 512 by default. */
  memorySize?: number;
  diskMegabytes?: number;
}

/** A workflow: its definition and its tasks. */
export interface WorkflowProps<Task extends string> {
  bundleOf: (name: string) => string;
  context: Pick<StackContext, 'executionLogs' | 'tracing'>;
  /** The definition is `statemachines/<definition>.asl.json`. */
  definition: string;
  /** The variable through which functions find the state machine. */
  arnVariable: Extract<EnvironmentName, `${string}_STATE_MACHINE_ARN`>;
  /** Tasks by the file name of their function: `settle-request` fills `${SettleRequestArn}`. */
  tasks: Record<Task, TaskSettings>;
  /** The `Label` of its Distributed Map, whose executions it starts itself. */
  mapLabel?: string;
}

/** A Standard state machine and the functions of its tasks. The machine may invoke no other function. */
export class Workflow<Task extends string> extends Construct {
  readonly stateMachine: StateMachine;
  /** The functions of the tasks, by file name. */
  readonly tasks: Record<Task, ServiceFunction>;
  private readonly arnVariable: WorkflowProps<Task>['arnVariable'];

  constructor(scope: Construct, id: string, props: WorkflowProps<Task>) {
    super(scope, id);
    this.arnVariable = props.arnVariable;
    const names = Object.keys(props.tasks) as Task[];
    this.tasks = functionsByName(names, (name) => {
      const { timeoutSeconds, ...settings } = props.tasks[name];
      const bundle = props.bundleOf(`workflow/${name}`);
      const timeout = Duration.seconds(timeoutSeconds);
      return new ServiceFunction(this, pascalCase(name), { bundle, timeout, ...settings });
    });
    const arns = names.map(
      (name) => [`${pascalCase(name)}Arn`, this.tasks[name].lambda.functionArn] as const,
    );

    // The path of this id is fixed: another id would replace the state machine and its running executions.
    this.stateMachine = new StateMachine(new Construct(this, 'Machine'), 'StateMachine', {
      role: new InlineRole(this, 'Role', stepFunctionsOf(Stack.of(this))),
      stateMachineType: StateMachineType.STANDARD,
      // `fromString` keeps the definition in the template, for diffs and the local run. Its timeout and comment are in
      // the file: CDK ignores both props for a definition given as text.
      definitionBody: DefinitionBody.fromString(readDefinition(props.definition)),
      definitionSubstitutions: Object.fromEntries(arns),
      tracingEnabled: props.context.tracing,
      ...(props.context.executionLogs && {
        logs: {
          destination: new LogGroup(this, 'ExecutionLogs', {
            // The prefix keeps such groups out of one resource policy, whose size is limited in an account.
            logGroupName: `/aws/vendedlogs/states/${Stack.of(this).stackName}-${props.definition}`,
            removalPolicy: RemovalPolicy.DESTROY,
          }),
          level: LogLevel.ERROR,
          includeExecutionData: false,
        },
      }),
    });
    // `grantInvoke` would also allow every version and alias.
    this.stateMachine.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        resources: arns.map(([, arn]) => arn),
      }),
    );
    if (props.mapLabel !== undefined) this.allowMap(props.mapLabel);
  }

  /**
   * Permissions of a Distributed Map: the L2 cannot derive them from a definition given as text. They are in
   * a separate policy: in the role's own, the state machine would depend on itself.
   */
  private allowMap(label: string): void {
    const { stateMachine } = this;
    const executionsOfMap = Stack.of(this).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName: `${stateMachine.stateMachineName}/${label}:*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    new Policy(this, 'MapRuns', {
      roles: [stateMachine.role],
      statements: [
        new PolicyStatement({
          actions: ['states:StartExecution'],
          resources: [stateMachine.stateMachineArn],
        }),
        new PolicyStatement({
          actions: ['states:DescribeExecution', 'states:StopExecution'],
          resources: [executionsArn(stateMachine)],
        }),
        new PolicyStatement({ actions: ['states:RedriveExecution'], resources: [executionsOfMap] }),
      ],
    });
  }

  /** Lets functions start executions. */
  bindStart(functions: readonly ServiceFunction[]): void {
    this.bind(functions, ['states:StartExecution'], this.stateMachine.stateMachineArn);
  }

  /** Lets functions have a task's function run without an execution, and that function start one. */
  bindInvoke(task: Task, variable: EnvironmentName, functions: readonly ServiceFunction[]): void {
    const { stateMachineArn } = this.stateMachine;
    const invoked = this.tasks[task];
    for (const to of functions) {
      to.addEnvironment({ [variable]: invoked.lambda.functionArn, [this.arnVariable]: stateMachineArn });
      to.allow(['lambda:InvokeFunction'], [invoked.lambda.functionArn]);
    }
    invoked.allowLater(['states:StartExecution'], [stateMachineArn]);
  }

  /** Lets functions see whether an execution runs, and how it ended. */
  bindStatus(functions: readonly ServiceFunction[]): void {
    this.bind(functions, ['states:DescribeExecution'], executionsArn(this.stateMachine));
  }

  /** Lets functions wake tasks that wait under a token. The token names the task, so no variable is needed. */
  allowWake(functions: readonly ServiceFunction[]): void {
    const actions = ['states:SendTaskSuccess'];
    const own = new Set<ServiceFunction>(Object.values(this.tasks));
    for (const to of functions) {
      if (own.has(to)) to.allowLater(actions, [this.stateMachine.stateMachineArn]);
      else to.allow(actions, [this.stateMachine.stateMachineArn]);
    }
  }

  private bind(functions: readonly ServiceFunction[], actions: string[], resource: string): void {
    for (const to of functions) {
      to.addEnvironment({ [this.arnVariable]: this.stateMachine.stateMachineArn });
      to.allow(actions, [resource]);
    }
  }
}

/** Step Functions, for the state machines of this account and region only. */
const stepFunctionsOf = (stack: Stack): ServicePrincipal => {
  const { COLON_RESOURCE_NAME: arnFormat } = ArnFormat;
  const stateMachines = { service: 'states', resource: 'stateMachine', resourceName: '*', arnFormat };
  return new ServicePrincipal('states.amazonaws.com', {
    conditions: {
      ArnLike: { 'aws:SourceArn': stack.formatArn(stateMachines) },
      StringEquals: { 'aws:SourceAccount': stack.account },
    },
  });
};

/** The pattern of the ARNs of a state machine's executions. */
export const executionsArn = (stateMachine: StateMachine): string =>
  Stack.of(stateMachine).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${stateMachine.stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });

const readDefinition = (name: string): string =>
  readFileSync(new URL(`../statemachines/${name}.asl.json`, import.meta.url), 'utf8');
