import { expect, test } from '@jest/globals';
import { findLastRelease } from '../releases/last-release.ts';
import { synthesizeService } from './service-template.ts';

/** Types whose resources may leave the template or get other ids: nothing outside the stack's update calls them or is lost with them. */
const MAY_GO = [
  ...['AWS::ApiGateway::Account', 'AWS::ApiGateway::Deployment', 'AWS::ApiGateway::Method'],
  ...['AWS::ApiGateway::Resource', 'AWS::ApiGateway::GatewayResponse', 'AWS::CDK::Metadata'],
  ...['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard', 'AWS::IAM::Policy', 'AWS::Lambda::Permission'],
];

const last = findLastRelease();
/** Until the first release, there is nothing to compare with. */
const sinceRelease = last ? test : test.skip;

sinceRelease(
  'every resource of the last release that holds data, or is called by its ARN, has its logical id in this one',
  async () => {
    const logicalIds = last?.logicalIds ?? {};
    const { resources } = await synthesizeService();
    const held = Object.entries(logicalIds).filter(([type]) => !MAY_GO.includes(type));
    const gone = held.flatMap(([type, ids]) => ids.filter((id) => resources[id]?.Type !== type));

    expect(held.flatMap(([, ids]) => ids).length).toBeGreaterThan(100);
    expect(gone).toEqual([]);
  },
);
