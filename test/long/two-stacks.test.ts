import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ofType, projectContext, type Resource } from '../infra/service-template.ts';
import { addService, quietContext, withTemporaryFolder } from '../infra/synthesis.ts';

/** Resources whose names belong to the account, in no region. */
const GLOBAL_NAMES: [type: string, config: string, fields: string[]][] = [
  ['AWS::CloudFront::PublicKey', 'PublicKeyConfig', ['Name', 'CallerReference']],
  ['AWS::CloudFront::KeyGroup', 'KeyGroupConfig', ['Name']],
  ['AWS::CloudFront::ResponseHeadersPolicy', 'ResponseHeadersPolicyConfig', ['Name']],
  ['AWS::CloudFront::OriginAccessControl', 'OriginAccessControlConfig', ['Name']],
];
/** CloudFront's limit on the name of an origin access control, the shortest of them. */
const MAX_NAME = 64;

const ACCOUNT = '111111111111';

const resourcesIn = (region: string, stackName: string): Record<string, Resource> =>
  withTemporaryFolder((folder) => {
    const app = new App({
      outdir: join(folder, 'out'),
      context: { ...quietContext(), stackName },
      builtinCloudFormationValidation: false,
    });
    const stack = addService(app, join(folder, 'bundles'), { account: ACCOUNT, region });
    return Template.fromStack(stack).toJSON().Resources;
  });

const globalNamesOf = (resources: Record<string, Resource>): string[] =>
  GLOBAL_NAMES.flatMap(([type, config, fields]) =>
    ofType(resources, type).flatMap(([, { Properties }]) =>
      fields.map((field) => `${type}.${field} ${Properties[config][field]}`),
    ),
  );

/** Dimension values that separate a stack's own metrics from other stacks' in its region. */
const metricScopesOf = (resources: Record<string, Resource>): Set<string> =>
  new Set(
    ofType(resources, 'AWS::CloudWatch::Alarm').flatMap(([, { Properties }]) =>
      ((Properties.Dimensions ?? []) as { Name: string; Value: unknown }[])
        .filter(({ Name }) => Name === 'service' || Name === 'ApiName')
        .map(({ Value }) => String(Value)),
    ),
  );

test('the template is made for the one partition that the state machines name', () => {
  expect(projectContext()['@aws-cdk/core:target-partitions']).toEqual(['aws']);
});

describe('two stacks of one account', () => {
  let first: Record<string, Resource>;
  let inAnotherRegion: Record<string, Resource>;
  let besideIt: Record<string, Resource>;
  beforeAll(() => {
    first = resourcesIn('eu-west-1', 'GenerationService');
    inAnotherRegion = resourcesIn('ap-southeast-1', 'GenerationService');
    besideIt = resourcesIn('eu-west-1', 'Second');
  });

  test('in two regions, or beside each other, share no name of CloudFront, whose names have no region', () => {
    const names = globalNamesOf(first);

    expect(names.length).toBeGreaterThanOrEqual(4);
    for (const other of [inAnotherRegion, besideIt]) {
      expect(globalNamesOf(other)).toHaveLength(names.length);
      expect(globalNamesOf(other).filter((name) => names.includes(name))).toEqual([]);
    }
  });

  test('have names that CloudFront accepts, with the longest stack name and region', () => {
    const names = globalNamesOf(resourcesIn('ap-southeast-1', 'S'.repeat(30)));

    for (const name of names.map((text) => text.split(' ')[1] ?? '')) {
      expect(name).toMatch(/^[\w-]+$/);
      expect(name.length).toBeLessThanOrEqual(MAX_NAME);
    }
  });

  test('beside each other have their own metrics: no alarm listens to the other', () => {
    expect(metricScopesOf(first)).toEqual(new Set(['GenerationService']));
    expect(metricScopesOf(besideIt)).toEqual(new Set(['Second']));
    const functionOf = ofType(besideIt, 'AWS::Lambda::Function').map(
      ([, { Properties }]) => Properties.Environment.Variables.STACK_NAME,
    );
    expect(new Set(functionOf)).toEqual(new Set(['Second']));
  });

  test('have the same logical ids: a stack name changes no resource', () => {
    const idsOf = (resources: Record<string, Resource>) =>
      // A deployment's id is a digest of what it deploys, the API's name included.
      Object.keys(resources).filter((id) => resources[id]?.Type !== 'AWS::ApiGateway::Deployment');

    expect(idsOf(besideIt)).toEqual(idsOf(first));
  });
});
