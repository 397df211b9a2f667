import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { apiSpec } from '../../src/template/api.ts';
import type { Template } from '../../src/template/assembly.ts';
import { secretSpecs } from '../../src/template/data.ts';
import { distributionSpec } from '../../src/template/distribution.ts';
import { functionSpecs } from '../../src/template/functions.ts';
import { refuseUnknownKinds } from '../../src/template/kinds.ts';
import { createResolver } from '../../src/template/resolver.ts';
import { roleSpecs } from '../../src/template/roles.ts';
import { ruleSpecs } from '../../src/template/rules.ts';

/** A policy variable. */
const placeholder = (name: string) => `\${${name}}`;

describe('the statements of a role', () => {
  const role = (Properties: Record<string, unknown>, others: Template['Resources'] = {}) => {
    const Resources = { Role: { Type: 'AWS::IAM::Role', Properties }, ...others };
    const [spec] = roleSpecs(createResolver({ Resources }, 'Shop', new Map())).values();
    return spec?.statements;
  };
  const document = (Statement: unknown) => ({ PolicyDocument: { Version: '2012-10-17', Statement } });

  test('come from inline, attached and managed policies of the template', () => {
    const statement = (Action: string) => document([{ Effect: 'Allow', Action, Resource: '*' }]);
    expect(
      role(
        {
          Policies: [statement('a:Inline')],
          ManagedPolicyArns: ['arn:aws:iam::aws:policy/X', { Ref: 'Managed' }],
        },
        {
          Attached: {
            Type: 'AWS::IAM::Policy',
            Properties: { Roles: [{ Ref: 'Role' }], ...statement('a:Attached') },
          },
          Others: { Type: 'AWS::IAM::Policy', Properties: { Roles: ['Another'], ...statement('a:Others') } },
          Managed: { Type: 'AWS::IAM::ManagedPolicy', Properties: statement('a:Managed') },
        },
      )?.flatMap(({ actions }) => actions),
    ).toEqual(['a:Inline', 'a:Attached', 'a:Managed']);
  });

  test('keep the condition on leading keys, of an Allow and of a Deny', () => {
    const condition = (patterns: unknown) => ({
      Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns } },
    });
    const common = { Action: 'dynamodb:*', Resource: '*' };
    const statements = [
      { Effect: 'Allow', ...common, ...condition('ORDER#*') },
      { Effect: 'Deny', ...common, ...condition(['ORDER#1', 'ORDER#2']) },
    ];

    expect(role({ Policies: [document(statements)] })).toEqual([
      { effect: 'Allow', actions: ['dynamodb:*'], resources: ['*'], leadingKeys: ['ORDER#*'] },
      { effect: 'Deny', actions: ['dynamodb:*'], resources: ['*'], leadingKeys: ['ORDER#1', 'ORDER#2'] },
    ]);
  });

  test('keep the condition on attributes, and the one that there are any', () => {
    const Condition = {
      'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': 'KEY#*' },
      'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['PK', 'tat'] },
      Null: { 'dynamodb:Attributes': 'false' },
    };
    const statement = { Effect: 'Allow', Action: 'dynamodb:UpdateItem', Resource: '*', Condition };

    expect(role({ Policies: [document([statement])] })).toEqual([
      {
        ...{ effect: 'Allow', actions: ['dynamodb:UpdateItem'], resources: ['*'] },
        ...{ leadingKeys: ['KEY#*'], attributes: ['PK', 'tat'], present: ['attributes'] },
      },
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['operator', { Bool: { 'aws:SecureTransport': false } }, /Role: .*Bool on aws:SecureTransport/],
    ['quantifier', { 'ForAnyValue:StringLike': { 'dynamodb:LeadingKeys': 'a' } }, /ForAnyValue:StringLike/],
    ['key', { 'ForAllValues:StringLike': { 'dynamodb:Attributes': ['a'] } }, /dynamodb:Attributes/],
    ['value', { Null: { 'dynamodb:Attributes': 'true' } }, /Null on dynamodb:Attributes is true/],
    [
      'variable',
      { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [placeholder('aws:userid')] } },
      /aws:userid/,
    ],
  ])('are refused with another condition: %s', (_other, Condition, message) => {
    for (const Effect of ['Allow', 'Deny']) {
      const statement = { Effect, Action: 'a:B', Resource: '*', Condition };

      expect(() => role({ Policies: [document(statement)] })).toThrow(message);
    }
  });

  test('are refused with NotAction or NotResource', () => {
    expect(() =>
      role({ Policies: [document({ Effect: 'Allow', NotAction: 'a:B', Resource: '*' })] }),
    ).toThrow(/Role: .*NotAction/);
  });
});

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

