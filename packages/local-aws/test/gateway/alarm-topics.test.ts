import { describe, expect, test } from '@jest/globals';
import { checkAlarmTopics } from '../../src/template/alarm-topics.ts';
import { createResolver } from '../../src/template/resolver.ts';

const TOPIC = { Ref: 'Alarms' };
const refuseHttp = {
  Effect: 'Deny',
  Principal: '*',
  Action: 'sns:Publish',
  Resource: TOPIC,
  Condition: { Bool: { 'aws:SecureTransport': 'false' } },
};
const allow = (Principal: unknown, Action = 'sns:Publish', Resource: unknown = TOPIC) => ({
  Effect: 'Allow',
  ...{ Principal, Action, Resource },
});

/** Checks a stack with an alarm on a topic with these statements; undefined: without a policy. */
const check = (statements: unknown[] | undefined) =>
  checkAlarmTopics(
    createResolver(
      {
        Resources: {
          Alarms: { Type: 'AWS::SNS::Topic' },
          Failed: { Type: 'AWS::CloudWatch::Alarm', Properties: { AlarmActions: [TOPIC] } },
          ...(statements && {
            Policy: {
              Type: 'AWS::SNS::TopicPolicy',
              Properties: { Topics: [TOPIC], PolicyDocument: { Statement: statements } },
            },
          }),
        },
      },
      'Shop',
      new Map(),
    ),
  );

describe('the topic of an alarm', () => {
  test.each([
    ['no policy, so that the default one lets the account publish', undefined],
    ['a policy for CloudWatch', [refuseHttp, allow({ Service: 'cloudwatch.amazonaws.com' })]],
    ['a policy for everyone', [allow('*')]],
  ])('may have %s', (_title, statements) => {
    expect(() => check(statements)).not.toThrow();
  });

  test.each([
    ['only denies', [refuseHttp]],
    ['lets another service publish', [refuseHttp, allow({ Service: 'events.amazonaws.com' })]],
    ['allows something else', [allow({ Service: 'cloudwatch.amazonaws.com' }, 'sns:Subscribe')]],
    ['is for another topic', [allow({ Service: 'cloudwatch.amazonaws.com' }, 'sns:Publish', 'arn:other')]],
  ])('ends the start when its policy %s, since no alarm would reach anyone', (_title, statements) => {
    expect(() => check(statements)).toThrow(
      'Failed: the policy of its topic does not let CloudWatch publish',
    );
  });
});
