import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { apiSpec } from '../../src/template/api.ts';
import { secretSpecs } from '../../src/template/data.ts';
import { functionSpecs } from '../../src/template/functions.ts';
import { refuseUnknownKinds } from '../../src/template/kinds.ts';
import { createResolver } from '../../src/template/resolver.ts';
import { roleSpecs } from '../../src/template/roles.ts';
import { ruleSpecs } from '../../src/template/rules.ts';

const aResolver = (Type: string, Properties: Record<string, unknown> = {}) =>
  createResolver({ Resources: { Thing: { Type, Properties } } }, 'Shop', new Map());

describe('resources of an unknown type', () => {
  test.each(['AWS::Lambda::EventSourceMapping', 'AWS::Scheduler::Schedule', 'AWS::EC2::VPC'])(
    'are refused by name: %s',
    (type) => {
      expect(() => refuseUnknownKinds(aResolver(type))).toThrow(`Thing (${type})`);
    },
  );

  test.each(['AWS::SNS::TopicPolicy', 'AWS::SQS::QueuePolicy', 'Custom::Anything'])(
    'do not include %s',
    (type) => {
      expect(() => refuseUnknownKinds(aResolver(type))).not.toThrow();
    },
  );
});

describe('a schedule', () => {
  const callOf = (Arn: string) => aResolver('AWS::Scheduler::Schedule', { Target: { Arn } });

  test('that exports a table does nothing here', () => {
    const Arn = 'arn:aws:scheduler:::aws-sdk:dynamodb:exportTableToPointInTime';

    expect(() => refuseUnknownKinds(callOf(Arn))).not.toThrow();
  });

  test('that makes any other call is refused', () => {
    const Arn = 'arn:aws:scheduler:::aws-sdk:lambda:invoke';

    expect(() => refuseUnknownKinds(callOf(Arn))).toThrow('Thing (AWS::Scheduler::Schedule)');
  });
});

test.each([{ Type: 'MOCK' }, { Type: 'HTTP_PROXY', Uri: 'https://example.com' }])(
  'a method that needs no key is answered by a function: %j is refused',
  (Integration) => {
    const RestApiId = { Ref: 'Api' };
    const ResourceId = { 'Fn::GetAtt': ['Api', 'RootResourceId'] };
    const Resources = (ApiKeyRequired: boolean) => ({
      Api: { Type: 'AWS::ApiGateway::RestApi' },
      Get: {
        Type: 'AWS::ApiGateway::Method',
        Properties: { RestApiId, ResourceId, HttpMethod: 'GET', ApiKeyRequired, Integration },
      },
    });
    const routesOf = (isKeyRequired: boolean) =>
      apiSpec(createResolver({ Resources: Resources(isKeyRequired) }, 'Shop', new Map()))?.routes;

    expect(routesOf(true)).toEqual([{ resourcePath: '/', method: 'GET' }]);
    expect(() => routesOf(false)).toThrow(`Get: integration type ${Integration.Type} is not supported`);
  },
);

describe('a generated secret', () => {
  const draw = (GenerateSecretString: Record<string, unknown>) =>
    secretSpecs(aResolver('AWS::SecretsManager::Secret', { GenerateSecretString }))[0]?.initialValue;

  test('has at least one character of each type that is not excluded', () => {
    const drawn = Array.from({ length: 50 }, () => draw({ PasswordLength: 4 }));

    for (const value of drawn) {
      expect(value).toMatch(/^(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])(?=.*[^a-zA-Z0-9]).{4}$/);
    }
    expect(new Set(drawn).size).toBeGreaterThan(40);
  });

  test('is refused when it is too short for that, and with an option that is not known', () => {
    expect(() => draw({ PasswordLength: 3 })).toThrow(/cannot draw 3/);
    expect(draw({ PasswordLength: 3, ExcludePunctuation: true })).toMatch(/^[a-zA-Z0-9]{3}$/);
    expect(() => draw({ ExcludeCharacters: 'abc' })).toThrow(
      /^Thing: ExcludeCharacters of GenerateSecretString/,
    );
  });
});

