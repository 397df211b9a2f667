import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { PROJECT_ROOT } from '../unit/docs/documents.ts';
import { projectContext } from './service-template.ts';

/** Runs the app as `cdk synth` does, with this context. */
const synthesizing = (context: Record<string, unknown>) =>
  spawnSync(process.execPath, ['bin/app.ts'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    env: { ...process.env, CDK_CONTEXT_JSON: JSON.stringify({ ...projectContext(), ...context }) },
  });

// Of a single wrong key, test/unit/lib/context.test.ts has the line.
test('a context that is not valid ends the synthesis with a line for each key, and no stack trace', () => {
  const { status, stderr } = synthesizing({ retentionDays: 'abc', apiBurst: '2k', colour: 'red' });

  expect(status).toBe(1);
  expect(stderr.split('\n')).toEqual([
    'The context is not valid:',
    '  Expected a number from 0 to 3650, not "abc" → at retentionDays',
    '  Expected a whole number from 1 to 5000, not "2k" → at apiBurst',
    '  Unknown key: docs/configuring.md has all keys → at colour',
    '',
  ]);
});
