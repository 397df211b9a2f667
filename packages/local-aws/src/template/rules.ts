import { checkPattern } from '../events/pattern.ts';
import { readSchedule } from '../events/schedule.ts';
import type { RuleSpec } from '../types.ts';
import { TemplateError } from './assembly.ts';
import type { Resolver, StackResource } from './resolver.ts';

interface TargetDocument {
  Id: string;
  Arn: string;
  Input?: string;
  /** For the delivery to the function, which here succeeds at the first attempt. */
  RetryPolicy?: unknown;
  DeadLetterConfig?: unknown;
}

const KNOWN_TARGET_FIELDS = ['Id', 'Arn', 'Input', 'RetryPolicy', 'DeadLetterConfig'];

const targetOf = (target: TargetDocument, functionArns: ReadonlySet<string>, owner: string) => {
  const unknown = Object.keys(target).find((field) => !KNOWN_TARGET_FIELDS.includes(field));
  if (unknown) throw new TemplateError(`${owner}: ${unknown} of a target is not supported`);
  if (!functionArns.has(target.Arn)) {
    throw new TemplateError(`${owner}: its target ${target.Arn} is not a function of this stack`);
  }
  return { functionArn: target.Arn, ...(target.Input !== undefined && { input: JSON.parse(target.Input) }) };
};

const ruleOf = (
  resolver: Resolver,
  { logicalId, properties }: StackResource,
  functionArns: ReadonlySet<string>,
): RuleSpec => {
  const { ScheduleExpression, EventPattern, EventBusName, Targets } = properties;
  if (EventBusName !== undefined && resolver.text(EventBusName) !== 'default') {
    throw new TemplateError(`${logicalId}: only the default event bus is supported`);
  }
  const eventPattern = resolver.resolve(EventPattern) as Record<string, unknown> | undefined;
  const targets = (resolver.resolve(Targets) ?? []) as TargetDocument[];
  try {
    if (eventPattern) checkPattern(eventPattern);
    return {
      name: resolver.nameOf(logicalId),
      arn: String(resolver.attribute(logicalId, 'Arn')),
      ...(ScheduleExpression !== undefined && { schedule: readSchedule(resolver.text(ScheduleExpression)) }),
      ...(eventPattern && { eventPattern }),
      targets: targets.map((target) => targetOf(target, functionArns, logicalId)),
    };
  } catch (cause) {
    if (cause instanceof TemplateError) throw cause;
    throw new TemplateError(`${logicalId}: ${(cause as Error).message}`, { cause });
  }
};

/** The stack's enabled rules. Throws `TemplateError` for one that would behave differently when deployed. */
export const ruleSpecs = (resolver: Resolver): RuleSpec[] => {
  const functionArns = new Set(
    resolver
      .resources('AWS::Lambda::Function')
      .map(({ logicalId }) => String(resolver.attribute(logicalId, 'Arn'))),
  );
  return resolver
    .resources('AWS::Events::Rule')
    .filter(({ properties }) => resolver.resolve(properties.State) !== 'DISABLED')
    .map((rule) => ruleOf(resolver, rule, functionArns));
};
