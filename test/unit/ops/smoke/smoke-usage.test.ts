import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { main } from '../../../../ops/smoke/program.ts';
import { describeStacks } from '../a-stack.ts';
import { runToEnd } from '../run-stoppable.ts';

const { stackWith, refuse } = describeStacks();
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'smoke-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const smoke = (...args: string[]) => runToEnd(main, args);

describe('npm run smoke', () => {
  test('explains its options', async () => {
    const { status, out } = await smoke('--help');

    expect(status).toBe(0);
    for (const option of [
      '--stack',
      '--region',
      '--data-dir',
      '--webhook-url',
      '--min-concurrency',
      '--patience',
    ])
      expect(out).toContain(`${option} <`);
  });

  test.each([
    [['--stak', 'x'], /unknown option/],
    [['--webhook-url', 'http://example.com'], /must be an https URL/],
    [['--min-concurrency', '-1'], /whole number/],
    [['--patience', '10'], /number with a unit/],
    [['--stack'], /argument missing/],
  ])('exits with 2 on bad usage: %j', async (args, message) => {
    expect(await smoke(...args)).toEqual({ status: 2, out: '', err: expect.stringMatching(message) });
  });

  test.each([
    ['no table', {}, /it has no output TableName/],
    ['no base URL', { TableName: 't', AlarmTopicArn: 'a' }, /no output BaseUrl/],
    ['an http URL', { TableName: 't', BaseUrl: 'http://x', AlarmTopicArn: 'a' }, /no https URL/],
    ['no topic of alarms', { TableName: 't', BaseUrl: 'https://x' }, /AlarmTopicArn: deploy this version/],
  ])('exits with 1 and one sentence when the stack has %s', async (_what, outputs, message) => {
    stackWith('Mine', outputs);

    expect(await smoke('--stack', 'Mine')).toEqual({
      status: 1,
      out: '',
      err: expect.stringMatching(message),
    });
  });

  test('exits with 1 when neither a local run nor a stack is there', async () => {
    writeFileSync(join(directory, 'other.json'), '{}');
    refuse('Stack does not exist');

    const { status, err } = await smoke('--data-dir', directory);

    expect(status).toBe(1);
    expect(err).toMatch(/^No local run is up in .*, and stack GenerationService cannot be used: /);
    expect(err).toMatch(/by --stack and --region\.\n$/);
  });
});
