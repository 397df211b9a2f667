import { describe, expect, test } from '@jest/globals';
import type { Template, TemplateResource } from '../../src/template/assembly.ts';
import { type CustomResourceState, createResolver } from '../../src/template/resolver.ts';

const aResolver = (
  template: Partial<Template> = {},
  customResources = new Map<string, CustomResourceState>(),
) => createResolver({ Resources: {}, ...template }, 'Shop', customResources);

const withResource = (Type: string, Properties: Record<string, unknown> = {}) =>
  aResolver({ Resources: { Thing: { Type, Properties } } });

const REGION_REF = { Ref: 'AWS::Region' };

/** A variable of `Fn::Sub`. */
const placeholder = (name: string) => `\${${name}}`;

describe('intrinsic functions', () => {
  const template: Partial<Template> = {
    Resources: { Orders: { Type: 'AWS::DynamoDB::Table' } },
    Parameters: { Tier: { Default: 'gold' } },
    Conditions: {
      IsGold: { 'Fn::Equals': [{ Ref: 'Tier' }, 'gold'] },
      IsSilver: { 'Fn::Equals': [{ Ref: 'Tier' }, 'silver'] },
      Both: { 'Fn::And': [{ Condition: 'IsGold' }, { Condition: 'IsSilver' }] },
      Either: { 'Fn::Or': [{ Condition: 'IsGold' }, { Condition: 'IsSilver' }] },
      Neither: { 'Fn::Not': [{ Condition: 'Either' }] },
    },
    Mappings: { Sizes: { 'us-east-1': { small: '1' } } },
  };

  test.each<[string, unknown, unknown]>([
    ['a pseudo parameter', REGION_REF, 'us-east-1'],
    ['the account', { Ref: 'AWS::AccountId' }, '000000000000'],
    ['the stack', { Ref: 'AWS::StackName' }, 'Shop'],
    ['a parameter', { Ref: 'Tier' }, 'gold'],
    ['Ref', { Ref: 'Orders' }, 'Orders'],
    ['GetAtt', { 'Fn::GetAtt': ['Orders', 'Arn'] }, 'arn:aws:dynamodb:us-east-1:000000000000:table/Orders'],
    ['Join', { 'Fn::Join': ['-', ['a', REGION_REF, 1]] }, 'a-us-east-1-1'],
    ['Split and Select', { 'Fn::Select': ['1', { 'Fn::Split': ['-', REGION_REF] }] }, 'east'],
    [
      'Sub',
      { 'Fn::Sub': `${placeholder('Orders.Arn')}/${placeholder('AWS::Region')}/${placeholder('!Kept')}` },
      `arn:aws:dynamodb:us-east-1:000000000000:table/Orders/us-east-1/${placeholder('Kept')}`,
    ],
    [
      'Sub with variables',
      { 'Fn::Sub': [`${placeholder('Name')} ${placeholder('Tier')}`, { Name: { Ref: 'Orders' } }] },
      'Orders gold',
    ],
    ['FindInMap', { 'Fn::FindInMap': ['Sizes', REGION_REF, 'small'] }, '1'],
    ['If', { 'Fn::If': ['IsGold', REGION_REF, 'no'] }, 'us-east-1'],
    ['And', { 'Fn::If': ['Both', 'yes', 'no'] }, 'no'],
    ['Or', { 'Fn::If': ['Either', 'yes', 'no'] }, 'yes'],
    ['Not', { 'Fn::If': ['Neither', 'yes', 'no'] }, 'no'],
    ['no value, in an object', { a: { Ref: 'AWS::NoValue' }, b: 1 }, { b: 1 }],
    ['no value, in a list', ['x', { 'Fn::If': ['IsSilver', 'y', { Ref: 'AWS::NoValue' }] }], ['x']],
    [
      'an IAM condition, which is no function',
      { Condition: { Bool: { a: true } } },
      { Condition: { Bool: { a: true } } },
    ],
  ])('%s', (_title, value, expected) => {
    expect(aResolver(template).resolve(value)).toEqual(expected);
  });

  test.each<[string, unknown, RegExp]>([
    ['an unknown resource', { Ref: 'Missing' }, /no resource Missing/],
    [
      'an unknown attribute',
      { 'Fn::GetAtt': ['Orders', 'Colour'] },
      /Orders \(AWS::DynamoDB::Table\).* Colour/,
    ],
    ['an unknown function', { 'Fn::ImportValue': 'x' }, /Fn::ImportValue/],
    ['an index outside the list', { 'Fn::Select': [2, ['a']] }, /Fn::Select/],
    ['a missing mapping', { 'Fn::FindInMap': ['Sizes', 'eu', 'small'] }, /Fn::FindInMap/],
  ])('refuses %s by name', (_title, value, message) => {
    expect(() => aResolver(template).resolve(value)).toThrow(message);
  });

  test('leaves out resources whose condition does not hold', () => {
    const Resources: Record<string, TemplateResource> = {
      Kept: { Type: 'AWS::SNS::Topic', Condition: 'IsGold' },
      Dropped: { Type: 'AWS::SNS::Topic', Condition: 'IsSilver' },
    };
    const resolver = aResolver({ ...template, Resources });

    expect(resolver.resources('AWS::SNS::Topic').map(({ logicalId }) => logicalId)).toEqual(['Kept']);
    expect(() => resolver.resolve({ Ref: 'Dropped' })).toThrow(/no resource Dropped/);
  });
});

