import { execFile } from 'node:child_process';
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
});