describe('a distribution', () => {
  // "CachingDisabled", with which CloudFront compresses nothing.
  const CachePolicyId = '4135ea2d-6df8-44a3-9df3-4b5a84be39ad';
  const spec = (SecurityHeadersConfig: Record<string, unknown>, originOfPages = 'Bucket') =>
    distributionSpec(
      createResolver(
        {
          Resources: {
            Bucket: { Type: 'AWS::S3::Bucket', Properties: {} },
            Rest: { Type: 'AWS::ApiGateway::RestApi', Properties: {} },
            Headers: {
              Type: 'AWS::CloudFront::ResponseHeadersPolicy',
              Properties: { ResponseHeadersPolicyConfig: { Name: 'headers', SecurityHeadersConfig } },
            },
            Distribution: {
              Type: 'AWS::CloudFront::Distribution',
              Properties: {
                DistributionConfig: {
                  DefaultCacheBehavior: { TargetOriginId: 'Bucket', TrustedKeyGroups: [] },
                  DefaultRootObject: 'docs',
                  CacheBehaviors: [
                    {
                      PathPattern: '/docs/*',
                      TargetOriginId: originOfPages,
                      ResponseHeadersPolicyId: { Ref: 'Headers' },
                      Compress: true,
                    },
                    { PathPattern: '/uncached/*', TargetOriginId: 'Bucket', Compress: true, CachePolicyId },
                    { PathPattern: '/v1/*', TargetOriginId: 'Api' },
                  ],
                  Origins: [
                    { Id: 'Bucket', DomainName: { 'Fn::GetAtt': ['Bucket', 'RegionalDomainName'] } },
                    { Id: 'Elsewhere', DomainName: 'example.com' },
                    {
                      ...{ Id: 'Part', OriginPath: '/docs' },
                      DomainName: { 'Fn::GetAtt': ['Bucket', 'RegionalDomainName'] },
                    },
                    {
                      Id: 'Api',
                      DomainName: {
                        'Fn::Join': [
                          '',
                          [
                            { Ref: 'Rest' },
                            '.execute-api.',
                            { Ref: 'AWS::Region' },
                            '.',
                            { Ref: 'AWS::URLSuffix' },
                          ],
                        ],
                      },
                    },
                  ],
                },
              },
            },
          },
        },
        'Shop',
        new Map(),
      ),
    );

  test('has the behaviours of paths in order, each with the headers of its policy, without those of the own API', () => {
    const headers = {
      ContentSecurityPolicy: { ContentSecurityPolicy: "default-src 'self'", Override: true },
      ContentTypeOptions: { Override: true },
      ReferrerPolicy: { ReferrerPolicy: 'no-referrer', Override: true },
    };

    const { paths, responseHeaders, trustedKeys, rootObject } = spec(headers) ?? {};

    expect(rootObject).toBe('docs');

    expect(trustedKeys).toEqual(new Map());
    expect(responseHeaders).toBeUndefined();
    expect(paths).toEqual([
      {
        pathPattern: '/docs/*',
        bucketName: expect.any(String),
        responseHeaders: {
          'Content-Security-Policy': "default-src 'self'",
          'X-Content-Type-Options': 'nosniff',
          'Referrer-Policy': 'no-referrer',
        },
        compresses: true,
      },
      { pathPattern: '/uncached/*', bucketName: expect.any(String) },
    ]);
  });

  test('with a header or an origin that the local run does not know ends the start', () => {
    expect(() => spec({ FrameOptions: { FrameOption: 'DENY' } })).toThrow(/FrameOptions is not known/);
    for (const origin of ['Elsewhere', 'Part']) {
      expect(() => spec({}, origin)).toThrow(`the origin ${origin} is not a whole bucket`);
    }
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