describe('names, references and attributes', () => {
  test.each<[string, Record<string, unknown>, string | RegExp, Record<string, string | RegExp>]>([
    ['AWS::Lambda::Function', {}, 'Thing', { Arn: 'arn:aws:lambda:us-east-1:000000000000:function:Thing' }],
    [
      'AWS::Lambda::Function',
      { FunctionName: 'shop' },
      'shop',
      { Arn: 'arn:aws:lambda:us-east-1:000000000000:function:shop' },
    ],
    [
      'AWS::S3::Bucket',
      {},
      'thing',
      { Arn: 'arn:aws:s3:::thing', RegionalDomainName: 'thing.s3.us-east-1.amazonaws.com' },
    ],
    [
      'AWS::StepFunctions::StateMachine',
      {},
      'arn:aws:states:us-east-1:000000000000:stateMachine:Thing',
      { Name: 'Thing', Arn: 'arn:aws:states:us-east-1:000000000000:stateMachine:Thing' },
    ],
    ['AWS::IAM::Role', {}, 'Thing', { Arn: 'arn:aws:iam::000000000000:role/Thing' }],
    [
      'AWS::SecretsManager::Secret',
      { Name: 'shop/key' },
      /^arn:aws:secretsmanager:us-east-1:000000000000:secret:shop\/key-[a-z0-9]{6}$/,
      {},
    ],
    [
      'AWS::CloudFront::Distribution',
      {},
      /^E[A-Z0-9]{13}$/,
      { DomainName: /^d[a-z0-9]{13}\.cloudfront\.net$/ },
    ],
    ['AWS::CloudFront::PublicKey', {}, /^K[A-Z0-9]{13}$/, {}],
    ['AWS::CloudFront::KeyGroup', {}, /^G[A-Z0-9]{13}$/, {}],
    ['AWS::Logs::LogGroup', {}, 'Thing', { Arn: 'arn:aws:logs:us-east-1:000000000000:log-group:Thing:*' }],
    ['AWS::ApiGateway::RestApi', {}, /^[a-z0-9]{10}$/, { RootResourceId: /^[a-z0-9]{10}$/ }],
  ])('of %s %j', (type, properties, reference, attributes) => {
    const resolver = withResource(type, properties);
    const expected = (value: string | RegExp) =>
      typeof value === 'string' ? value : expect.stringMatching(value);

    expect(resolver.resolve({ Ref: 'Thing' })).toEqual(expected(reference));
    for (const [name, value] of Object.entries(attributes)) {
      expect(resolver.resolve({ 'Fn::GetAtt': ['Thing', name] })).toEqual(expected(value));
    }
    expect(withResource(type, properties).resolve({ Ref: 'Thing' })).toBe(resolver.resolve({ Ref: 'Thing' }));
  });

  test('stay within the limits of the services', () => {
    const long = 'Long'.repeat(40);
    const resolver = aResolver({
      Resources: { [long]: { Type: 'AWS::S3::Bucket' }, [`${long}F`]: { Type: 'AWS::Lambda::Function' } },
    });

    expect(resolver.nameOf(long)).toMatch(/^[a-z0-9-]{63}$/);
    expect(resolver.nameOf(`${long}F`)).toHaveLength(64);
  });

  test('of a custom resource are its answer, and an error before that', () => {
    const answers = new Map<string, CustomResourceState>();
    const resolver = aResolver({ Resources: { Pair: { Type: 'Custom::KeyPair' } } }, answers);
    expect(() => resolver.resolve({ 'Fn::GetAtt': ['Pair', 'PublicKey'] })).toThrow(/Pair .*not been made/);

    answers.set('Pair', { physicalResourceId: 'pair-1', data: { PublicKey: 'pem' } });

    expect(resolver.resolve([{ Ref: 'Pair' }, { 'Fn::GetAtt': ['Pair', 'PublicKey'] }])).toEqual([
      'pair-1',
      'pem',
    ]);
    expect(() => resolver.resolve({ 'Fn::GetAtt': ['Pair', 'Colour'] })).toThrow(/Pair .*Colour/);
  });
});
