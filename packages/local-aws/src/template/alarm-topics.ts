import { TemplateError } from './assembly.ts';
import type { Resolver } from './resolver.ts';

interface Statement {
  Effect?: string;
  Principal?: unknown;
  Action?: string | string[];
  Resource?: string | string[];
  Condition?: unknown;
}

const CLOUDWATCH = 'cloudwatch.amazonaws.com';

const list = <T>(value: T | T[] | undefined): T[] => {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
};

const isForAlarms = ({ Effect, Principal, Action, Resource }: Statement, topic: string): boolean => {
  const principals =
    typeof Principal === 'object' && Principal !== null
      ? list((Principal as { Service?: string | string[] }).Service)
      : list(Principal as string | undefined);
  return (
    Effect === 'Allow' &&
    principals.some((principal) => principal === CLOUDWATCH || principal === '*') &&
    list(Action).some((action) => ['sns:Publish', 'SNS:Publish', 'sns:*', '*'].includes(action)) &&
    list(Resource).some((resource) => resource === topic || resource === '*')
  );
};

/**
 * Throws `TemplateError` when an alarm notifies a topic of the stack to which CloudWatch may not publish. Without a policy a
 * topic has SNS's default one, under which it may; a policy of the stack replaces that.
 */
export const checkAlarmTopics = (resolver: Resolver): void => {
  const policies = new Map<string, Statement[]>();
  for (const { properties } of resolver.resources('AWS::SNS::TopicPolicy')) {
    const { Statement } = resolver.resolve(properties.PolicyDocument) as { Statement?: Statement[] };
    for (const topic of resolver.resolve(properties.Topics) as string[]) policies.set(topic, list(Statement));
  }
  for (const { logicalId, properties } of resolver.resources(
    'AWS::CloudWatch::Alarm',
    'AWS::CloudWatch::CompositeAlarm',
  )) {
    const actions = ['AlarmActions', 'OKActions', 'InsufficientDataActions'].flatMap(
      (name) => (resolver.resolve(properties[name]) ?? []) as string[],
    );
    for (const topic of actions) {
      const statements = policies.get(topic);
      if (statements && !statements.some((statement) => isForAlarms(statement, topic))) {
        throw new TemplateError(`${logicalId}: the policy of its topic does not let CloudWatch publish`);
      }
    }
  }
};
