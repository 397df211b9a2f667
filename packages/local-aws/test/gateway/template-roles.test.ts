import { describe, expect, test } from '@jest/globals';
import type { Template } from '../../src/template/assembly.ts';
import { createResolver } from '../../src/template/resolver.ts';
import { roleSpecs } from '../../src/template/roles.ts';

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
