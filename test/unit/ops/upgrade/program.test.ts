import { describe, expect, test } from '@jest/globals';
import { main } from '../../../../ops/upgrade/program.ts';
import { describeStacks } from '../a-stack.ts';
import { runToEnd } from '../run-stoppable.ts';

const { stackWith, refuse } = describeStacks();

const rehearsal = (...args: string[]) => runToEnd(main, args);

describe('npm run rehearse:upgrade', () => {
  test('explains its options', async () => {
    const { status, out } = await rehearsal('--help');

    expect(status).toBe(0);
    for (const option of ['--from', '--endpoint', '--stack', '--work', '--patience'])
      expect(out).toContain(`${option} <`);
  });

  test.each([
    [[], /required option '--from <release>'/],
    [['--from', 'v1', '--work', '5m'], /must be 5s to 270s/],
    [['--from', 'v1', '--endpoint', 'here'], /must be a URL/],
  ])('exits with 2 on bad usage: %j', async (args, message) => {
    expect(await rehearsal(...args)).toEqual({ status: 2, out: '', err: expect.stringMatching(message) });
  });

  test('refuses a stack that exists, which it would destroy', async () => {
    stackWith('Shop', {});

    const { status, err } = await rehearsal('--from', 'v1', '--stack', 'Shop');

    expect(status).toBe(1);
    expect(err).toBe('Stack Shop exists. The rehearsal makes its own, and destroys it.\n');
  });

  test('does not take a refused check for a stack that does not exist', async () => {
    refuse('AccessDenied');

    expect(await rehearsal('--from', 'v1')).toEqual({ status: 1, out: '', err: 'Error: AccessDenied\n' });
  });
});
