import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from '@jest/globals';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));

const runScript = (script: string) =>
  promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: PROJECT });

describe('standard output', () => {
  test('holds only the result when the logger and the metrics write', async () => {
    const { stdout, stderr } = await runScript(`
      const { reserveStandardOutput } = await import('./ops/standard-output.ts');
      const out = reserveStandardOutput();
      const { countMetric, logger, METRIC } = await import('./core/observability.ts');
      logger.error('something');
      countMetric(METRIC.providerCallLost, { provider: 'one' });
      out('"the result"');
    `);

    expect({ stdout, stderr }).toEqual({ stdout: '"the result"', stderr: '' });
  });

  test('holds only the result when a module prints to it', async () => {
    const { stdout, stderr } = await runScript(`
      const { reserveStandardOutput } = await import('./ops/standard-output.ts');
      const out = reserveStandardOutput();
      console.log('by the way');
      out('1');
    `);

    expect({ stdout, stderr }).toEqual({ stdout: '1', stderr: 'by the way\n' });
  });

  const PRINTS = `
    const { reserveStandardOutput } = await import('./ops/standard-output.ts');
    const out = reserveStandardOutput();
    for await (const _ of process.stdin);
    out('the result');
    process.exitCode = 0;
  `;
  /** Runs a script with this standard output; `closed` takes its reader away before it prints. */
  const runInto = async (script: string, stdout: 'pipe' | number, closed: boolean) => {
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      cwd: PROJECT,
      stdio: ['pipe', stdout, 'pipe'],
    });
    if (closed) child.stdout?.destroy();
    child.stdin?.end();
    const [stderr, [status]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    return { status, stderr };
  };

  test('ends quietly when its reader has gone, with the status of the command', async () => {
    expect(await runInto(PRINTS, 'pipe', true)).toEqual({ status: 0, stderr: '' });
    expect(await runInto(`${PRINTS} process.exitCode = 1;`, 'pipe', true)).toEqual({ status: 1, stderr: '' });
  });

  test('ends a command that would go on printing when its reader has gone', async () => {
    const watch = `${PRINTS} setInterval(() => out('more'), 10);`;

    expect(await runInto(watch, 'pipe', true)).toEqual({ status: 0, stderr: '' });
  });

  (existsSync('/dev/full') ? test : test.skip)('fails with one line when the disk is full', async () => {
    expect(await runInto(PRINTS, openSync('/dev/full', 'w'), false)).toEqual({
      status: 1,
      stderr: 'The command was carried out, but its output could not be written: ENOSPC.\n',
    });
  });
});
