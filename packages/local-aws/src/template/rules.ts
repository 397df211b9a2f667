import { functionArn } from '../aws/arn.ts';
import { checkPattern } from '../events/pattern.ts';
import { readSchedule } from '../events/schedule.ts';
import type { ExecutionTarget, RuleSpec, RuleTarget } from '../types.ts';
import { TemplateError } from './assembly.ts';
import { ACCOUNT_ID, REGION } from './attributes.ts';
import type { Resolver, StackResource } from './resolver.ts';
import { principalOf, type RoleSpec } from './roles.ts';

interface TargetDocument {
  Id: string;
  Arn: string;
  Input?: string;
  /** For a state machine. */
  RoleArn?: string;
  /** For the delivery, which here succeeds at the first attempt. */
  RetryPolicy?: unknown;
  DeadLetterConfig?: unknown;
}

const KNOWN_TARGET_FIELDS = ['Id', 'Arn', 'Input', 'RoleArn', 'RetryPolicy', 'DeadLetterConfig'];

/** How Lambda treats asynchronous invocations of a function. */
export type AsyncSettings = Pick<RuleTarget, 'retryAttempts' | 'maxAgeMilliseconds'>;

/** The settings of `AWS::Lambda::EventInvokeConfig`, by function ARN; empty for a function without one. */
export const asyncSettings = (resolver: Resolver): Map<string, AsyncSettings> => {
  const configured = new Map(
    resolver.resources('AWS::Lambda::EventInvokeConfig').map(({ properties }) => {
      const config = resolver.resolve(properties) as Record<string, unknown>;
      const { FunctionName, MaximumRetryAttempts, MaximumEventAgeInSeconds } = config;
      return [
        functionArn({ region: REGION, accountId: ACCOUNT_ID }, String(FunctionName)),
        {
          ...(MaximumRetryAttempts !== undefined && { retryAttempts: Number(MaximumRetryAttempts) }),
          ...(MaximumEventAgeInSeconds !== undefined && {
            maxAgeMilliseconds: Number(MaximumEventAgeInSeconds) * 1_000,
          }),
        },
      ] as const;
    }),
  );
  return new Map(
    resolver.resources('AWS::Lambda::Function').map(({ logicalId }) => {
      const arn = String(resolver.attribute(logicalId, 'Arn'));
      return [arn, configured.get(arn) ?? {}] as const;
    }),
  );
};

const inputOf = ({ Input }: TargetDocument) => Input !== undefined && { input: JSON.parse(Input) };

/** What the targets of a stack's rules can be. */
interface Reachable {
  functionArns: ReadonlyMap<string, AsyncSettings>;
  stateMachineArns: ReadonlySet<string>;
  roles: ReadonlyMap<string, RoleSpec>;
}

const checkTarget = (
  target: TargetDocument,
  { functionArns, stateMachineArns }: Reachable,
  owner: string,
): void => {
  const unknown = Object.keys(target).find((field) => !KNOWN_TARGET_FIELDS.includes(field));
  if (unknown) throw new TemplateError(`${owner}: ${unknown} of a target is not supported`);
  if (!functionArns.has(target.Arn) && !stateMachineArns.has(target.Arn)) {
    throw new TemplateError(
      `${owner}: its target ${target.Arn} is not a function or state machine of this stack`,
    );
  }
};

const executionTarget = (target: TargetDocument, { roles }: Reachable, owner: string): ExecutionTarget => ({
  stateMachineArn: target.Arn,
  principal: principalOf(owner, roles.get(target.RoleArn ?? '')),
  ...inputOf(target),
});

const functionTarget = (target: TargetDocument, { functionArns }: Reachable): RuleTarget => {
  const settings = functionArns.get(target.Arn);
  return {
    functionArn: target.Arn,
    ...settings,
    ...inputOf(target),
  };
};

const ruleOf = (
  resolver: Resolver,
  { logicalId, properties }: StackResource,
  reachable: Reachable,
): RuleSpec => {
  const { ScheduleExpression, EventPattern, EventBusName, Targets } = properties;
  if (EventBusName !== undefined && resolver.text(EventBusName) !== 'default') {
    throw new TemplateError(`${logicalId}: only the default event bus is supported`);
  }
  const eventPattern = resolver.resolve(EventPattern) as Record<string, unknown> | undefined;
  const targets = (resolver.resolve(Targets) ?? []) as TargetDocument[];
  for (const target of targets) checkTarget(target, reachable, logicalId);
  const isExecution = ({ Arn }: TargetDocument) => reachable.stateMachineArns.has(Arn);
  const executions = targets.filter(isExecution);
  try {
    if (eventPattern) checkPattern(eventPattern);
    return {
      name: resolver.nameOf(logicalId),
      arn: String(resolver.attribute(logicalId, 'Arn')),
      ...(ScheduleExpression !== undefined && { schedule: readSchedule(resolver.text(ScheduleExpression)) }),
      ...(eventPattern && { eventPattern }),
      targets: targets
        .filter((target) => !isExecution(target))
        .map((target) => functionTarget(target, reachable)),
      ...(executions.length > 0 && {
        executions: executions.map((target) => executionTarget(target, reachable, logicalId)),
      }),
    };
  } catch (cause) {
    if (cause instanceof TemplateError) throw cause;
    throw new TemplateError(`${logicalId}: ${(cause as Error).message}`, { cause });
  }
};

/** The stack's enabled rules. Throws `TemplateError` for one that would behave differently when deployed. */
export const ruleSpecs = (resolver: Resolver, roles: ReadonlyMap<string, RoleSpec>): RuleSpec[] => {
  const functionArns = asyncSettings(resolver);
  const stateMachineArns = new Set(
    resolver
      .resources('AWS::StepFunctions::StateMachine')
      .map(({ logicalId }) => resolver.reference(logicalId)),
  );
  return resolver
    .resources('AWS::Events::Rule')
    .filter(({ properties }) => resolver.resolve(properties.State) !== 'DISABLED')
    .map((rule) => ruleOf(resolver, rule, { functionArns, stateMachineArns, roles }));
};
