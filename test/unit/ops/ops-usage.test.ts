import { describe, expect, test } from '@jest/globals';
import { SCOPES } from '../../../core/accounts/api-keys.ts';
import { name, note } from '../../../ops/options.ts';
import { runCommand } from './run-command.ts';

/** Every verb with valid options, so that each case below has one mistake. */
const VERBS: string[][] = [
  ['accounts', 'create', '--name', 'Acme'],
  ['accounts', 'list'],
  ['accounts', 'show', '--account', 'acc_1'],
  ['accounts', 'edit', '--account', 'acc_1', '--name', 'Acme', '--contact', 'ada', '--note', 'slow'],
  ['accounts', 'block', '--account', 'acc_1'],
  ['accounts', 'unblock', '--account', 'acc_1'],
  ['accounts', 'set-limits', '--account', 'acc_1', '--requests-per-second', '1', '--burst', '2'],
  ['accounts', 'rotate-webhook-secret', '--account', 'acc_1'],
  ['keys', 'create', '--account', 'acc_1'],
  ['keys', 'list', '--account', 'acc_1'],
  ['keys', 'revoke', '--key-id', 'key_1'],
  ['balance', 'topup', '--account', 'acc_1', '--amount', '1', '--idempotency-key', 'invoice-7'],
  ['balance', 'adjust', '--account', 'acc_1', '--amount', '1', '--idempotency-key', 'invoice-7'],
  ['balance', 'history', '--account', 'acc_1'],
  ['balance', 'statement', '--account', 'acc_1', '--month', '2026-11', '--csv'],
  ['usage', 'show', '--account', 'acc_1', '--month', '2026-11', '--by', 'model', '--csv'],
  ['end-users', 'list', '--account', 'acc_1', '--search', 'ada', '--blocked', 'yes'],
  ['end-users', 'show', '--account', 'acc_1', '--email', 'a@b.cd'],
  ['end-users', 'block', '--account', 'acc_1', '--email', 'a@b.cd'],
  ['end-users', 'unblock', '--account', 'acc_1', '--email', 'a@b.cd'],
  ['audit', 'list', '--account', 'acc_1', '--since', '7d', '--limit', '5'],
  ['rates', 'list'],
  ['rates', 'set', '--model', 'xW2.7S', '--value', '{"720p":1,"1080p":2}', '--yes'],
  ['rates', 'affected', '--model', 'xW2.7S', '--from', '2h', '--to', '1h', '--refund'],
  ['accounts', 'close', '--account', 'acc_1', '--yes'],
  ['end-users', 'delete', '--account', 'acc_1', '--email', 'a@b.cd', '--yes'],
  ['models', 'list'],
  ['models', 'enable', '--model', 'xW2.7S'],
  ['models', 'disable', '--model', 'xW2.7S'],
  ['requests', 'list', '--account', 'acc_1', '--status', 'failed', '--older-than', '10m'],
  ['requests', 'show', '--id', 'img_1'],
  ['requests', 'fail', '--id', 'img_1', '--note', 'why'],
  [
    'requests',
    'watch',
    '--account',
    'acc_1',
    '--status',
    'queued',
    '--id',
    'img_1',
    '--every',
    '1s',
    '--for',
    '1m',
  ],
  ['executions', 'stop-all', '--state-machine', 'generation', '--yes'],
  ['ledger', 'verify', '--account', 'acc_1'],
  ['completion', 'bash'],
  ['completion', 'zsh'],
  ['completion', 'fish'],
];
const NOUNS = [...new Set(VERBS.map(([noun = '']) => noun))];

describe('help', () => {
  test('of the program names every noun', async () => {
    const { status, stdout, stderr } = await runCommand('--help');

    expect([status, stderr]).toEqual([0, '']);
    for (const noun of NOUNS) expect(stdout).toMatch(new RegExp(`^  ${noun} `, 'm'));
  });

  test.each(NOUNS)('of %s names its verbs and the global options', async (noun) => {
    const { status, stdout, stderr } = await runCommand(noun, '--help');

    expect([status, stderr]).toEqual([0, '']);
    for (const [own, verb] of VERBS) if (own === noun) expect(stdout).toMatch(new RegExp(`^  ${verb} `, 'm'));
    for (const option of ['--json', '--data-dir', '--stack']) expect(stdout).toContain(option);
  });

  test.each(VERBS)('of %s %s names its options', async (noun, verb, ...args) => {
    const { status, stdout, stderr } = await runCommand(noun, verb, '--help');

    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`Usage: ops ${noun} ${verb}`);
    for (const [index, option] of args.entries()) {
      if (!option.startsWith('--')) continue;
      const takesValue = args[index + 1]?.startsWith('--') === false;
      expect(stdout).toContain(takesValue ? `${option} <` : `${option} `);
    }
    expect(stdout).toContain('--data-dir');
  });
});

