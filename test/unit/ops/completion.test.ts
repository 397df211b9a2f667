import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { RECORD_STATUSES } from '../../../core/requests/request-rules.ts';
import { runCommand } from './run-command.ts';

/** What bash offers for a line with the cursor at its end, by running the script in bash. */
const offered = (script: string, line: string): string[] => {
  const words = line.split(' ');
  const array = words.map((word) => `'${word}'`).join(' ');
  const program = `${script}
COMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}
_ops
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const printed = execFileSync('bash', ['--norc', '-c', program], { encoding: 'utf8' });
  return printed.split('\n').filter((word) => word !== '');
};

describe('the completion of bash', () => {
  let script: string;
  beforeAll(async () => {
    script = (await runCommand('completion', 'bash')).stdout;
  });

  test.each([
    ['ops acc', ['accounts']],
    ['ops re', ['requests']],
    ['ops requests ', expect.arrayContaining(['list', 'show', 'fail', 'retry-webhook', 'watch'])],
    ['ops accounts un', ['unblock']],
    ['ops requests list --s', ['--status', '--since', '--stack']],
    ['ops requests show img_1 --i', ['--id']],
    ['ops requests list --status ', [...RECORD_STATUSES]],
    ['ops requests list --status f', ['failed']],
    ['ops --json requests wa', ['watch']],
    ['ops --stack Trial requests sh', ['show']],
    ['ops requests list --account ', []],
    ['ops models enable --model xSD', expect.arrayContaining(['xSD4.5', 'xSD5Pro'])],
    ['ops executions stop-all --state-machine ge', ['generation']],
    ['ops models al', ['alias']],
    ['ops models alias ', expect.arrayContaining(['list', 'set', 'remove'])],
    ['ops models alias set gpt-image-1 --model xS', ['xSD4.5', 'xSD5Pro']],
    ['ops nothing ', []],
  ])('%j', (line, candidates) => {
    expect(offered(script, line)).toEqual(candidates);
  });

  test('offers folders for the data directory', () => {
    expect(offered(script, 'ops accounts list --data-dir ./cor')).toEqual(['./core']);
  });

  test('is registered for the command ops', () => {
    const registered = execFileSync('bash', ['--norc', '-c', `${script}\ncomplete -p ops`], {
      encoding: 'utf8',
    });

    expect(registered).toBe('complete -F _ops ops\n');
  });
});

describe.each(['zsh', 'fish'])('the completion of %s', (shell) => {
  test('names every noun, verb and option', async () => {
    const { stdout } = await runCommand('completion', shell);

    for (const word of ['accounts', 'retry-webhook', 'state-machine', 'data-dir', 'queued', 'xSD4.5']) {
      expect(stdout).toContain(word);
    }
    expect(stdout).toContain(`ops completion ${shell}`);
  });
});

test('with --json it is one value', async () => {
  const { stdout } = await runCommand('completion', 'bash', '--json');

  expect(JSON.parse(stdout)).toEqual({
    shell: 'bash',
    script: expect.stringContaining('complete -F _ops ops'),
  });
});
