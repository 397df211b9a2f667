import { describe, expect, test } from '@jest/globals';
import { EVERY_OPTION, PRODUCTION } from './option-sets.ts';
import { EVERYTHING_CONFIGURED, synthesizeService } from './service-template.ts';

/** CloudFormation's limit is 500: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cloudformation-limits.html */
const MOST_BY_DEFAULT = 300;
const MOST_WITH_EVERY_OPTION = 340;
/** `cdk synth` adds AWS::CDK::Metadata, unless its reports are switched off. */
const METADATA = 1;

describe('a stack leaves room to grow below the 500 resources that CloudFormation takes', () => {
  test.each([
    ['by default', {}, MOST_BY_DEFAULT],
    ['with every option', EVERY_OPTION, MOST_WITH_EVERY_OPTION],
    [
      'with every option and the provider accounts and signing keys of a rotation',
      {
        ...{ ...PRODUCTION, ...EVERYTHING_CONFIGURED, signingKeys: '2,1' },
        providerAccounts: JSON.stringify({ modelstudio: ['default', 'eu'] }),
      },
      MOST_WITH_EVERY_OPTION,
    ],
  ])('%s', async (_name, context, most) => {
    const { resources } = await synthesizeService(context);

    expect(Object.keys(resources).length + METADATA).toBeLessThanOrEqual(most);
  });

  test('no function writes a policy or a log group of its own: each new one is a function, a role and perhaps a permission', async () => {
    const { resources } = await synthesizeService();
    const count = (type: string) => Object.values(resources).filter(({ Type }) => Type === type).length;

    expect(count('AWS::Logs::LogGroup')).toBeLessThan(count('AWS::Lambda::Function') / 3);
    expect(count('AWS::IAM::Policy')).toBeLessThan(count('AWS::IAM::Role') / 10);
  });
});
