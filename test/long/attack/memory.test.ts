import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

/** A fifth of what a function has, in megabytes. */
const HEAP_MB = 96;
/** A function's time limit for one request, allowed here for all of them together. */
const TIME_LIMIT_MS = 60_000;

test('the largest bodies are refused in a small heap and do not hang', async () => {
  const script = fileURLToPath(new URL('./large-bodies.ts', import.meta.url));
  const run = promisify(execFile)(process.execPath, [`--max-old-space-size=${HEAP_MB}`, script], {
    timeout: TIME_LIMIT_MS,
    env: { ...process.env, AWS_REGION: 'us-east-1', POWERTOOLS_LOG_LEVEL: 'SILENT' },
  });

  await expect(run).resolves.toMatchObject({ stderr: '' });
});