describe('help fits one screen of 32 lines and 80 columns', () => {
  const PATHS = [[], ...NOUNS.map((noun) => [noun]), ...VERBS.map(([noun = '', verb = '']) => [noun, verb])];

  test.each(PATHS.map((path) => [path.join(' '), path]))('of "%s"', async (_name, path) => {
    const lines = (await runCommand(...path, '--help')).stdout.trimEnd().split('\n');

    expect(lines.length).toBeLessThanOrEqual(32);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80);
  });
});

describe('bad usage exits with 2 and explains itself on standard error only', () => {
  test.each([
    ['nothing at all', [], /Usage: ops <noun> <verb>/],
    ['an unknown noun', ['account', 'list'], /unknown command 'account'/],
    ['no verb', ['accounts'], /Usage: ops accounts/],
    ['no verb but --json', ['accounts', '--json'], /Usage: ops accounts/],
    ['an unknown verb', ['accounts', 'delete'], /unknown command 'delete'/],
    ['an unknown option', ['accounts', 'list', '--all'], /unknown option '--all'/],
    ['one argument too many', ['accounts', 'list', 'acc_1'], /too many arguments/],
    ['a missing option', ['accounts', 'create'], /--name <name>' not specified/],
    ['an option without its value', ['accounts', 'create', '--name'], /argument missing/],
    ['an option followed by another', ['accounts', 'create', '--name', '--json'], /argument missing/],
    ['an option in place of a value', ['keys', 'list', '--account', '--all'], /value is missing/],
    ['an empty name', ['accounts', 'create', '--name', ' '], /must not be empty/],
    ['an unknown scope', ['keys', 'create', '--account', 'a', '--scopes', 'balance:read,x:y'], /"x:y"/],
    ['an empty scope', ['keys', 'create', '--account', 'a', '--scopes', ''], /There is no ""/],
    ['no account to block', ['accounts', 'block'], /^Give the account: ops /],
    ['no account to unblock', ['accounts', 'unblock'], /^Give the account: ops /],
    ['no account to rotate', ['accounts', 'rotate-webhook-secret'], /^Give the account: ops /],
    [
      'limits without a rate',
      ['accounts', 'set-limits', '--account', 'a', '--burst', '1'],
      /-per-second <nu/,
    ],
    ['neither key nor id', ['keys', 'revoke'], /either --key-id or --key/],
    ['a page size over the bound', ['balance', 'history', '--account', 'a', '--page-size', '51'], /1 to 50/],
    ['a page before the first', ['balance', 'history', '--account', 'a', '--page', '0'], /from 1/],
    ['a rate that is not JSON', ['rates', 'set', '--model', 'xW2.7S', '--value', '5,'], /must be JSON like/],
    ['no model to enable', ['models', 'enable'], /^Give the model: ops /],
    ['no model to disable', ['models', 'disable'], /^Give the model: ops /],
    ['no request to show', ['requests', 'show'], /^Give the request: ops /],
    ['no request to fail', ['requests', 'fail'], /^Give the request: ops /],
    ['an unknown status', ['requests', 'list', '--status', 'done'], /one of queued, .*expired/],
    ['a watch as JSON', ['requests', 'watch', '--json'], /requests list or requests show with --json/],
    [
      'a watch of one request and an account',
      ['requests', 'watch', '--id', 'a', '--account', 'acc_1'],
      /without/,
    ],
    ['--json with a value', ['accounts', 'list', '--json=yes'], /unknown option '--json=yes'/],
  ])('%s', async (_case, args, message) => {
    const outcome = await runCommand(...args);

    expect(outcome).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(message) });
  });

  test.each([
    ['topup', '0'],
    ['topup', '-5'],
    ['topup', '1.2345'],
    ['topup', '1e3'],
    ['topup', '0x10'],
    ['topup', '1,000'],
    ['topup', ''],
    ['topup', 'ten'],
    ['topup', '99999999999999999999'],
    ['topup', '9007199254740.991'],
    ['topup', '1000000000.001'],
    ['adjust', '-1000000000.001'],
    ['adjust', '0'],
    ['adjust', '-0.000'],
    ['adjust', '-0.0001'],
    ['adjust', '--5'],
  ])('%s of %j xTokens', async (verb, amount) => {
    const outcome = await runCommand('balance', verb, '--account', 'acc_1', '--amount', amount);

    expect(outcome).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('--amount') });
  });

  const LONG = '😀'.repeat(256);
  test.each([
    ['--name', ['accounts', 'create', '--name', LONG]],
    ['--label', ['keys', 'create', '--account', 'a', '--label', LONG]],
    ['--note', ['balance', 'topup', '--account', 'a', '--amount', '1', '--note', LONG]],
    ['--note', ['balance', 'adjust', '--account', 'a', '--amount', '1', '--note', LONG]],
    ['--note', ['requests', 'fail', '--id', 'a', '--note', LONG]],
  ])('a %s of 256 characters: %j', async (option, args) => {
    const outcome = await runCommand(...args);

    expect(outcome).toEqual({ status: 2, stdout: '', stderr: expect.stringContaining(option) });
    expect(outcome.stderr).toContain('It must hold at most 255 characters.');
  });

  test('an amount above the limit says the limit', async () => {
    const { stderr } = await runCommand('balance', 'topup', '--account', 'a', '--amount', '1000000001');

    expect(stderr).toContain('It must be at most 1000000000.');
  });

  test.each([
    ['--requests-per-second', '0', /above 0 and up to 10000/],
    ['--requests-per-second', '-1', /above 0/],
    ['--requests-per-second', '10000.001', /up to 10000/],
    ['--requests-per-second', '1.2345', /above 0/],
    ['--requests-per-second', '1e3', /above 0/],
    ['--requests-per-second', '', /above 0/],
    ['--burst', '0', /from 1 to 100000/],
    ['--burst', '100001', /from 1 to 100000/],
    ['--burst', '1.5', /from 1 to 100000/],
    ['--burst', '-1', /from 1 to 100000/],
  ])('limits with %s %j', async (option, value, message) => {
    const valid = { '--requests-per-second': '1', '--burst': '1', [option]: value };
    const outcome = await runCommand(
      'accounts',
      'set-limits',
      '--account',
      'a',
      ...Object.entries(valid).flat(),
    );

    expect(outcome).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(outcome.stderr).toContain(option);
  });

  test.each(['', '10', 'm', '10 m', '-10m', '1.5h', '10min', '10M', '1e3s', '1234567s', '0x1s'])(
    'an age of %j',
    async (age) => {
      const outcome = await runCommand('requests', 'list', '--older-than', age);

      expect(outcome).toMatchObject({
        status: 2,
        stdout: '',
        stderr: expect.stringContaining('--older-than'),
      });
    },
  );

  test('an unknown scope lists the valid ones', async () => {
    const { stderr } = await runCommand('keys', 'create', '--account', 'a', '--scopes', 'all');

    for (const scope of SCOPES) expect(stderr).toContain(scope);
  });

  test('a mistake in an option is followed by how to get help', async () => {
    expect((await runCommand('accounts', 'create')).stderr).toMatch(
      /\nAdd --help to see what can be given\.\n$/,
    );
  });

  test('a given key is never printed', async () => {
    const { stderr } = await runCommand('keys', 'revoke', '--key', 'gsk_secret', '--key-id', 'key_1');

    expect(stderr).not.toContain('secret');
  });
});

test.each(['topup', 'adjust'])('help of balance %s says that the customer reads the note', async (verb) => {
  expect((await runCommand('balance', verb, '--help')).stdout).toMatch(
    /--note <text> +.*the customer reads it/,
  );
});

test('a text of 255 characters is taken, whatever they take in bytes', () => {
  const text = '😀'.repeat(255);

  expect([name(text), note(text)]).toEqual([text, text]);
});
