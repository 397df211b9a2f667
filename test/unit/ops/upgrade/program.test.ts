import '../../builders/environment.ts';
import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { main } from '../../../../ops/upgrade/program.ts';

const cloudFormation = mockClient(CloudFormationClient);
const shell = { ...process.env };
beforeEach(() => {
  cloudFormation.reset();
});
afterEach(() => {
  process.env = { ...shell };
});

const rehearsal = async (...args: string[]) => {
  const said = { out: '', err: '' };
  const status = await main(args, {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    signal: new AbortController().signal,
  });
  return { status, ...said };
};

describe('npm run rehearse:upgrade', () => {
  test('explains its options', async () => {
    const { status, out } = await rehearsal('--help');

    expect(status).toBe(0);
    for (const option of ['--from', '--endpoint', '--stack', '--work', '--patience'])
      expect(out).toContain(`${option} <`);
  });

  test.each([
    [[], /required option '--from <tag>'/],
    [['--from', 'v1', '--work', '5m'], /must be 5s to 270s/],
    [['--from', 'v1', '--endpoint', 'here'], /must be a URL/],
  ])('exits with 2 on bad usage: %j', async (args, message) => {
    expect(await rehearsal(...args)).toEqual({ status: 2, out: '', err: expect.stringMatching(message) });
  });

  test('refuses a stack that exists, which it would destroy', async () => {
    cloudFormation.on(DescribeStacksCommand, { StackName: 'Shop' }).resolves({
      Stacks: [{ StackName: 'Shop', CreationTime: new Date(), StackStatus: 'CREATE_COMPLETE' }],
    });

    const { status, err } = await rehearsal('--from', 'v1', '--stack', 'Shop');

    expect(status).toBe(1);
    expect(err).toBe('Stack Shop exists. The rehearsal makes its own, and destroys it.\n');
  });

  test('does not take a refused look for a stack that does not exist', async () => {
    cloudFormation.on(DescribeStacksCommand).rejects(new Error('AccessDenied'));

    expect(await rehearsal('--from', 'v1')).toEqual({ status: 1, out: '', err: 'Error: AccessDenied\n' });
  });
});
