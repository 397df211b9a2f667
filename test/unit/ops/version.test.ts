import { describe, expect, test } from '@jest/globals';
import { VERSION } from '../../../lib/release.ts';
import { describeStacks } from './a-stack.ts';
import { describeLocalRun } from './local-run.ts';
import { runCommand } from './run-command.ts';

describe('version, of a local run', () => {
  const { ops, json } = describeLocalRun({ Version: '7.8.9', Commit: 'abcdef123456' });

  test('prints the versions of the command line and of the service, and its commit', async () => {
    expect(await json('version')).toEqual({
      ...{ commandLine: VERSION, service: 'local run', version: '7.8.9', commit: 'abcdef123456' },
    });
    expect((await ops('version')).stdout).toBe(
      `command line  ${VERSION}\nlocal run     7.8.9\ncommit        abcdef123456\n`,
    );
  });
});

describe('version, of a stack', () => {
  const { stackWith, refuse } = describeStacks();

  test('may not say its version', async () => {
    stackWith('Shop', { TableName: 'table' });

    expect(JSON.parse((await runCommand('version', '--stack', 'Shop', '--json')).stdout)).toEqual({
      ...{ commandLine: VERSION, service: 'stack Shop', version: null, commit: null },
    });
    expect((await runCommand('version', '--stack', 'Shop')).stdout).toMatch(/\nstack Shop +not reported\n$/);
  });

  test('that cannot be reached leaves that of the command line, and status 1', async () => {
    refuse('no such stack');

    const { status, stdout, stderr } = await runCommand('version', '--stack', 'Shop', '--json');

    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      ...{ commandLine: VERSION, service: null, version: null, commit: null },
    });
    expect(stderr).toContain('stack Shop cannot be used: no such stack');
  });
});