describe('a rule', () => {
  const ruleOf = (Properties: Record<string, unknown>) => {
    const Resources = {
      Do: { Type: 'AWS::Lambda::Function' },
      Ship: { Type: 'AWS::StepFunctions::StateMachine' },
      Role: {
        Type: 'AWS::IAM::Role',
        Properties: {
          Policies: [
            {
              PolicyDocument: {
                Statement: { Effect: 'Allow', Action: 'states:StartExecution', Resource: { Ref: 'Ship' } },
              },
            },
          ],
        },
      },
      Rule: { Type: 'AWS::Events::Rule', Properties },
    };
    const resolver = createResolver({ Resources }, 'Shop', new Map());
    return ruleSpecs(resolver, roleSpecs(resolver))[0];
  };
  const target = { Id: '0', Arn: { 'Fn::GetAtt': ['Do', 'Arn'] } };
  test('starts executions of a state machine with its role', () => {
    const Targets = [
      { Id: '1', Arn: { Ref: 'Ship' }, RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] }, Input: '{"full":true}' },
    ];

    const { targets, executions } = ruleOf({ ScheduleExpression: 'rate(1 hour)', Targets }) ?? {};

    expect(targets).toEqual([]);
    expect(executions).toEqual([
      {
        stateMachineArn: expect.stringMatching(/:stateMachine:/),
        input: { full: true },
        principal: expect.objectContaining({
          statements: [expect.objectContaining({ actions: ['states:StartExecution'] })],
        }),
      },
    ]);
  });

  const hourly = { ScheduleExpression: 'rate(1 hour)', Targets: [target] };

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['on another bus', { ...hourly, EventBusName: 'orders' }, /Rule: .*default event bus/],
    [
      'with a target that is no function and no state machine',
      { Targets: [{ Id: '0', Arn: 'arn:aws:sns:x' }] },
      /arn:aws:sns:x/,
    ],
    ['with an input that is rewritten', { Targets: [{ ...target, InputPath: '$.detail' }] }, /InputPath/],
    ['with an input that is not JSON', { Targets: [{ ...target, Input: '{' }] }, /Rule: .*JSON/],
    [
      'with a schedule that is none',
      { ...hourly, ScheduleExpression: 'rate(1 minutes)' },
      /rate\(1 minutes\)/,
    ],
    [
      'with a matcher that is not known',
      { EventPattern: { detail: { status: [{ 'anything-but': 'FAILED' }] } } },
      /Rule: .*detail\.status/,
    ],
  ])('is refused %s', (_title, properties, message) => {
    expect(() => ruleOf(properties)).toThrow(message);
  });

  test('may hold a retry policy for its target, which is ignored', () => {
    const tried = { ...target, RetryPolicy: { MaximumRetryAttempts: 2 }, DeadLetterConfig: { Arn: 'x' } };

    expect(ruleOf({ ...hourly, Targets: [tried] })).toEqual(ruleOf(hourly));
  });
});

describe('the variables of a function', () => {
  const variablesOf = (value: string) => {
    const Resources = {
      Echo: {
        Type: 'AWS::Lambda::Function',
        Properties: {
          Handler: 'index.handler',
          Code: { S3Key: 'asset' },
          Role: 'none',
          Environment: { Variables: { LONG: value } },
        },
      },
    };
    const template = { Resources };
    const folder = fileURLToPath(new URL('fixtures/functions/behave', import.meta.url));
    const assembly = { template, stackName: 'Shop', assetPath: () => folder };
    const [echo] = functionSpecs(assembly, createResolver(template, 'Shop', new Map()), new Map());
    return echo?.environment();
  };
  // As JSON: {"LONG":"…"}
  const most = 4_096 - 11;

  test('take at most 4 KB together, as Lambda measures them', () => {
    expect(variablesOf('x'.repeat(most))).toEqual({ LONG: 'x'.repeat(most) });
    expect(() => variablesOf('x'.repeat(most + 1))).toThrow(/Echo: .* take 4097 bytes/);
    expect(() => variablesOf('"'.repeat(most / 2 + 1))).toThrow(/Echo: .* 4 KB/);
  });
});
